"""Every transform, by name. A new one is one file with a TRANSFORMS table and one line below."""

from __future__ import annotations

from tpc_core.errors import unknown_name
from tpc_core.transforms import (
    general_rotation,
    linear,
    noise,
    rotation,
    shear,
    taper,
    twist,
    zyx_rotation,
)
from tpc_core.transforms.base import AXES, Axis, Category, Parameter, RadiusInput, Reach, Transform
from tpc_core.transforms.composition import Composition, parts_of
from tpc_core.transforms.general_rotation import GeneralRotation
from tpc_core.transforms.linear import Linear
from tpc_core.transforms.noise import CoordinateNoise
from tpc_core.transforms.region import Ball, Box, Product, Region
from tpc_core.transforms.rotation import Rotation
from tpc_core.transforms.shader import shader
from tpc_core.transforms.shear import Shear
from tpc_core.transforms.taper import Taper
from tpc_core.transforms.twist import Twist
from tpc_core.transforms.zyx_rotation import ZYXRotation

_MODULES = (rotation, general_rotation, zyx_rotation, shear, twist, taper, linear, noise)
_COMPOSITIONS = ("twist+rotation", "taper+rotation", "twist+taper+rotation")

SINGLE: dict[str, Transform] = {t.name: t for module in _MODULES for t in module.TRANSFORMS}
"""Every transform that is not a composition."""


def parse_transform(name: str) -> Transform:
    """The transform of a name such as "z-taper" or "z-twist+z-taper+z-rotation"."""
    pieces = [piece.strip() for piece in name.split("+")]
    for piece in pieces:
        if piece not in SINGLE:
            raise unknown_name("transform", piece, sorted(SINGLE))
    if len(pieces) == 1:
        return SINGLE[pieces[0]]
    return Composition(tuple(SINGLE[piece] for piece in pieces))


def all_transforms() -> list[Transform]:
    """Every transform that can be certified, compositions included."""
    composed = [
        parse_transform("+".join(f"{axis}-{kind}" for kind in composition.split("+")))
        for composition in _COMPOSITIONS
        for axis in ("x", "y", "z")
    ]
    return [*SINGLE.values(), *composed]


__all__ = [
    "AXES",
    "SINGLE",
    "Axis",
    "Ball",
    "Box",
    "Category",
    "Composition",
    "CoordinateNoise",
    "GeneralRotation",
    "Linear",
    "Parameter",
    "Product",
    "RadiusInput",
    "Reach",
    "Region",
    "Rotation",
    "Shear",
    "Taper",
    "Transform",
    "Twist",
    "ZYXRotation",
    "all_transforms",
    "parse_transform",
    "parts_of",
    "shader",
]
