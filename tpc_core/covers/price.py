"""What a cell would cost: more samples here, or two halves? Prices steer the search, never the verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from scipy import special

from tpc_core.covers.levels import PathLevels
from tpc_core.statistics import Monitor

_GRID = 64


@dataclass(frozen=True)
class PriceList:
    """Expected numbers of votes to settle a cell, if p_A is about `p` all over it.

    `shrink` is the factor by which the reach falls when a cell is halved: 2^(-1/d).
    """

    monitor: Monitor
    levels: PathLevels
    alpha: float
    dim: int

    @property
    def shrink(self) -> float:
        return float(2 ** (-1 / self.dim))

    @cached_property
    def _memory(self) -> dict[tuple[int, int, int], float]:
        return {}

    def stay(self, p: float, reach: float, rank: int, votes: int = 0) -> float:
        """Votes still to cast until this cell passes as it is; infinite where it never would."""
        needed = float(special.ndtr(reach))
        level = self.levels.level(rank, self.alpha)
        for stage, size in enumerate(self.monitor.sizes):
            if size > votes and self.monitor.bound(math.floor(p * size), stage, level) > needed:
                return size - votes
        return math.inf

    def split(self, p: float, reach: float, rank: int) -> float:
        """Votes to cast if the cell is halved now."""
        if rank + 1 >= len(self.levels.shares):
            return math.inf
        return 2 * self.cell(p, reach * self.shrink, rank + 1)

    def cell(self, p: float, reach: float, rank: int) -> float:
        """The cheaper of the two for a fresh cell; p and reach are rounded to a grid and remembered."""
        quantile = float(special.ndtri(min(max(p, 1e-6), 1 - 1e-6)))
        key = (round(quantile * _GRID), round(reach * _GRID), rank)
        if key not in self._memory:
            self._memory[key] = math.inf  # guards against a cycle through rounding
            rounded_p, rounded_reach = float(special.ndtr(key[0] / _GRID)), key[1] / _GRID
            here = self.stay(rounded_p, rounded_reach, rank)
            hopeless = rounded_p <= 0.5 or here == self.monitor.sizes[0]
            below = math.inf if hopeless else self.split(rounded_p, rounded_reach, rank)
            self._memory[key] = min(here, below)
        return self._memory[key]
