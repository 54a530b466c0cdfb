"""Votes per second of one certificate in worker processes, beside the floor of a matrix product."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.timing import flops, rates, sgemm
from tpc_core import Budget, Options, Question, load_model, load_object
from tpc_core.certify import Done
from tpc_core.engines import LocalEngine, available_cores
from tpc_core.runs import CertifyWork

OBJECT, TRANSFORM, RADIUS = "gallery:chair-1", "z-taper+z-rotation", "taper=0.5,rotation=60"
MODEL = "pointnet64-noise"
VOTES = {64: 40_000, 1024: 4_000}
ROUNDS = 3


def measure(*, full: bool) -> list[str]:
    """The table, by points and workers."""
    counts = sorted({1, available_cores()})
    model = load_model(MODEL)
    lines = [
        "## One certificate in worker processes",
        "",
        f"`{MODEL}` on {OBJECT}, {TRANSFORM} within {RADIUS}, one thread per worker; the best of {ROUNDS} runs. The "
        "floor is what a large matrix product would allow on as many cores. Targets: 80% of the floor with one worker, "
        "and two workers at least 1.9 times one.",
        "",
        "| points | workers | votes/s | of the floor | times one worker |",
        "|---:|---:|---:|---:|---:|",
    ]
    for points, votes in VOTES.items():
        alone = 0.0
        for count in counts:
            with LocalEngine(count) as engine:
                rate = max(_certified(engine, model, points, votes) for _ in range(ROUNDS))
            floor = rates({"floor": sgemm(count)}, 3)["floor"] / flops(model.module, points)
            alone = alone or rate
            lines.append(f"| {points} | {count} | {rate:,.0f} | {rate / floor:.0%} | {rate / alone:.2f}x |")
            print(lines[-1], flush=True)
    return lines


def _certified(engine: LocalEngine, model: Any, points: int, votes: int) -> float:
    """Votes per second of one run with a budget."""
    options = Options(budget=Budget(samples=votes), complete=True)
    question = Question.of(model.name, OBJECT, points, TRANSFORM, RADIUS, options)
    cloud = load_object(OBJECT, points=points)
    start = time.perf_counter()
    *_, last = engine.submit(CertifyWork(question, model, cloud)).messages()
    assert isinstance(last, Done)
    return last.certificate.samples / min(last.certificate.seconds, time.perf_counter() - start)
