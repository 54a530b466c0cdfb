"""Parameter smoothing: apply the transform itself with a random Gaussian parameter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.smoothing.base import Smoothing
from tpc_core.smoothing.noise import Noise
from tpc_core.transforms import Category, CoordinateNoise, Linear, Transform


@dataclass(frozen=True)
class ParameterSmoothing(Smoothing):
    """eps ~ N(0, diag(sigma^2)) in the transform's own parameters.

    `sigmas` are in internal units, one for each of the transform's radii.
    """

    transform: Transform
    sigmas: tuple[float, ...]

    def __post_init__(self) -> None:
        additive = self.transform.category is Category.ADDITIVE
        if isinstance(self.transform, CoordinateNoise) or not (
            additive or isinstance(self.transform, Linear)
        ):
            raise UnsupportedRequest(
                f"{self.transform.name} is {self.transform.category.value}: its parameter cannot be smoothed; "
                "use coordinate smoothing"
            )
        if len(self.sigmas) != len(self.transform.radii):
            raise InvalidValue(
                f"{self.transform.name} takes {len(self.transform.radii)} sigmas, not {len(self.sigmas)}"
            )
        if not all(math.isfinite(s) and s > 0 for s in self.sigmas):
            raise InvalidValue(f"every sigma must be a positive, finite number, not {list(self.sigmas)}")

    @property
    def scale(self) -> tuple[float, ...]:
        """The standard deviation of each coordinate of z."""
        if len(self.sigmas) == self.transform.dim:
            return self.sigmas
        return self.sigmas * self.transform.dim

    def perturb(self, points: Tensor, noise: Noise) -> Tensor:
        draws = noise.normal(points.shape[0], len(self.scale)).to(points)
        # Column by column: a tensor of sigmas would have to be sent to the device, which waits for it.
        z = torch.stack(
            [sigma * column for sigma, column in zip(self.scale, draws.unbind(1), strict=True)], dim=1
        )
        return self.transform.apply(points, z)

    def to_json(self) -> dict[str, Any]:
        pairs = zip(self.transform.radii, self.sigmas, strict=True)
        return {
            "kind": "parameter",
            "transform": self.transform.name,
            "sigma": [float(f"{p.to_edge(s):.12g}") for p, s in pairs],
        }

    def describe(self) -> str:
        pairs = zip(self.transform.radii, self.sigmas, strict=True)
        sigmas = ", ".join(p.describe(p.to_edge(s)) for p, s in pairs)
        return f"random {self.transform.name}, sigma {sigmas}"
