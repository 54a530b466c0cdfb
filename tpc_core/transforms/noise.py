"""Coordinate noise: every point moves on its own, bounded in l2 or l-infinity; additive."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.lazy_torch import torch
from tpc_core.transforms.base import Category, Parameter, Transform
from tpc_core.transforms.forms import UPWARDS, InputForm
from tpc_core.transforms.region import Region

if TYPE_CHECKING:
    from torch import Tensor

Norm = Literal["l2", "linf"]


@dataclass(frozen=True)
class CoordinateNoise(Transform):
    """Add a displacement to every coordinate; z has 3N numbers and its norm is bounded."""

    norm: Norm = "l2"
    category = Category.ADDITIVE

    @property
    def name(self) -> str:
        return self.norm

    @property
    def noun(self) -> str:
        return f"{self.norm} perturbation"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        largest = 10.0 if self.norm == "l2" else 1.0
        return (Parameter(self.norm, "", 0.0, largest / 5, 0.01, largest),)

    @property
    def dim(self) -> int:
        raise UnsupportedRequest("coordinate noise has three numbers per point, so its dimension is 3N")

    def from_edge(self, values: Sequence[float]) -> Tensor:
        raise UnsupportedRequest(f"a size does not say where each point goes; use {self.name}.on_sphere")

    def to_edge(self, z: Tensor) -> tuple[float, ...]:
        return (float(z.norm() if self.norm == "l2" else z.abs().max()),)

    def apply(self, points: Tensor, z: Tensor) -> Tensor:
        if z.shape[-1] != 3 * points.shape[-2]:
            count = points.shape[-2]
            raise InvalidValue(f"{self.name} on {count} points takes {3 * count} numbers, not {z.shape[-1]}")
        return points + z.to(points).reshape(*z.shape[:-1], -1, 3)

    def region(self, radii: Sequence[float]) -> Region:
        raise UnsupportedRequest(f"{self.name} is certified by its radius; it has no region to cover")

    def ball_form(self, points: Tensor, radius: float) -> InputForm:
        """All clouds within this l-infinity radius: no parameter, every coordinate errs on its own."""
        if self.norm != "linf":
            raise UnsupportedRequest(
                "there are no exact proofs for l2 balls; ask for linf, or a proof by votes"
            )
        centre = points.to(torch.float64).unsqueeze(0)
        # x + z in float64 is rounded once; the radius leaves room for it.
        error = torch.full_like(centre, radius) * UPWARDS + 4 * 2.0**-53 * centre.abs()
        return InputForm(centre, centre.new_zeros(1, 0, *centre.shape[1:]), error)

    def l2_radius(self, radius: float, points: int) -> float:
        """The l2 radius that holds every attack of this norm: ||z||_2 <= sqrt(3N) ||z||_inf."""
        return radius if self.norm == "l2" else radius * math.sqrt(3 * points)

    def on_sphere(self, direction: Tensor, radius: float) -> Tensor:
        """The attack (*batch, 3N) of exactly this radius in a given direction."""
        if self.norm == "linf":
            return radius * direction.sign()
        length = torch.linalg.vector_norm(direction, dim=-1, keepdim=True).clamp_min(1e-12)
        return torch.mul(direction / length, radius)


TRANSFORMS = (CoordinateNoise("l2"), CoordinateNoise("linf"))
