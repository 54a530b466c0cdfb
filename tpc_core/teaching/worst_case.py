"""The worst classifier that fits the votes: Neyman and Pearson's, for a shifted Gaussian."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]


def guaranteed_share(p_a: float, distance: Array) -> Array:
    """The least q(y_A) that any classifier with q(y_A) = p_a can have after a shift by `distance` sigmas.

    Phi(Phi^-1(p_a) - distance): it is above 1/2 exactly within the certified radius Phi^-1(p_a).
    """
    return np.asarray(special.ndtr(special.ndtri(p_a) - np.abs(np.asarray(distance, dtype=np.float64))))


def worst_set(p_a: float, shift: float) -> tuple[float, float]:
    """The half line of draws, in sigmas, on which the worst classifier still says y_A; one end is infinite.

    It holds mass p_a before the shift, and lies on the side from which the shift moves mass away.
    """
    edge = float(special.ndtri(p_a))
    return (-np.inf, edge) if shift >= 0 else (-edge, np.inf)
