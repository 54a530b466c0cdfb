"""The distribution of a weighted sum of three chi-square variables, with a proven error bound."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

DEGREES = 3
ERROR = 2e-7
"""How far `WeightedChiSquare.cdf` may be from the truth."""

_FAR = 75.0
"""P(chi^2_9 > 75) < 2e-12: sums of three chi^2_3 with weights in [-1, 1] never matter past this."""


@dataclass(frozen=True)
class WeightedChiSquare:
    """Q = sum_j weight_j X_j with X_j ~ chi^2_3 independent; cdf by Davies' inversion formula."""

    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        active = [w for w in self.weights if w != 0.0]
        scale = max((abs(w) for w in active), default=1.0)
        object.__setattr__(self, "_scale", scale)
        object.__setattr__(self, "_active", [w / scale for w in active])
        if len(active) > 1:
            object.__setattr__(self, "_terms", _inversion_terms(self._active))

    _scale: float = 1.0
    _active: list[float] = None  # type: ignore[assignment]
    _terms: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]] = None  # type: ignore[assignment]

    def cdf(self, value: float) -> float:
        """P(Q <= value), wrong by at most ERROR."""
        x = value / self._scale
        if not self._active:
            return 1.0 if value >= 0 else 0.0
        if len(self._active) == 1:
            inside = special.chdtr(DEGREES, max(x * self._active[0], 0.0))
            return float(inside if self._active[0] > 0 else 1.0 - inside)
        x = min(max(x, -_FAR), _FAR)
        frequency, amplitude, phase = self._terms
        return float(np.clip(0.5 - np.dot(amplitude, np.sin(phase - frequency * x)), 0.0, 1.0))

    def bracket(self) -> tuple[float, float]:
        """An interval that holds Q but for a probability below 1e-11."""
        return -_FAR * self._scale, _FAR * self._scale


def _inversion_terms(
    weights: list[float],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Frequencies, amplitudes and phases of Davies (1973): cdf(x) = 1/2 - sum amplitude sin(phase - u x).

    The step makes the aliasing error P(|Q| > 2 _FAR) negligible for |x| <= _FAR. The sum stops at U, where
    |characteristic function| <= |phi(U)| (U/u)^p beyond, so that what is left out is at most |phi(U)| / (pi p).
    """
    squared: NDArray[np.float64] = np.square(np.asarray(weights, dtype=np.float64))
    step = 2 * math.pi / (2 * _FAR)
    largest = 8.0
    while True:
        growth = 4 * squared * largest**2
        power = float(np.sum(DEGREES / 2 * growth / (1 + growth)))
        modulus = float(np.exp(-DEGREES / 4 * np.sum(np.log1p(growth))))
        if modulus / (math.pi * power) < ERROR / 2:
            break
        largest *= 1.3
    index = np.arange(math.ceil(largest / step)) + 0.5
    frequency = index * step
    angle = DEGREES / 2 * np.sum(np.arctan(2 * np.outer(weights, frequency)), axis=0)
    modulus_terms = np.exp(-DEGREES / 4 * np.sum(np.log1p(4 * np.outer(squared, frequency**2)), axis=0))
    return np.asarray(frequency), np.asarray(modulus_terms / (math.pi * index)), np.asarray(angle)
