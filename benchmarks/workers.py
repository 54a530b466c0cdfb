"""Votes per second in worker processes, beside the floor of a matrix product."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

from benchmarks.timing import flops, rates, sgemm
from tpc_core import Budget, Cloud, Model, Options, Question, load_model, load_object
from tpc_core.certify import Done
from tpc_core.engines import Bench, Handle, LocalEngine, available_cores
from tpc_core.runs import CertifyWork
from tpc_core.votes import Voter, resolve_device

OBJECT, TRANSFORM, RADIUS = "gallery:chair-1", "z-taper+z-rotation", "taper=0.5,rotation=60"
MODEL = "pointnet64-noise"
VOTES = {64: 20_000, 1024: 2_000}
ROUNDS = 3
LEAST_OF_FLOOR, LEAST_GAIN = 0.80, 1.9
"""Of the floor with one worker at least; and what two workers cast at least, times one."""


@dataclass(frozen=True)
class CountVotes:
    """Votes on one place and nothing else; it yields how many it cast."""

    model: Model = field(repr=False)
    cloud: Cloud = field(repr=False)
    votes: int

    def run(self, bench: Bench) -> Iterator[int]:
        voter = Voter(self.model, self.model.smoothing, seed=0, device=resolve_device("cpu"))
        voter.count(self.cloud.points, "bench", 0, self.votes)
        yield self.votes


Kind = Callable[[LocalEngine, Model, Cloud, int], int]
"""Does so many votes' work on an engine, and says how many were cast."""


def votes_of_one_place(engine: LocalEngine, model: Model, cloud: Cloud, votes: int) -> int:
    (cast,) = engine.submit(CountVotes(model, cloud, votes)).messages()
    return int(cast)


def one_certificate(engine: LocalEngine, model: Model, cloud: Cloud, votes: int) -> int:
    return _samples(engine.submit(_certify(model, cloud, votes)))


def a_certificate_each(engine: LocalEngine, model: Model, cloud: Cloud, votes: int) -> int:
    """As many visitors as workers."""
    runs = [
        engine.submit(_certify(model, cloud, votes // engine.count), owner=f"visitor {number}")
        for number in range(engine.count)
    ]
    return sum(_samples(run) for run in runs)


def _certify(model: Model, cloud: Cloud, votes: int) -> CertifyWork:
    options = Options(budget=Budget(samples=votes), complete=True)
    return CertifyWork(Question.of(model.name, OBJECT, len(cloud), TRANSFORM, RADIUS, options), model, cloud)


def _samples(run: Handle) -> int:
    *_, last = run.messages()
    assert isinstance(last, Done)
    return last.certificate.samples


KINDS: dict[str, Kind] = {
    "votes of one place": votes_of_one_place,
    "a certificate each": a_certificate_each,
    "one certificate": one_certificate,
}


def measure(*, full: bool) -> list[str]:
    """The table, by points, kind of work and workers; what is compared runs in turns."""
    counts = sorted({1, min(2, available_cores()), available_cores()})
    model = load_model(MODEL)
    lines = [
        "## Votes in worker processes",
        "",
        f"`{MODEL}` on {OBJECT}, coordinate noise, one thread per worker, in processes that are warm; the best of "
        f"{ROUNDS} rounds in turns, on the clock from the question to the answer. *Votes of one place* and *one "
        "certificate* are one piece of work: idle workers cast votes for the one that leads it. *A certificate each*: "
        f"as many visitors as workers. Certificates are of {TRANSFORM} within {RADIUS}, with a budget. The floor is "
        f"what a large matrix product allows on as many cores. Targets: {LEAST_OF_FLOOR:.0%} of the floor with one "
        f"worker, two workers at least {LEAST_GAIN:g} times one; not for *one certificate*: one worker leads it.",
        "",
        "| points | work | workers | votes/s | floor | of the floor | times one worker |",
        "|---:|---|---:|---:|---:|---:|---:|",
    ]
    with ExitStack() as stack:
        engines = {count: stack.enter_context(LocalEngine(count)) for count in counts}
        for points, votes in VOTES.items():
            lines += _rows(engines, model, load_object(OBJECT, points=points), votes)
    return lines


def _rows(engines: dict[int, LocalEngine], model: Model, cloud: Cloud, votes: int) -> list[str]:
    floors = dict.fromkeys(engines, 0.0)
    found = {name: dict.fromkeys(engines, 0.0) for name in KINDS}
    for turn in range(ROUNDS + 1):
        for count, engine in engines.items():
            for name, kind in KINDS.items():
                start = time.perf_counter()
                cast = kind(engine, model, cloud, votes if turn else votes // 10)
                if turn:  # the first one warms up
                    found[name][count] = max(found[name][count], cast / (time.perf_counter() - start))
            floor = rates({"floor": sgemm(count)}, 1)["floor"] / flops(model.module, len(cloud))
            floors[count] = max(floors[count], floor)
    rows = []
    for name, by_count in found.items():
        for count, rate in by_count.items():
            share, gain = rate / floors[count], rate / by_count[1]
            rows.append(
                f"| {len(cloud):,} | {name} | {count} | {rate:,.0f} | {floors[count]:,.0f} | {share:.0%} "
                f"| {gain:.2f}x |"
            )
            print(rows[-1], flush=True)
            falls_short = (count == 1 and share < LEAST_OF_FLOOR) or (count == 2 and gain < LEAST_GAIN)
            if falls_short and name != "one certificate":
                print("does not hold", flush=True)
    return rows
