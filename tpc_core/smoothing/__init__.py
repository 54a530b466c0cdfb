"""Smoothing distributions: what is random when the base classifier votes, and what the votes then prove.

A new one is one file and one line in the table below.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tpc_core.errors import InvalidValue, TpcError, UnsupportedRequest, unknown_name
from tpc_core.smoothing.base import Smoothing
from tpc_core.smoothing.coordinate import CoordinateSmoothing
from tpc_core.smoothing.cylinder import CylinderSmoothing
from tpc_core.smoothing.diffusion import RotationDiffusion
from tpc_core.smoothing.group import GROUPS, GroupSmoothing
from tpc_core.smoothing.noise import ManyBlocksNoise, Noise, NoiseStream, TorchNoise, stream_keys
from tpc_core.smoothing.parameter import ParameterSmoothing
from tpc_core.smoothing.philox import GENERATOR
from tpc_core.smoothing.rules import Cover, GaussianShift, OneProbability, Points, Rule, Threshold, TopClass
from tpc_core.smoothing.spoken import parse_smoothing, smoothing_for
from tpc_core.transforms import CoordinateNoise, Transform

SMOOTHINGS: dict[str, type[Smoothing]] = {
    smoothing.kind: smoothing
    for smoothing in (
        ParameterSmoothing,
        CoordinateSmoothing,
        RotationDiffusion,
        CylinderSmoothing,
        GroupSmoothing,
    )
}
"""Every smoothing by its name in JSON."""


def smoothing_from_json(description: Mapping[str, Any]) -> Smoothing:
    """The smoothing of a description such as {"kind": "parameter", "transform": "z-twist", "sigma": [60]}."""
    kind = str(description.get("kind"))
    if kind not in SMOOTHINGS:
        raise unknown_name("kind of smoothing", kind, list(SMOOTHINGS))
    try:
        smoothing = SMOOTHINGS[kind].from_json(description)
    except KeyError as missing:
        if isinstance(missing, TpcError):
            raise
        raise InvalidValue(f"{kind} smoothing lacks the field {missing.args[0]!s}") from None
    unknown = set(description) - set(smoothing.to_json())
    if unknown:
        raise InvalidValue(f"{kind} smoothing has no field {sorted(map(str, unknown))[0]!r}")
    return smoothing


def rule_for(transform: Transform, smoothing: Smoothing, points: Points) -> Rule:
    """The rule by which this smoothing certifies a transform, or an UnsupportedRequest that says what would."""
    rule = smoothing.rule(transform, points)
    if rule is not None:
        return rule
    advice = (
        "take a model trained with coordinate noise"
        if isinstance(transform, CoordinateNoise)
        else f"take a model smoothed by {transform.name} or by coordinate noise"
    )
    raise UnsupportedRequest(
        f"a model smoothed by {smoothing.describe()} cannot certify {transform.name}; {advice}"
    )


__all__ = [
    "GENERATOR",
    "GROUPS",
    "SMOOTHINGS",
    "CoordinateSmoothing",
    "Cover",
    "CylinderSmoothing",
    "GaussianShift",
    "GroupSmoothing",
    "ManyBlocksNoise",
    "Noise",
    "NoiseStream",
    "OneProbability",
    "ParameterSmoothing",
    "Points",
    "RotationDiffusion",
    "Rule",
    "Smoothing",
    "Threshold",
    "TopClass",
    "TorchNoise",
    "parse_smoothing",
    "rule_for",
    "smoothing_for",
    "smoothing_from_json",
    "stream_keys",
]
