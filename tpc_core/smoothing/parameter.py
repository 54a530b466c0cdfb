"""Parameter smoothing: apply the transform itself with a random Gaussian parameter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.lazy_torch import torch
from tpc_core.smoothing.base import Smoothing, as_number, edge_number
from tpc_core.smoothing.noise import Noise
from tpc_core.smoothing.rules import GaussianShift, OneProbability, Points, Rule, Threshold
from tpc_core.statistics.linear_shift import linear_radius, required_p_a
from tpc_core.transforms import Category, CoordinateNoise, Linear, Transform, parse_transform, parts_of

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class ParameterSmoothing(Smoothing):
    """eps ~ N(0, diag(sigma^2)) in the transform's own parameters.

    `spreads` are the sigmas in internal units, one for each of the transform's radii.
    """

    transform: Transform
    spreads: tuple[float, ...]
    kind = "parameter"

    def __post_init__(self) -> None:
        additive = self.transform.category is Category.ADDITIVE
        if isinstance(self.transform, CoordinateNoise) or not (
            additive or isinstance(self.transform, Linear)
        ):
            raise UnsupportedRequest(
                f"{self.transform.name} is {self.transform.category.value}: its parameter cannot be smoothed; "
                "use coordinate smoothing"
            )
        if len(self.spreads) != len(self.transform.radii):
            raise InvalidValue(
                f"{self.transform.name} takes {len(self.transform.radii)} sigmas, not {len(self.spreads)}"
            )
        if not all(math.isfinite(s) and s > 0 for s in self.spreads):
            raise InvalidValue(f"every sigma must be a positive, finite number, not {list(self.spreads)}")

    @property
    def scale(self) -> tuple[float, ...]:
        """The standard deviation of each coordinate of z."""
        if len(self.spreads) == self.transform.dim:
            return self.spreads
        return self.spreads * self.transform.dim

    def perturb(self, points: Tensor, noise: Noise) -> Tensor:
        draws = noise.normal(points.shape[0], len(self.scale)).to(points)
        # Column by column: a tensor of sigmas would have to be sent to the device, which waits for it.
        z = torch.stack(
            [sigma * column for sigma, column in zip(self.scale, draws.unbind(1), strict=True)], dim=1
        )
        return self.transform.apply(points, z)

    def rule(self, transform: Transform, points: Points) -> Rule | None:
        if isinstance(self.transform, Linear):
            return LinearShift(self.spreads[0]) if transform == self.transform else None
        if transform == self.transform:
            return GaussianShift(self.spreads)
        sigmas = sigmas_for(transform, dict(zip(parts_of(self.transform), self.spreads, strict=True)))
        return None if sigmas is None else GaussianShift(sigmas)

    @property
    def sigmas(self) -> Mapping[str, float]:
        names = [f"sigma of {p.name}" + (" (°)" if p.unit == "deg" else "") for p in self.transform.radii]
        return dict(zip(names, self.to_json()["sigma"], strict=True))

    def with_sigmas(self, values: Sequence[float]) -> ParameterSmoothing:
        pairs = zip(self.transform.radii, self.checked_sigmas(values), strict=True)
        return replace(self, spreads=tuple(p.to_internal(s) for p, s in pairs))

    def to_json(self) -> dict[str, Any]:
        pairs = zip(self.transform.radii, self.spreads, strict=True)
        return {
            "kind": self.kind,
            "transform": self.transform.name,
            "sigma": [edge_number(p.to_edge(s)) for p, s in pairs],
        }

    @classmethod
    def from_json(cls, description: Mapping[str, Any]) -> ParameterSmoothing:
        transform = parse_transform(str(description["transform"]))
        if not isinstance(description["sigma"], list | tuple):
            raise InvalidValue(f"sigma is a list of numbers, not {description['sigma']!r}")
        edge = [as_number(s) for s in description["sigma"]]
        if len(edge) != len(transform.radii):
            raise InvalidValue(f"{transform.name} takes {len(transform.radii)} sigmas, not {len(edge)}")
        return cls(transform, tuple(p.to_internal(s) for p, s in zip(transform.radii, edge, strict=True)))

    def describe(self) -> str:
        pairs = zip(self.transform.radii, self.spreads, strict=True)
        sigmas = ", ".join(p.describe(p.to_edge(s)) for p, s in pairs)
        return f"random {self.transform.name}, sigma {sigmas}"


@dataclass(frozen=True)
class LinearShift(OneProbability):
    """The joint Neyman-Pearson check of scale and shift (docs/theory.md, "Linear maps")."""

    sigma: float
    name = "linear"

    def needed(self, radii: tuple[float, ...]) -> Threshold:
        return Threshold.of(required_p_a(self.sigma, radii[0]))

    def largest(self, p_a: float, radii: tuple[float, ...]) -> tuple[float, ...]:
        return (linear_radius(p_a, self.sigma),)


def sigmas_for(transform: Transform, known: Mapping[Transform, float]) -> tuple[float, ...] | None:
    """The sigmas of the transform's own radii; a composition vouches for its parts and their order, too.

    Rotation and twist about one axis commute, and a part alone is an attack whose other radii are zero.
    """
    parts = parts_of(transform)
    return tuple(known[part] for part in parts) if all(part in known for part in parts) else None
