"""Clocks: rates of several contestants, measured in turns so that a disturbance hits them all.

What runs on one thread is timed by the processor time it took, which other programs on the machine do not add to;
what runs on several, by the clock on the wall.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import nn

from tpc_core.models.pointnet import PointNet

SGEMM_SIZE = 2048


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
                clock = time.process_time if contestant.threads == 1 else time.perf_counter
                start = clock()
                contestant.work()
                rate = contestant.amount / (clock() - start)
                if number:
                    best[name] = max(best[name], rate)
    finally:
        torch.set_num_threads(before)
    return best


def sgemm(threads: int) -> Contestant:
    """A large float32 matrix product: what the machine can do at best, in FLOP per second."""
    left, right = torch.randn(2, SGEMM_SIZE, SGEMM_SIZE).unbind()
    out = torch.empty(SGEMM_SIZE, SGEMM_SIZE)
    return Contestant(lambda: torch.mm(left, right, out=out), 2.0 * SGEMM_SIZE**3, threads)


def flops(module: nn.Module, points: int) -> float:
    """Multiplications and additions of one forward pass; layers before the pool work on every point."""
    assert isinstance(module, PointNet)
    per_point = [layer.linear for layer in [*module.points, module.pool]]
    once = [*(layer.linear for layer in module.head.hidden), module.head.output]
    return 2.0 * (points * sum(m.weight.numel() for m in per_point) + sum(m.weight.numel() for m in once))
