"""The look under a slider: in the server's own process, as the explorer has it, and in a worker of the engine.

`python -m benchmarks.look` takes looks in turns in both ways, with nothing else under way and while a certificate keeps
all workers busy. `--write` puts the figures into benchmarks/APP.md. It exits with 1 if a worker would answer sooner.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from statistics import median
from typing import Any

import torch

from app.pages.explore.ballot import Look, look, votes_that_fit
from app.server.engine import NICE
from benchmarks.app_latency import percentile
from benchmarks.app_report import write_section
from benchmarks.machine import describe_machine
from tpc_core import Budget, Model, Options, Question, load_model, load_object
from tpc_core.engines import PROMPT, Call, LocalEngine, Report
from tpc_core.runs import CertifyWork

OBJECT, MODEL, POINTS = "gallery:chair-1", "pointnet64-noise", 64
PAUSE = 0.1
"""Seconds between two movements of a slider."""
Times = dict[str, list[float]]


@lru_cache(maxsize=4)
def _classifier(model: Model) -> Callable[[torch.Tensor], torch.Tensor]:
    return model.classifier("cpu")


def look_here(model: Model, points: torch.Tensor) -> Look:
    """A look in the process that calls this."""
    votes = votes_that_fit(len(points), moving=True)
    return look(_classifier(model), model.smoothing, points, votes=votes)


def look_there(engine: LocalEngine, model: Model, points: torch.Tensor) -> Look:
    """A look in a worker, before all that can wait."""
    handle = engine.submit(Call(look_here, (model, points)), rank=PROMPT)
    *_, last = handle.messages()
    assert isinstance(last, Report)
    answer: Look = last.result
    return answer


def measure(looks: int) -> dict[str, Times]:
    """Milliseconds of a look, by what else is under way and by where it is taken."""
    model = load_model(MODEL)
    cloud = load_object(OBJECT, points=POINTS)
    options = Options(budget=Budget(samples=10**8), complete=True)
    question = Question.of(MODEL, OBJECT, POINTS, "general-rotation", 15, options)
    with LocalEngine(nice=int(os.environ.get("TPC_NICE", NICE))) as engine:
        engine.warm()
        ways: dict[str, Callable[[torch.Tensor], Any]] = {
            "here": lambda points: look_here(model, points),
            "there": lambda points: look_there(engine, model, points),
        }
        for way in ways.values():  # models are loaded
            for _ in range(4):
                way(cloud.points)
        found = {"alone": _looks(ways, cloud.points, looks)}
        run = engine.submit(CertifyWork(question, model, cloud), owner="somebody else")
        time.sleep(3.0)
        found["beside"] = _looks(ways, cloud.points, looks)
        run.cancel()
    return found


def _looks(ways: dict[str, Callable[[torch.Tensor], Any]], points: torch.Tensor, looks: int) -> Times:
    """Each way in turns, at another pose each time."""
    taken: Times = {name: [] for name in ways}
    for step in range(looks):
        angle = math.radians(step)
        turn = torch.tensor(
            [[math.cos(angle), -math.sin(angle), 0], [math.sin(angle), math.cos(angle), 0], [0, 0, 1]],
            dtype=points.dtype,
        )
        for name, way in ways.items():
            time.sleep(PAUSE)
            start = time.perf_counter()
            way(points @ turn.T)
            taken[name].append(1000 * (time.perf_counter() - start))
    return taken


def report(found: dict[str, Times], looks: int) -> str:
    """The section of APP.md."""

    def row(words: str, times: list[float]) -> str:
        return f"| {words} | {median(times):.1f} | {percentile(times, 0.95):.1f} |"

    return f"""## The look under a slider

Made by `python -m benchmarks.look --write` on {describe_machine()}: {looks} looks of each kind in turns, `{MODEL}` on
{POINTS} points of `{OBJECT}`, {votes_that_fit(POINTS, moving=True)} votes. The explorer takes them in the server's own
process: the only votes that are cast there.

| milliseconds | median | 95th percentile |
|---|---:|---:|
{row("in the server's process, nothing else under way", found["alone"]["here"])}
{row("in a worker, nothing else under way", found["alone"]["there"])}
{row("in the server's process, while a certificate runs", found["beside"]["here"])}
{row("in a worker, while a certificate runs", found["beside"]["there"])}
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.look", description=__doc__)
    parser.add_argument("--looks", type=int, default=100)
    parser.add_argument("--write", action="store_true", help="put the figures into benchmarks/APP.md")
    given = parser.parse_args()
    found = measure(given.looks)
    text = report(found, given.looks)
    print(text)
    if given.write:
        write_section("look", text)
    sooner = [
        name
        for name, times in found.items()
        if percentile(times["there"], 0.95) < percentile(times["here"], 0.95)
    ]
    if sooner:
        print(f"a worker answers sooner: {', '.join(sooner)}")
    sys.exit(1 if sooner else 0)


if __name__ == "__main__":
    from benchmarks import look as named  # what is defined in __main__ cannot travel to a worker

    named.main()
