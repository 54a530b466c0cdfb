"""Branch and bound: cells of parameters are proved, refuted by a real counterexample, or split.

No probability enters: where the verdict is "certified", the network evaluated in float64 answers the label for every
parameter of the region, and the leaves with their margins are the proof; where it is "refuted", a stored parameter
shows it. "undecided" means that the budget ended, or that a margin is too small for the bounds at the smallest cell.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tpc_core.bounds.margins import CellMargins
from tpc_core.exact.cells import DEEPEST, Array, Cells, Indices, join, root
from tpc_core.exact.problem import Counterexample, Problem, first_places

Verdict = Literal["certified", "refuted", "undecided"]

SHRINKING = 8.0
"""Halving a cell divides what its bounds lose by about this (8 to 18 on one chair): how many halvings to make."""


@dataclass(frozen=True)
class Budget:
    """When to give up: after so many cells, or seconds."""

    cells: int = 20_000
    seconds: float = 60.0


DEFAULT_BUDGET = Budget()


@dataclass(frozen=True)
class Batch:
    """Some cells were bounded: those with margins above zero are leaves of the proof, the others were split."""

    cells: Cells
    margins: Array
    open: int
    """How many cells wait."""
    share: float
    """Of the region's box, how much is proved."""


@dataclass(frozen=True)
class Settled:
    """The end of a search, with all that a verifier needs to check it.

    `leaves` with `margins` (L,) are the proved cells: no rival comes nearer than its margin anywhere in the cell.
    Together they cover the region if the verdict is "certified" (`cells.covers`).
    """

    verdict: Verdict
    leaves: Cells
    margins: Array
    counterexample: Counterexample | None
    bounded: int
    """How many cells went through the network."""
    seconds: float
    reason: str = ""
    """Why nothing was decided."""


@dataclass
class Queue:
    """The cells that wait, worst first."""

    heap: list[tuple[float, int, Cells]] = field(default_factory=list)
    count: int = 0

    def push(self, cells: Cells, priorities: Array) -> None:
        for number in range(len(cells)):
            heapq.heappush(self.heap, (float(priorities[number]), self.count, cells[number : number + 1]))
            self.count += 1

    def pop(self, most: int, dim: int) -> Cells:
        return join([heapq.heappop(self.heap)[2] for _ in range(min(most, len(self.heap)))], dim)


def settle(problem: Problem, budget: Budget = DEFAULT_BUDGET, *, batch: int = 32) -> Settled:
    """The verdict on a region."""
    *_, result = settle_events(problem, budget, batch=batch)
    assert isinstance(result, Settled)
    return result


def settle_events(
    problem: Problem,
    budget: Budget = DEFAULT_BUDGET,
    *,
    batch: int = 32,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[Batch | Settled]:
    """The same, with an event for every batch of cells; the last one is the verdict."""
    started = time.monotonic()
    leaves: list[Cells] = []
    margins: list[Array] = []
    bounded, share = 0, 0.0
    dim = problem.region.dim

    def ended(verdict: Verdict, found: Counterexample | None = None, reason: str = "") -> Settled:
        joined = np.concatenate([np.zeros(0), *margins])
        seconds = time.monotonic() - started
        return Settled(verdict, join(leaves, dim), joined, found, bounded, seconds, reason)

    found = problem.attack(first_places(problem.region, 24))
    if found is not None:
        yield ended("refuted", found)
        return
    queue = Queue()
    queue.push(root(dim), np.zeros(1))
    while queue.heap:
        if cancelled():
            yield ended("undecided", reason="cancelled")
            return
        if bounded >= budget.cells or time.monotonic() - started >= budget.seconds:
            yield ended("undecided", reason="budget")
            return
        cells = queue.pop(min(batch, budget.cells - bounded), dim)
        result, sides = problem.bound(cells)
        bounded += len(cells)
        lower = result.lower.numpy()
        proved = lower > 0
        leaves.append(cells[proved])
        margins.append(lower[proved])
        share += float(np.sum(2.0 ** -cells.levels[proved].sum(axis=1)))
        rest = np.flatnonzero(~proved)
        if len(rest):
            found = problem.attack(suspects(problem, cells, result, rest))
            if found is not None:
                yield ended("refuted", found)
                return
            if bool((cells.levels[rest] >= DEEPEST - 3).any()):
                yield ended("undecided", reason="a margin below what the bounds can tell")
                return
            for number in rest.tolist():
                pieces = split(problem, cells[number : number + 1], result, sides, number)
                queue.push(pieces, np.full(len(pieces), float(result.middle[number])))
        yield Batch(cells, lower, len(queue.heap), share)
    yield ended("certified")


def suspects(problem: Problem, cells: Cells, result: CellMargins, rest: Indices) -> Array:
    """Where a counterexample would be in open cells: to first order the margin is negative there."""
    low, high = problem.trimmed(cells[rest])
    middle, slopes = result.middle.numpy()[rest], result.slopes.numpy()[rest]
    centre = (low + high) / 2
    corner = np.where(slopes > 0, low, high)
    doubtful = middle - np.abs(slopes).sum(axis=1) < 0
    return np.concatenate([centre[middle < 0.5], corner[doubtful], centre[doubtful]])


def split(problem: Problem, cell: Cells, result: CellMargins, sides: Array, number: int) -> Cells:
    """The cell halved across the sides that move the cloud most, as often as the bounds will need at least."""
    lower, middle = float(result.lower[number]), float(result.middle[number])
    margin = max(middle, 1.0)
    gap = max(middle - lower, margin)
    times = min(max(1, math.floor(math.log(gap / margin, SHRINKING) + 0.5)), 3)
    widths = sides[number].copy()
    for _ in range(times):
        axis = int(np.argmax(widths))
        widths[axis] /= 2
        cell = cell.halved(np.full(len(cell), axis))
    return cell[cell.meets(problem.region)]
