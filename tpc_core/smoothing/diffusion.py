"""Rotation diffusion: turn the cloud by Brownian motion on SO(3), the Gaussian of rotations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scipy import special

from tpc_core.errors import InvalidValue
from tpc_core.lazy_torch import torch
from tpc_core.smoothing.base import Smoothing, as_number, edge_number
from tpc_core.smoothing.noise import Noise
from tpc_core.smoothing.rules import ROUND_DOWN, OneProbability, Points, Rule, Threshold
from tpc_core.transforms import Transform
from tpc_core.transforms.so3 import matrix_from_vector, rotate

if TYPE_CHECKING:
    from torch import Tensor

LARGEST_SIGMA = math.radians(45)
"""Beyond it the sampler would need more candidates; uniform rotations are the better choice there."""

CANDIDATES = 8
"""Rotation vectors drawn for one vote, of which the first accepted one counts."""


@dataclass(frozen=True)
class RotationDiffusion(Smoothing):
    """eps ~ the heat kernel of SO(3) whose variance about every axis is sigma^2 (radians).

    The heat kernel is the image, under R = exp(w), of a Gaussian N(0, sigma^2 I_3) of rotation vectors weighted
    by sin(|w|/2) / (|w|/2); so w is drawn from the Gaussian and accepted with that probability, which is
    exp(-sigma^2/8) on average.
    """

    sigma: float
    kind = "diffusion"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.sigma) and 0 < self.sigma <= LARGEST_SIGMA * (1 + 1e-9)):
            raise InvalidValue(
                f"sigma of rotation diffusion must lie in (0, {math.degrees(LARGEST_SIGMA):g}] degrees, "
                f"not {math.degrees(self.sigma):g}"
            )

    @property
    def effective_sigma(self) -> float:
        """How far one unit of Phi^-1(q) reaches, as an angle: sqrt(2 (exp(sigma^2/2) - 1)), rounded down."""
        return math.sqrt(2 * math.expm1(self.sigma**2 / 2)) * (1 - 1e-12)

    @property
    def sampling_error(self) -> float:
        """A bound of the total variation between what is drawn and the heat kernel.

        No candidate may be accepted, and vectors longer than a full turn, whose weight can be negative, are cut off.
        """
        rejected = -math.expm1(-(self.sigma**2) / 8)
        beyond = float(special.chdtrc(3, (2 * math.pi / self.sigma) ** 2))
        return (rejected + beyond) ** CANDIDATES + 4 * beyond

    def perturb(self, points: Tensor, noise: Noise) -> Tensor:
        count = points.shape[0]
        vectors = self.sigma * noise.normal(count, CANDIDATES, 3)
        half_turns = torch.linalg.vector_norm(vectors, dim=-1) / (2 * math.pi)
        accepted = noise.uniform(count, CANDIDATES) < torch.sinc(half_turns)
        first = accepted.to(torch.uint8).argmax(dim=1)
        chosen = vectors.gather(1, first[:, None, None].expand(-1, 1, 3)).squeeze(1)
        return rotate(points, matrix_from_vector(chosen).to(points))

    def rule(self, transform: Transform, points: Points) -> Rule | None:
        turns = transform.turning_angle((0.0,) * len(transform.radii)) is not None
        return HeatFlow(self, transform) if turns else None

    @property
    def sigmas(self) -> Mapping[str, float]:
        return {"sigma (°)": edge_number(math.degrees(self.sigma))}

    def with_sigmas(self, values: Sequence[float]) -> RotationDiffusion:
        return RotationDiffusion(math.radians(self.checked_sigmas(values)[0]))

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "sigma": edge_number(math.degrees(self.sigma))}

    @classmethod
    def from_json(cls, description: Mapping[str, Any]) -> RotationDiffusion:
        return cls(math.radians(as_number(description["sigma"])))

    def describe(self) -> str:
        return f"rotation diffusion, sigma {math.degrees(self.sigma):.6g}°"


@dataclass(frozen=True)
class HeatFlow(OneProbability):
    """omega < effective sigma * Phi^-1(p_A), omega the largest turn of the region (docs/theory.md, diffusion).

    What is drawn may miss the heat kernel by the sampling error, at the cloud and at the attacked one.
    """

    smoothing: RotationDiffusion
    transform: Transform
    name = "diffusion"

    def needed(self, radii: tuple[float, ...]) -> Threshold:
        angle = self.transform.turning_angle(radii)
        assert angle is not None
        return Threshold.at(angle / self.smoothing.effective_sigma, 2 * self.smoothing.sampling_error)

    def largest(self, p_a: float, radii: tuple[float, ...]) -> tuple[float, ...]:
        end = self.transform.radii[0]
        low, high = 0.0, end.to_internal(end.largest_radius)
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if p_a > self.needed((middle,)).q else (low, middle)
        return (low * ROUND_DOWN,)
