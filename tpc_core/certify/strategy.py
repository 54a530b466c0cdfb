"""Which theorem joins this transform with this smoothing? If none does, say what would."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from tpc_core.certify.single import DiffusionRule, L2Rule, LinearRule, ParameterRule, Rule
from tpc_core.cloud import Cloud
from tpc_core.covers.tree import FLOAT32_SLACK
from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.smoothing import (
    CoordinateSmoothing,
    CylinderSmoothing,
    GroupSmoothing,
    ParameterSmoothing,
    RotationDiffusion,
    Smoothing,
)
from tpc_core.transforms import CoordinateNoise, Linear, Transform, parts_of


@dataclass(frozen=True)
class Strategy:
    """How to certify: one probability (with its rule), a group, or a cover."""

    kind: Literal["single", "group", "cover"]
    rule: Rule | None = None


def choose_strategy(transform: Transform, smoothing: Smoothing, cloud: Cloud) -> Strategy:
    """The certificate that applies, or an UnsupportedRequest that names smoothings that would do."""
    if isinstance(smoothing, GroupSmoothing) and smoothing.contains(transform):
        return Strategy("group")
    if (
        isinstance(smoothing, RotationDiffusion)
        and transform.turning_angle((0.0,) * len(transform.radii)) is not None
    ):
        return Strategy("single", DiffusionRule(smoothing, transform))
    if isinstance(smoothing, CoordinateSmoothing):
        if isinstance(transform, CoordinateNoise):
            stretch = transform.l2_radius(1.0, len(cloud))
            slack = FLOAT32_SLACK * float(cloud.points.norm())
            return Strategy("single", L2Rule(smoothing.sigma, stretch, slack))
        return Strategy("cover")
    if isinstance(smoothing, CylinderSmoothing) and smoothing.serves(transform):
        sigmas = _sigmas_for(transform, smoothing.angle_sigmas)
        return Strategy("cover") if sigmas is None else Strategy("single", ParameterRule(sigmas))
    if isinstance(smoothing, ParameterSmoothing):
        if isinstance(transform, Linear) and smoothing.transform == transform:
            return Strategy("single", LinearRule(smoothing.sigmas[0]))
        if smoothing.transform == transform:
            return Strategy("single", ParameterRule(smoothing.sigmas))
        sigmas = _sigmas_for(
            transform, dict(zip(parts_of(smoothing.transform), smoothing.sigmas, strict=True))
        )
        if sigmas is not None:
            return Strategy("single", ParameterRule(sigmas))
    raise UnsupportedRequest(
        f"a model smoothed by {smoothing.describe()} cannot certify {transform.name}; {_advice(transform)}"
    )


def _sigmas_for(transform: Transform, known: Mapping[Transform, float]) -> tuple[float, ...] | None:
    """The sigmas of the transform's own radii; a composition vouches for its parts and their order, too."""
    parts = parts_of(transform)
    # Rotation and twist about one axis commute, and a part alone is an attack whose other radii are zero.
    return tuple(known[part] for part in parts) if all(part in known for part in parts) else None


def _advice(transform: Transform) -> str:
    if isinstance(transform, CoordinateNoise):
        return "take a model trained with coordinate noise"
    return f"take a model smoothed by {transform.name} or by coordinate noise"


def with_sigma(smoothing: Smoothing, sigma: tuple[float, ...] | None) -> Smoothing:
    """The same family with another sigma (edge units); the certificate stays valid, the model may suffer."""
    if sigma is None:
        return smoothing
    if isinstance(smoothing, CoordinateSmoothing):
        if len(sigma) != 1:
            raise InvalidValue(f"coordinate smoothing takes one sigma, not {len(sigma)}")
        return CoordinateSmoothing(sigma[0])
    if isinstance(smoothing, CylinderSmoothing):
        if len(sigma) != 3:
            raise InvalidValue(
                f"cylinder smoothing takes three sigmas (noise, twist, rotation), not {len(sigma)}"
            )
        return CylinderSmoothing(smoothing.axis, sigma[0], math.radians(sigma[1]), math.radians(sigma[2]))
    if isinstance(smoothing, RotationDiffusion):
        if len(sigma) != 1:
            raise InvalidValue(f"rotation diffusion takes one sigma, not {len(sigma)}")
        return RotationDiffusion(math.radians(sigma[0]))
    if isinstance(smoothing, ParameterSmoothing):
        radii = smoothing.transform.radii
        if len(sigma) != len(radii):
            raise InvalidValue(f"{smoothing.transform.name} takes {len(radii)} sigmas, not {len(sigma)}")
        return replace(smoothing, sigmas=tuple(p.to_internal(s) for p, s in zip(radii, sigma, strict=True)))
    raise InvalidValue("group smoothing is uniform: it has no sigma to set")
