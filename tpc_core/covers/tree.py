"""The tree of cells over a region: fixed by the cloud alone, before any vote is cast."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tpc_core.errors import InvalidValue
from tpc_core.transforms import Reach, Region

Array = NDArray[np.float64]
Block = tuple[tuple[int, int], ...]

FLOAT32_SLACK = 2.0**-20
"""Added, times the cloud's norm, to every displacement: the tested cloud is rounded to float32 coordinates."""

_MOST_UNITS = 4096
"""Largest number of first cells along one axis."""


@dataclass(frozen=True)
class Cell:
    """A box of parameters that one tested point, its centre, vouches for.

    `reach` bounds the displacement from the centre to any point of the box inside the region, in sigmas.
    `rank` counts the tested cells above this one on its path to the root; `tested` says whether votes are
    cast here at all: a cell too wide for its first votes is split at once and costs nothing. `block` tells
    which first cells it holds, as a range along each axis.
    """

    path: str
    low: tuple[float, ...]
    high: tuple[float, ...]
    reach: float
    rank: int
    tested: bool
    block: Block = ()

    @property
    def centre(self) -> Array:
        """The tested parameter."""
        return np.asarray((np.asarray(self.low) + np.asarray(self.high)) / 2)

    @property
    def needed(self) -> float:
        """The p_A that the lower bound must exceed: Phi(D / sigma), rounded up."""
        return float(min(special.ndtr(self.reach) + 1e-12, 1.0))

    @property
    def volume(self) -> float:
        """The volume of the box, in parameter units."""
        return float(np.prod(np.asarray(self.high) - np.asarray(self.low)))


