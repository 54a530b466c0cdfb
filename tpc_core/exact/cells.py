"""Cells of a region with exact dyadic edges, and the check that a list of them leaves nothing out.

Along each axis a cell is the `index`-th of 2^level equal parts of the smallest box around the region. Neighbours
compute a common edge from the same fraction, so their float64 boxes meet without a gap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tpc_core.transforms import Region

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

DEEPEST = 40
"""Halvings along one axis at most: fractions and their doubles are exact far beyond."""

INWARDS = 1 - 1e-9
"""Keeps a claimed region from touching the first gap."""


@dataclass(frozen=True)
class Cells:
    """M cells: levels and indices (M, d)."""

    levels: Indices
    indices: Indices

    def __len__(self) -> int:
        return len(self.levels)

    def __getitem__(self, which: slice | Indices | NDArray[np.bool_]) -> Cells:
        return Cells(self.levels[which], self.indices[which])

    @property
    def dim(self) -> int:
        return int(self.levels.shape[1])

    @property
    def fractions(self) -> tuple[Array, Array]:
        """The edges as exact fractions of the box, from 0 to 1."""
        size = 2.0**-self.levels
        return self.indices * size, (self.indices + 1) * size

    def edges(self, region: Region) -> tuple[Array, Array]:
        """The edges as parameters, (M, d) each."""
        low, high = self.fractions
        half = region.half_widths
        return half * (2 * low - 1), half * (2 * high - 1)

    def halved(self, axes: Indices) -> Cells:
        """Every cell cut in two across its axis (M,): the lower halves, then the upper ones."""
        levels, indices = self.levels.copy(), self.indices.copy()
        rows = np.arange(len(self))
        levels[rows, axes] += 1
        indices[rows, axes] *= 2
        upper = indices.copy()
        upper[rows, axes] += 1
        return Cells(np.concatenate([levels, levels]), np.concatenate([indices, upper]))

    def meets(self, region: Region) -> NDArray[np.bool_]:
        """Which cells touch the region; rounding errs towards yes."""
        return region.meets(*self.edges(region))


def root(dim: int) -> Cells:
    """The one cell around the whole region."""
    return Cells(np.zeros((1, dim), np.int64), np.zeros((1, dim), np.int64))


def join(pieces: list[Cells], dim: int) -> Cells:
    """All cells in one list."""
    empty = np.zeros((0, dim), np.int64)
    return Cells(
        np.concatenate([empty, *(p.levels for p in pieces)]),
        np.concatenate([empty, *(p.indices for p in pieces)]),
    )


def covers(cells: Cells, region: Region, claim: Region | None = None) -> bool:
    """Whether the cells of a region leave nothing of it out: every part of the box is a cell, or misses the region.

    A `claim` is a smaller region, of which nothing may be left out; by default it is the region itself.

    Overlapping cells are not accepted.
    """
    empty = gaps(cells)
    return empty is not None and not bool((claim or region).meets(*empty.edges(region)).any())


def covered_factor(cells: Cells, region: Region) -> float:
    """The largest factor, at most 1, of the region of which the cells leave nothing out; 0 where they overlap."""
    empty = gaps(cells)
    if empty is None:
        return 0.0
    if not bool(region.meets(*empty.edges(region)).any()):
        return 1.0
    return float(region.nearest_gauge(*empty.edges(region)).min() * INWARDS)


def gaps(cells: Cells) -> Cells | None:
    """The parts of the box that are no cell's; None where cells overlap.

    Halve the box across any axis that no cell straddles, and look at the two parts with their cells: a part without
    cells is a gap, one with a single cell must be that cell.
    """
    stack = [(root(cells.dim), np.arange(len(cells)))]
    found: list[Cells] = []
    while stack:
        part, inside = stack.pop()
        if len(inside) == 0:
            found.append(part)
        elif len(inside) > 1 or not _same(part, cells[inside]):
            halves = _halves(part, cells, inside)
            if halves is None:
                return None
            stack.extend(halves)
    return join(found, cells.dim)


def _same(part: Cells, cell: Cells) -> bool:
    return bool(np.array_equal(part.levels, cell.levels) and np.array_equal(part.indices, cell.indices))


def _halves(part: Cells, cells: Cells, inside: Indices) -> list[tuple[Cells, Indices]] | None:
    """The two halves of a part with the cells in each, across an axis that none of the cells straddles."""
    deeper = cells.levels[inside] - part.levels
    for axis in range(part.dim):
        if int(part.levels[0, axis]) >= DEEPEST or bool((deeper[:, axis] < 1).any()):
            continue
        half = cells.indices[inside, axis] >> (deeper[:, axis] - 1)
        pair = part.halved(np.array([axis]))
        return [(pair[k : k + 1], inside[half == pair.indices[k, axis]]) for k in range(2)]
    return None
