"""Clocks: rates of several contestants, measured in turns, and only while the machine is theirs.

What runs on one thread is timed by the processor time it took, which other programs on the machine do not add to;
what runs on several, by the clock on the wall, and a turn in which other programs took a part of the machine is taken
again: threads that wait for each other lose more by it than threads that do not.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from tpc_core.models.pointnet import PointNet

SGEMM_SIZE = 2048
FOREIGN_LIMIT = 0.08
"""Of one processor: what other programs may take while something on several threads is timed."""


@dataclass(frozen=True)
class Contestant:
    """Something that does `amount` units of work when called, with this many torch threads."""

    work: Callable[[], object]
    amount: float
    threads: int


def rates(contestants: Mapping[str, Contestant], rounds: int) -> dict[str, float]:
    """The best rate of each over several rounds, after one to warm up: units per second."""
    before = torch.get_num_threads()
    best = dict.fromkeys(contestants, 0.0)
    try:
        for number in range(rounds + 1):
            for name, contestant in contestants.items():
                torch.set_num_threads(contestant.threads)
                rate = _rate(contestant, attempts=8 if number else 1)
                if number:
                    best[name] = max(best[name], rate)
    finally:
        torch.set_num_threads(before)
    return best


def _rate(contestant: Contestant, attempts: int) -> float:
    """The rate of one turn; of the least disturbed one, if others are at work in all attempts."""
    alone = contestant.threads == 1
    clock = time.process_time if alone else time.perf_counter
    least, rate = float("inf"), 0.0
    for _ in range(attempts):
        busy, own, start = _busy(), time.process_time(), clock()
        contestant.work()
        seconds = clock() - start
        foreign = (_busy() - busy - (time.process_time() - own)) / seconds
        if foreign < least:
            least, rate = foreign, contestant.amount / seconds
        if alone or foreign < FOREIGN_LIMIT:
            break
    return rate


def _busy() -> float:
    """Seconds that all processors of the machine have worked, for anyone (0 where the system does not tell)."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return 0.0
    user, nice, system, _idle, _waiting, *interrupts = map(
        int, stat.read_text().split("\n", 1)[0].split()[1:9]
    )
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


def sgemm(threads: int) -> Contestant:
    """A large float32 matrix product: what the machine can do at best, in FLOP per second.

    Repeated for as long as the others take, a quarter of a second: the best of many short looks would flatter it.
    """
    left, right = torch.randn(2, SGEMM_SIZE, SGEMM_SIZE).unbind()
    out = torch.empty(SGEMM_SIZE, SGEMM_SIZE)
    times = 1 + threads

    def work() -> None:
        for _ in range(times):
            torch.mm(left, right, out=out)

    return Contestant(work, 2.0 * times * SGEMM_SIZE**3, threads)


def flops(module: nn.Module, points: int) -> float:
    """Multiplications and additions of one forward pass; layers before the pool work on every point."""
    assert isinstance(module, PointNet)
    per_point = [layer.linear for layer in [*module.points, module.pool]]
    once = [*(layer.linear for layer in module.head.hidden), module.head.output]
    return 2.0 * (points * sum(m.weight.numel() for m in per_point) + sum(m.weight.numel() for m in once))
