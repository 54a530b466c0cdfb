"""How votes become a certificate: the rule that a smoothing offers for a transform.

There are three kinds. One probability decides a whole region; or a class that is the top class stays the top class
under a whole group; or the region is cut into cells, and each cell has its own probability.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tpc_core.transforms import Reach, Transform

ROUND_DOWN = 1 - 1e-9
"""Radii that are read off a bound are made smaller by this factor."""


@dataclass(frozen=True)
class Threshold:
    """The p_A that votes must prove to be exceeded; `complement` is 1 - q, with its own digits where q is near 1."""

    q: float
    complement: float

    @staticmethod
    def at(distance: float, sampling_error: float = 0.0) -> Threshold:
        """Phi(distance), rounded up; noise that misses its law by `sampling_error` needs that much more.

        q and its complement are taken at the same, slightly farther place: were the complement alone made smaller,
        every vote for another class would count a little too much in the test.
        """
        farther = distance * (1 + 1e-12) + 1e-15
        rest = float(special.ndtr(-farther)) - sampling_error
        return Threshold(
            min(float(special.ndtr(farther)) * (1 + 1e-15) + sampling_error, 1.0), max(rest, 0.0)
        )

    @staticmethod
    def of(q: float) -> Threshold:
        """A probability as it is."""
        return Threshold(min(q, 1.0), max(1.0 - q, 0.0))


class Rule(ABC):
    """What a smoothing proves about a transform."""

    name: str
    """One word for people: which theorem it is."""


class OneProbability(Rule):
    """One probability decides: how a radius asks for a p_A, and how a p_A gives a radius."""

    @abstractmethod
    def needed(self, radii: tuple[float, ...]) -> Threshold:
        """The p_A that must be exceeded to certify these radii (internal units)."""

    @abstractmethod
    def largest(self, p_a: float, radii: tuple[float, ...]) -> tuple[float, ...]:
        """The largest radii along the ray through `radii` that p_A certifies; zeros where none."""


@dataclass(frozen=True)
class TopClass(Rule):
    """A top class is a top class for every member of the group, whatever the radius."""

    name = "group"


@dataclass(frozen=True)
class Cover(Rule):
    """Cells: the tested point of a cell vouches for what lies within sigma Phi^-1(p_A) of it."""

    sigma: float
    reach: Reach
    name = "cover"


@dataclass(frozen=True)
class GaussianShift(OneProbability):
    """sqrt(sum (r_i / sigma_i)^2) < Phi^-1(p_A): the paper's additive corollary, with p_B = 1 - p_A."""

    sigmas: tuple[float, ...]
    name = "parameter"

    def needed(self, radii: tuple[float, ...]) -> Threshold:
        return Threshold.at(self._distance(radii))

    def largest(self, p_a: float, radii: tuple[float, ...]) -> tuple[float, ...]:
        if p_a <= 0.5:
            return tuple(0.0 for _ in radii)
        factor = float(special.ndtri(p_a)) / self._distance(radii) * ROUND_DOWN
        return tuple(factor * r for r in radii)

    def _distance(self, radii: tuple[float, ...]) -> float:
        pairs = zip(radii, self.sigmas, strict=True)
        return float(np.linalg.norm([r / s for r, s in pairs]))


Points = NDArray[np.float64]

__all__ = ["Cover", "GaussianShift", "OneProbability", "Points", "Rule", "Threshold", "TopClass", "Transform"]
