"""Coordinate smoothing: shake every coordinate of every point with Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from tpc_core.errors import InvalidValue
from tpc_core.smoothing.base import CoverSmoothing
from tpc_core.smoothing.noise import Noise
from tpc_core.transforms import Reach, Transform


@dataclass(frozen=True)
class CoordinateSmoothing(CoverSmoothing):
    """x + n with n ~ N(0, sigma^2 I)."""

    sigma: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.sigma) and self.sigma > 0):
            raise InvalidValue(f"sigma must be a positive, finite number, not {self.sigma}")

    def perturb(self, points: Tensor, noise: Noise) -> Tensor:
        return points + self.sigma * noise.normal(*points.shape).to(points)

    def reach(self, transform: Transform, points: NDArray[np.float64]) -> Reach:
        """The displacement of the cloud itself."""
        return transform.reach(points)

    def to_json(self) -> dict[str, Any]:
        return {"kind": "coordinate", "sigma": self.sigma}

    def describe(self) -> str:
        return f"coordinate noise, sigma {self.sigma:g}"