@dataclass(frozen=True)
class CoverTree:
    """A uniform grid of first cells, joined from above by halving, and halved further below.

    The grid is the coarsest whose cells reach at most `start` sigmas. 96 agreeing votes vouch for about 1.4
    sigmas at alpha = .001; in three dimensions the votes per volume, n / reach(n)^3, are fewest there and nearly
    flat from 64 to 256 votes; in fewer dimensions all costs are small.

    Nothing here depends on votes (THEORY section 4, independence (i)): given the cloud, the region and sigma,
    the cells, their ranks and so their levels are fixed.
    """

    region: Region
    reach: Reach
    sigma: float
    cloud_norm: float
    start: float = 1.4
    ranks: int = 14

    def __post_init__(self) -> None:
        if not (self.sigma > 0 and self.start > 0):
            raise InvalidValue(f"sigma and start must be positive, not {self.sigma} and {self.start}")

    @cached_property
    def units(self) -> tuple[int, ...]:
        """How many first cells there are along each axis."""
        half = self.region.half_widths
        places = np.array([*itertools.product((-1.0, 1.0), repeat=min(self.region.dim, 4))])
        places = np.pad(places, ((0, 1), (0, self.region.dim - places.shape[1])))
        # Begin a little below what equal shares of `start` on every side ask for, then grow side by side.
        wanted = (
            0.9
            * self._sides(np.zeros_like(half), half)
            / self.sigma
            * math.sqrt(self.region.dim)
            / self.start
        )
        count = np.clip(np.floor(np.nan_to_num(wanted)), 1, _MOST_UNITS).astype(np.int64)
        while True:
            size = half / count
            centre = places * (half - size)
            if float(np.max(self._reaches(centre, centre - size, centre + size))) <= self.start:
                break
            growing = self._sides(np.zeros_like(half), size)
            growing[count >= _MOST_UNITS] = -1.0
            if growing.max() <= 0:
                break
            count[int(np.argmax(growing))] += 1
        return tuple(int(c) for c in count)

    def root(self) -> Cell:
        """The cell around the whole region."""
        half = self.region.half_widths
        return self._cell("", -half, half, 0, tuple((0, count) for count in self.units))

    def children(self, cell: Cell) -> list[Cell]:
        """The two parts of a cell, without those that miss the region; none past the last rank."""
        rank = cell.rank + 1 if cell.tested else cell.rank
        if rank >= self.ranks:
            return []
        pieces = self._grid_pieces(cell) if any(b - a > 1 for a, b in cell.block) else self._halves(cell)
        return [
            self._cell(f"{cell.path}{digit}", low, high, rank, block)
            for digit, (low, high, block) in enumerate(pieces)
            if bool(self.region.meets(low, high))
        ]

    def descend(self, path: str) -> Cell:
        """The cell of a path such as "0110"."""
        cell = self.root()
        for depth in range(len(path)):
            found = [child for child in self.children(cell) if child.path == path[: depth + 1]]
            if not found:
                raise InvalidValue(f"there is no cell {path!r} in this cover")
            cell = found[0]
        return cell

    def first_cells(self, limit: int) -> tuple[int, Array, Array]:
        """How many first cells meet the region, with the centres and reaches of at most `limit` of them.

        For plans and estimates: all cells at once, without walking the tree. Where there are more than `limit`,
        evenly spread ones stand for the others.
        """
        total = int(np.prod([float(count) for count in self.units]))
        numbers = np.unique(np.linspace(0, total - 1, min(total, 8 * limit)).astype(np.int64))
        places = np.stack(np.unravel_index(numbers, self.units), axis=1)
        half, units = self.region.half_widths, np.array(self.units)
        low, high = half * (2 * places / units - 1), half * (2 * (places + 1) / units - 1)
        inside = self.region.meets(low, high)
        low, high = self.region.trim(low[inside], high[inside])
        count = round(total * float(np.mean(inside)))
        chosen = np.unique(np.linspace(0, len(low) - 1, min(len(low), limit)).astype(np.int64))
        centre = (low[chosen] + high[chosen]) / 2
        return count, centre, self._reaches(centre, low[chosen], high[chosen])

    def frontier(self, limit: int) -> list[Cell] | None:
        """The first tested cell of every path; None where there are more than `limit`."""
        found: list[Cell] = []
        stack = [self.root()]
        while stack:
            cell = stack.pop()
            if cell.tested:
                found.append(cell)
            else:
                stack.extend(reversed(self.children(cell)))
            if len(found) + len(stack) > limit:
                return None
        return found

    def _grid_pieces(self, cell: Cell) -> list[tuple[Array, Array, Block]]:
        """Split the block of first cells across its widest side, between two of them."""
        size = self._block_size(cell.block)
        sides = self._sides(cell.centre, size / 2)
        sides[[b - a <= 1 for a, b in cell.block]] = -1.0
        axis = int(np.argmax(sides))
        a, b = cell.block[axis]
        middle = (a + b) // 2
        blocks = [(*cell.block[:axis], part, *cell.block[axis + 1 :]) for part in ((a, middle), (middle, b))]
        return [(*self._frame(block), block) for block in blocks]

    def _halves(self, cell: Cell) -> list[tuple[Array, Array, Block]]:
        low, high, middle = np.array(cell.low), np.array(cell.high), cell.centre
        axis = int(np.argmax(self._sides(middle, (high - low) / 2)))
        below, above = high.copy(), low.copy()
        below[axis] = above[axis] = middle[axis]
        return [(low, below, cell.block), (above, high, cell.block)]

    def _block_size(self, block: Block) -> Array:
        counts = np.array([b - a for a, b in block])
        return np.asarray(2 * self.region.half_widths * counts / np.array(self.units))

    def _frame(self, block: Block) -> tuple[Array, Array]:
        """The box of a block; neighbours compute the same edge from the same integers."""
        half, units = self.region.half_widths, np.array(self.units)
        low = half * (2 * np.array([a for a, _ in block]) / units - 1)
        high = half * (2 * np.array([b for _, b in block]) / units - 1)
        return low, high

    def _cell(self, path: str, low: Array, high: Array, rank: int, block: Block) -> Cell:
        low, high = self.region.trim(low[None], high[None])
        reach = float(self._reaches((low + high) / 2, low, high)[0])
        box = (tuple(low[0].tolist()), tuple(high[0].tolist()))
        return Cell(path, *box, reach=reach, rank=rank, tested=reach <= self.start, block=block)

    def _reaches(self, centre: Array, low: Array, high: Array) -> Array:
        """The displacement bound of cells (M, dim) in sigmas, rounded up."""
        span = self.region.span(centre, low, high) * (1 + 1e-12)
        distance = self.reach(centre, low, high, span) * (1 + 1e-9) + FLOAT32_SLACK * self.cloud_norm
        return np.asarray(distance / self.sigma)

    def _sides(self, centre: Array, half: Array) -> Array:
        """How far each side of a box, taken alone, moves the cloud."""
        centres = np.repeat(centre[None], self.region.dim, axis=0)
        reach = np.diag(half)
        return np.asarray(self.reach(centres, centres - reach, centres + reach, half))
