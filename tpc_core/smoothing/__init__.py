"""Smoothing distributions: what is random when the base classifier votes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tpc_core.errors import InvalidValue, unknown_name
from tpc_core.smoothing.base import CoverSmoothing, Smoothing
from tpc_core.smoothing.coordinate import CoordinateSmoothing
from tpc_core.smoothing.cylinder import CylinderSmoothing
from tpc_core.smoothing.diffusion import RotationDiffusion
from tpc_core.smoothing.group import GROUPS, GroupSmoothing
from tpc_core.smoothing.noise import Noise, NoiseStream, NumpyNoise, TorchNoise
from tpc_core.smoothing.parameter import ParameterSmoothing
from tpc_core.smoothing.philox import PhiloxNoise
from tpc_core.transforms import parse_transform


def smoothing_from_json(description: Mapping[str, Any]) -> Smoothing:
    """The smoothing of a description such as {"kind": "parameter", "transform": "z-twist", "sigma": [60]}."""
    kind = str(description.get("kind"))
    fields = {
        "parameter": {"kind", "transform", "sigma"},
        "coordinate": {"kind", "sigma"},
        "diffusion": {"kind", "sigma"},
        "cylinder": {"kind", "axis", "sigma", "twist", "rotation"},
        "group": {"kind", "group"},
    }
    if kind not in fields:
        raise unknown_name("kind of smoothing", kind, list(fields))
    if set(description) != fields[kind]:
        raise InvalidValue(
            f"{kind} smoothing has the fields {sorted(fields[kind])}, not {sorted(description)}"
        )
    if kind == "group":
        return GroupSmoothing(str(description["group"]))
    if kind == "coordinate":
        return CoordinateSmoothing(_number(description["sigma"]))
    if kind == "diffusion":
        return RotationDiffusion(math.radians(_number(description["sigma"])))
    if kind == "cylinder":
        angles = (math.radians(_number(description[name])) for name in ("twist", "rotation"))
        return CylinderSmoothing(description["axis"], _number(description["sigma"]), *angles)
    transform = parse_transform(str(description["transform"]))
    if not isinstance(description["sigma"], list | tuple):
        raise InvalidValue(f"sigma is a list of numbers, not {description['sigma']!r}")
    edge = [_number(s) for s in description["sigma"]]
    if len(edge) != len(transform.radii):
        raise InvalidValue(f"{transform.name} takes {len(transform.radii)} sigmas, not {len(edge)}")
    pairs = zip(transform.radii, edge, strict=True)
    return ParameterSmoothing(transform, tuple(p.to_internal(s) for p, s in pairs))


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidValue(f"sigma is a number, not {value!r}")
    return float(value)


__all__ = [
    "GROUPS",
    "CoordinateSmoothing",
    "CoverSmoothing",
    "CylinderSmoothing",
    "GroupSmoothing",
    "Noise",
    "NoiseStream",
    "NumpyNoise",
    "ParameterSmoothing",
    "PhiloxNoise",
    "RotationDiffusion",
    "Smoothing",
    "TorchNoise",
    "smoothing_from_json",
]
