"""The dyadic tree of cells over a region: fixed by the cloud alone, before any vote is cast."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tpc_core.errors import InvalidValue
from tpc_core.transforms import Reach, Region

Array = NDArray[np.float64]

FLOAT32_SLACK = 2.0**-20
"""Added, times the cloud's norm, to every displacement: the tested cloud is rounded to float32 coordinates."""


@dataclass(frozen=True)
class Cell:
    """A box of parameters that one tested point, its centre, vouches for.

    `reach` bounds the displacement from the centre to any point of the box inside the region, in sigmas.
    `rank` counts the tested cells above this one on its path to the root; `tested` says whether votes are
    cast here at all: a cell too wide for any p_A is split at once and costs nothing.
    """

    path: str
    low: tuple[float, ...]
    high: tuple[float, ...]
    reach: float
    rank: int
    tested: bool

    @property
    def centre(self) -> Array:
        """The tested parameter."""
        return (np.asarray(self.low) + np.asarray(self.high)) / 2

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
    """Halve boxes, widest side in displacement first; test a cell once its reach is at most `start` sigmas.

    Nothing here depends on votes (THEORY section 4, independence (i)): given the cloud, the region and sigma,
    the cells, their ranks and so their levels are fixed.
    """

    region: Region
    reach: Reach
    sigma: float
    cloud_norm: float
    start: float = 1.9
    ranks: int = 14

    def __post_init__(self) -> None:
        if not self.sigma > 0:
            raise InvalidValue(f"sigma must be positive, not {self.sigma}")

    def root(self) -> Cell:
        """The cell around the whole region."""
        half = self.region.half_widths
        return self._cell("", -half, half, rank=0)

    def children(self, cell: Cell) -> list[Cell]:
        """The two halves of a cell, without those that miss the region; none past the last rank."""
        rank = cell.rank + 1 if cell.tested else cell.rank
        if rank >= self.ranks:
            return []
        side = self._widest_side(cell)
        middle = cell.centre[side]
        below, above = np.array(cell.high), np.array(cell.low)
        below[side], above[side] = middle, middle
        halves = [(np.array(cell.low), below, "0"), (above, np.array(cell.high), "1")]
        return [
            self._cell(cell.path + digit, low, high, rank)
            for low, high, digit in halves
            if bool(self.region.meets(low, high))
        ]

    def descend(self, path: str) -> Cell:
        """The cell of a path such as "0110"."""
        cell = self.root()
        for depth in range(len(path)):
            for child in self.children(cell):
                if child.path == path[: depth + 1]:
                    cell = child
                    break
            else:
                raise InvalidValue(f"there is no cell {path!r} in this cover")
        return cell

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

    def _cell(self, path: str, low: Array, high: Array, rank: int) -> Cell:
        low, high = self.region.trim(low[None], high[None])
        centre = (low + high) / 2
        span = self.region.span(centre, low, high) * (1 + 1e-12)
        distance = float(self.reach(centre, low, high, span)[0])
        distance = distance * (1 + 1e-9) + FLOAT32_SLACK * self.cloud_norm
        in_sigmas = distance / self.sigma
        box = (tuple(low[0].tolist()), tuple(high[0].tolist()))
        return Cell(path, *box, reach=in_sigmas, rank=rank, tested=in_sigmas <= self.start)

    def _widest_side(self, cell: Cell) -> int:
        """The side whose full length moves the cloud the most."""
        centre = np.repeat(cell.centre[None], self.region.dim, axis=0)
        low, high = centre.copy(), centre.copy()
        sides = np.arange(self.region.dim)
        low[sides, sides] = np.asarray(cell.low)
        high[sides, sides] = np.asarray(cell.high)
        span = (high - low).max(axis=1) / 2
        return int(np.argmax(self.reach(centre, low, high, span)))


