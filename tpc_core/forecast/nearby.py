"""What p_A looks like: where votes were cast, by them; elsewhere, by the nearest place that has some."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import spatial, stats

from tpc_core.certify.cover import USUAL
from tpc_core.proofs import CellStanding

Array = NDArray[np.float64]

Band = tuple[float, float, float]
"""Low, middle, high: the 10 %, 50 % and 90 % points of what the votes leave open."""

QUANTILES = (0.1, 0.5, 0.9)

Reading = Callable[[int, int], float]
"""A guess of p_A from votes (n, n_A)."""


def posterior(n: int, n_a: int, quantile: float) -> float:
    """A quantile of Jeffreys' posterior of p_A."""
    return float(stats.beta.ppf(quantile, n_a + 0.5, n - n_a + 0.5))


def middle(n: int, n_a: int) -> float:
    """The middle of what the votes leave open, never quite 0 or 1."""
    return (n_a + 0.5) / (n + 1)


def band(values: Sequence[float]) -> Band:
    """Three values in order."""
    low, centre, high = sorted(values)
    return low, centre, high


def nearest(places: Array, values: Array, half_widths: Array) -> Callable[[Array], Array]:
    """The value (M,) of the nearest of some places (K, dim), at each z (M, dim); the usual one where there are none."""
    if not len(places):
        return lambda z: np.full(len(z), USUAL)
    tree = spatial.cKDTree(places / half_widths)
    return lambda z: np.asarray(values[tree.query(z / half_widths)[1]])


def guesses(cells: Sequence[CellStanding], half_widths: Array, reading: Reading = middle) -> Array:
    """What p_A looks like in each of some cells (M,): its own votes, or those of the nearest cell that has some."""
    own = np.array([reading(c.n, c.n_a) if c.n else np.nan for c in cells])
    places = np.array([c.z for c in cells]).reshape(len(cells), len(half_widths))
    voted = ~np.isnan(own)
    own[~voted] = nearest(places[voted], own[voted], half_widths)(places[~voted])
    return own
