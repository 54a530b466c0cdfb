"""The nodes of a map: nested grids, so that a finer one keeps every vote of the coarser ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

FINENESS = {1: (16, 32, 64), 2: (8, 16, 32), 3: (4, 8, 16)}
"""Meshes along each axis, from the first grid to the finest, by the number of axes. A grid of 8 has 9 nodes a side."""


@dataclass(frozen=True)
class Nodes:
    """The finest grid over a box of half widths (k,); each of its nodes belongs to the coarsest grid that has it."""

    half: Array
    is_round: bool
    """Whether only the ball inside of the box is asked about."""

    @property
    def dim(self) -> int:
        return len(self.half)

    @property
    def fineness(self) -> tuple[int, ...]:
        return FINENESS[self.dim]

    @property
    def side(self) -> int:
        """Nodes along an axis of the finest grid."""
        return self.fineness[-1] + 1

    @cached_property
    def index(self) -> Indices:
        """The place (M, k) of each node in the finest grid, those of the coarsest grid and nearest to zero first."""
        ticks = np.arange(self.side)
        grid = np.stack([g.ravel() for g in np.meshgrid(*[ticks] * self.dim, indexing="ij")], axis=1)
        away = np.abs(2.0 * grid / self.fineness[-1] - 1.0)
        if self.is_round and self.dim > 1:
            grid = grid[np.linalg.norm(away, axis=1) <= 1 + 1e-9]
        away = np.linalg.norm(2.0 * grid / self.fineness[-1] - 1.0, axis=1)
        order = np.lexsort((away, self._rank_of(grid)))
        return np.asarray(grid[order], dtype=np.int64)

    @cached_property
    def rank(self) -> Indices:
        """The number (M,) of the coarsest grid that has each node."""
        return self._rank_of(self.index)

    def _rank_of(self, grid: Indices) -> Indices:
        rank = np.full(len(grid), len(self.fineness) - 1, dtype=np.int64)
        for number in reversed(range(len(self.fineness))):
            step = self.fineness[-1] // self.fineness[number]
            rank[np.all(grid % step == 0, axis=1)] = number
        return rank

    @cached_property
    def places(self) -> Array:
        """The places (M, k) of all nodes on the map, in internal units."""
        return np.asarray((2.0 * self.index / self.fineness[-1] - 1.0) * self.half)

    def ticks(self, rank: int) -> list[Array]:
        """The coordinates of one grid along each axis."""
        return [np.linspace(-half, half, self.fineness[rank] + 1) for half in self.half]

    def spread(self, values: Array, asked: NDArray[np.bool_], rank: int) -> Array:
        """Values at all nodes of one grid: those that were asked as they are, between them what coarser ones suggest.

        NaN where even the coarsest grid knows nothing yet, and outside of a ball.
        """
        known = np.full((self.fineness[0] + 1,) * self.dim, np.nan)
        for number in range(rank + 1):
            if number:
                for axis in range(self.dim):
                    known = _between(known, axis)
            step = self.fineness[-1] // self.fineness[number]
            mine = asked & (self.rank <= number)
            known[tuple((self.index[mine] // step).T)] = values[mine]
        return known


def _between(grid: Array, axis: int) -> Array:
    """Twice as fine along one axis: the mean of two neighbours between them, or the one that is known."""
    moved = np.moveaxis(grid, axis, 0)
    finer = np.full((2 * len(moved) - 1, *moved.shape[1:]), np.nan)
    finer[::2] = moved
    low, high = moved[:-1], moved[1:]
    finer[1::2] = np.where(np.isnan(low), high, np.where(np.isnan(high), low, (low + high) / 2))
    return np.moveaxis(finer, 0, axis)
