"""Coordinate smoothing: shake every coordinate of every point with Gaussian noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from tpc_core.smoothing.base import Smoothing, as_number, positive
from tpc_core.smoothing.noise import Noise
from tpc_core.smoothing.rules import ROUND_DOWN, Cover, OneProbability, Points, Rule, Threshold
from tpc_core.transforms import CoordinateNoise, Transform

if TYPE_CHECKING:
    from torch import Tensor

FLOAT32_SLACK = 2.0**-20
"""Added, times the cloud's norm, to every displacement: the tested cloud is rounded to float32 coordinates."""


@dataclass(frozen=True)
class CoordinateSmoothing(Smoothing):
    """x + n with n ~ N(0, sigma^2 I)."""

    sigma: float
    kind = "coordinate"

    def __post_init__(self) -> None:
        positive(self.sigma)

    def perturb(self, points: Tensor, noise: Noise) -> Tensor:
        return points + self.sigma * noise.normal(*points.shape).to(points)

    def rule(self, transform: Transform, points: Points) -> Rule:
        if not isinstance(transform, CoordinateNoise):
            return Cover(self.sigma, transform.reach(points))
        stretch = transform.l2_radius(1.0, len(points))
        return NormBall(self.sigma, stretch, FLOAT32_SLACK * float(np.linalg.norm(points)))

    @property
    def sigmas(self) -> Mapping[str, float]:
        return {"sigma": self.sigma}

    def with_sigmas(self, values: Sequence[float]) -> CoordinateSmoothing:
        return CoordinateSmoothing(*self.checked_sigmas(values))

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "sigma": self.sigma}

    @classmethod
    def from_json(cls, description: Mapping[str, Any]) -> CoordinateSmoothing:
        return cls(as_number(description["sigma"]))

    def describe(self) -> str:
        return f"coordinate noise, sigma {self.sigma:g}"


@dataclass(frozen=True)
class NormBall(OneProbability):
    """||z||_2 < sigma Phi^-1(p_A); `stretch` turns the claimed norm into l2 (sqrt(3N) for l-infinity)."""

    sigma: float
    stretch: float
    slack: float
    name = "l2"

    def needed(self, radii: tuple[float, ...]) -> Threshold:
        return Threshold.at((radii[0] * self.stretch + self.slack) / self.sigma)

    def largest(self, p_a: float, radii: tuple[float, ...]) -> tuple[float, ...]:
        if p_a <= 0.5:
            return (0.0,)
        radius = (self.sigma * float(special.ndtri(p_a)) - self.slack) / self.stretch * ROUND_DOWN
        return (max(radius, 0.0),)
