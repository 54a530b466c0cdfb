"""What a cell would cost: more votes here, or two halves? Prices steer the search, never the verdict."""

from __future__ import annotations

import math
from functools import lru_cache

from scipy import special

from tpc_core.covers.lattice import cell_level
from tpc_core.statistics import expected_votes
from tpc_core.votes import BLOCK

_GRID = 32
"""Steps per sigma to which reaches and p_A are rounded: prices are estimates, and remembered."""

_DEEPEST = 24


class Prices:
    """Expected numbers of votes to settle a cell, if p_A is about `p` all over it, at a total level alpha."""

    def __init__(self, alpha: float, dim: int) -> None:
        self.alpha = alpha
        self.shrink = 2.0 ** (-1 / dim)
        """The factor by which the reach falls when a cell is halved."""

    def stay(self, p: float, reach: float, depth: int) -> float:
        """Votes in all until a cell passes as it is; infinite where it never would."""
        return _stay(_step(p), round(reach * _GRID), self.alpha, depth)

    def split(self, p: float, reach: float, depth: int) -> float:
        """Votes to cast if a cell is halved now."""
        return 2 * self.cell(p, reach * self.shrink, depth + 1)

    def cell(self, p: float, reach: float, depth: int) -> float:
        """The cheaper of the two for a fresh cell."""
        return _cell(_step(p), round(reach * _GRID), self.alpha, depth, self.shrink)


def _step(p: float) -> int:
    return round(float(special.ndtri(min(max(p, 1e-6), 1 - 1e-6))) * _GRID)


@lru_cache(maxsize=1 << 18)
def _stay(step: int, reach: int, alpha: float, depth: int) -> float:
    if step <= reach:
        return math.inf
    p, q = float(special.ndtr(step / _GRID)), float(special.ndtr(reach / _GRID))
    return expected_votes(p, q, cell_level(alpha, depth), BLOCK)


@lru_cache(maxsize=1 << 18)
def _cell(step: int, reach: int, alpha: float, depth: int, shrink: float) -> float:
    here = _stay(step, reach, alpha, depth)
    if step <= 0 or here == BLOCK or depth >= _DEEPEST or reach == 0:
        return here
    return min(here, 2 * _cell(step, round(reach * shrink), alpha, depth + 1, shrink))
