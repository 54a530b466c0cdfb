"""A smoothing in one word, as people type it: noise:0.05, z-twist:20, group:z-rotation, diffusion:30."""

from __future__ import annotations

from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.smoothing.base import Smoothing
from tpc_core.smoothing.coordinate import CoordinateSmoothing
from tpc_core.smoothing.diffusion import RotationDiffusion
from tpc_core.smoothing.group import GroupSmoothing
from tpc_core.smoothing.parameter import ParameterSmoothing
from tpc_core.transforms import Category, CoordinateNoise, Linear, Transform, parse_transform

FORMS = "noise:0.05, z-twist:20, z-twist+z-rotation:20,10, group:z-rotation or diffusion:30"


def parse_smoothing(text: str) -> Smoothing:
    """The smoothing of a word; angles are in degrees."""
    name, colon, rest = text.partition(":")
    if not colon or not rest:
        raise InvalidValue(f"cannot read {text!r} as a smoothing; write it like {FORMS}")
    if name == "group":
        return GroupSmoothing(rest)
    sigmas = _numbers(text, rest)
    if name == "noise":
        return CoordinateSmoothing(_single(text, sigmas))
    if name == "diffusion":
        return RotationDiffusion.from_json({"sigma": _single(text, sigmas)})
    return ParameterSmoothing.from_json({"transform": parse_transform(name).name, "sigma": sigmas})


def smoothing_for(transform: Transform, sigma: float | tuple[float, ...]) -> Smoothing:
    """The smoothing that suits a transform best, at this sigma in the transform's own units.

    A transform whose attacks add up is smoothed by itself; any other by noise on the coordinates.
    """
    sigmas = [float(s) for s in sigma] if isinstance(sigma, tuple) else [float(sigma)]
    additive = transform.category is Category.ADDITIVE or isinstance(transform, Linear)
    if additive and not isinstance(transform, CoordinateNoise):
        if len(sigmas) == 1:
            sigmas *= len(transform.radii)
        return ParameterSmoothing.from_json({"transform": transform.name, "sigma": sigmas})
    if len(sigmas) != 1:
        raise UnsupportedRequest(f"{transform.name} is smoothed by coordinate noise, which has one sigma")
    return CoordinateSmoothing(sigmas[0])


def _numbers(text: str, rest: str) -> list[float]:
    try:
        return [float(piece) for piece in rest.split(",")]
    except ValueError:
        raise InvalidValue(f"cannot read {text!r} as a smoothing; write it like {FORMS}") from None


def _single(text: str, sigmas: list[float]) -> float:
    if len(sigmas) != 1:
        raise InvalidValue(f"{text.partition(':')[0]} has one sigma, not {len(sigmas)}")
    return sigmas[0]
