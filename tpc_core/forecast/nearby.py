"""What p_A looks like: where votes were cast, by them; elsewhere, by the places nearby that have some."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import spatial, special

from tpc_core.case_view import CaseView
from tpc_core.ledger import SELECT

Array = NDArray[np.float64]

Band = tuple[float, float, float]
"""Low, middle, high: the 10 %, 50 % and 90 % points of what the votes leave open."""

QUANTILES = (0.1, 0.5, 0.9)

_NEIGHBOURS = 4

Reading = Callable[[int, int], float]
"""A guess of p_A from votes (n, n_A)."""


def posterior(n: int, n_a: int, quantile: float) -> float:
    """A quantile of Jeffreys' posterior of p_A."""
    return float(special.betaincinv(n_a + 0.5, n - n_a + 0.5, quantile))


def middle(n: int, n_a: int) -> float:
    """The middle of what the votes leave open, never quite 0 or 1."""
    return posterior(n, n_a, 0.5)


def band(values: Sequence[float]) -> Band:
    """Three values in order."""
    low, centre, high = sorted(values)
    return low, centre, high


def between(places: Array, values: Array, half_widths: Array) -> Callable[[Array], Array]:
    """p_A (M,) at z (M, dim), read between places (K, dim) at which it is known, on the scale of sigmas.

    That scale is the natural one: Phi^-1(p_A) falls at most as fast as the cloud moves.
    """
    heights = special.ndtri(np.clip(values, 1e-9, 1 - 1e-9))
    tree = spatial.cKDTree(places / half_widths)
    number = min(_NEIGHBOURS, len(places))

    def look(z: Array) -> Array:
        distance, index = tree.query(z / half_widths, k=[*range(1, number + 1)])
        weight = 1 / (distance**2 + 1e-12)
        return np.asarray(special.ndtr(np.sum(weight * heights[index], axis=1) / np.sum(weight, axis=1)))

    return look


def looks_like(view: CaseView, reading: Reading = middle) -> Callable[[Array], Array]:
    """p_A by all votes of a cover: those of its cells, and those on the cloud itself that chose the class."""
    assert view.region is not None
    voted = [cell for cell in view.leaves if cell.n]
    select = view.ledger.tally(SELECT)
    known = [(np.zeros(view.region.dim), reading(select.n, int(select.total[view.target])))]
    known += [(cell.z, reading(cell.n, cell.n_a)) for cell in voted]
    places, values = np.array([z for z, _ in known]), np.array([p for _, p in known])
    return between(places, values, view.region.half_widths)
