"""The exact robust radius, from both sides: the largest nested region that is proved, the smallest that is refuted.

The regions s * region, 0 < s <= 1, are nested, and one tree of cells over the largest serves them all. Cells are
taken in the order in which the growing region reaches them: all that are passed are proved, so what is proved ends
where the first open cell begins; every counterexample says where it ends at the latest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tpc_core.exact.cells import DEEPEST, INWARDS, Array, Cells, join, root
from tpc_core.exact.problem import Counterexample, Problem, first_places
from tpc_core.exact.search import DEFAULT_BUDGET, Budget, Queue, split, suspects


@dataclass(frozen=True)
class RobustRadius:
    """Every z in certified * region keeps the class; some z in refuted * region does not (None: none was found).

    `leaves` with `margins` prove the first (`cells.covers` with the claim scaled), `counterexample` the second.
    """

    certified: float
    refuted: float | None
    counterexample: Counterexample | None
    leaves: Cells
    margins: Array
    bounded: int
    seconds: float
    reason: str = ""
    """Why the two are farther apart than asked for."""


@dataclass(frozen=True)
class Closer:
    """Some cells were bounded: the factor lies between these two."""

    cells: Cells
    margins: Array
    certified: float
    refuted: float | None
    bounded: int


def robust_radius(
    problem: Problem, budget: Budget = DEFAULT_BUDGET, *, tolerance: float = 0.01, batch: int = 32
) -> RobustRadius:
    """The factor of the region up to which the class is kept, to a relative tolerance."""
    *_, result = robust_radius_events(problem, budget, tolerance=tolerance, batch=batch)
    assert isinstance(result, RobustRadius)
    return result


def robust_radius_events(
    problem: Problem,
    budget: Budget = DEFAULT_BUDGET,
    *,
    tolerance: float = 0.01,
    batch: int = 32,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[Closer | RobustRadius]:
    """The same, with an event for every batch of cells; the last one is the result."""
    started = time.monotonic()
    region, dim = problem.region, problem.region.dim
    nearest = _Nearest(problem)
    nearest.look(first_places(region, 64))
    queue = Queue()
    queue.push(root(dim), np.zeros(1))
    leaves: list[Cells] = []
    margins: list[Array] = []
    bounded, reason = 0, ""

    def certified() -> float:
        reached = queue.heap[0][0] if queue.heap else 1.0
        return float(min(reached, nearest.gauge, 1.0)) * (INWARDS if queue.heap or nearest.found else 1.0)

    while queue.heap and queue.heap[0][0] < nearest.gauge * (1 - tolerance):
        if cancelled():
            reason = "cancelled"
            break
        if bounded >= budget.cells or time.monotonic() - started >= budget.seconds:
            reason = "budget"
            break
        cells = queue.pop(batch, dim)
        result, sides = problem.bound(cells)
        bounded += len(cells)
        lower = result.lower.numpy()
        proved = lower > 0
        leaves.append(cells[proved])
        margins.append(lower[proved])
        rest = np.flatnonzero(~proved)
        nearest.look(suspects(problem, cells, result, rest))
        if bool((cells.levels[rest] >= DEEPEST - 3).any()):
            queue.push(cells[rest], _gauges(problem, cells[rest]))
            reason = "a margin below what the bounds can tell"
            break
        _grow(
            problem, queue, cells, [split(problem, cells[n : n + 1], result, sides, n) for n in rest.tolist()]
        )
        yield Closer(cells, lower, certified(), nearest.refuted, bounded)
    seconds = time.monotonic() - started
    joined = np.concatenate([np.zeros(0), *margins])
    found = nearest.found
    yield RobustRadius(
        certified(), nearest.refuted, found, join(leaves, dim), joined, bounded, seconds, reason
    )


class _Nearest:
    """The counterexample nearest to the identity so far, measured by the region's gauge."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.found: Counterexample | None = None
        self.gauge = np.inf

    @property
    def refuted(self) -> float | None:
        return None if self.found is None else float(self.gauge)

    def look(self, z: Array) -> None:
        """Try parameters that are nearer than the one known, and the way from the nearest towards the identity."""
        if len(z) and self._take(z[self.problem.region.gauge(z) < self.gauge]):
            assert self.found is not None
            steps = np.linspace(0.0, 1.0, 33)[1:-1, None]
            self._take(steps * np.asarray(self.found.z))

    def _take(self, z: Array) -> bool:
        wrong = self.problem.wrong_at(z)
        if not wrong:
            return False
        gauges = self.problem.region.gauge(np.array([found.z for found in wrong]))
        self.found, self.gauge = wrong[int(np.argmin(gauges))], float(gauges.min())
        return True


def _gauges(problem: Problem, cells: Cells) -> Array:
    """How far the region must grow to reach each cell, rounded down."""
    return np.asarray(problem.region.nearest_gauge(*cells.edges(problem.region)) * (1 - 1e-12))


def _grow(problem: Problem, queue: Queue, cells: Cells, pieces: list[Cells]) -> None:
    every = join(pieces, cells.dim)
    queue.push(every, _gauges(problem, every))
