"""Rotation about a coordinate axis: one angle, additive."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tpc_core.lazy_torch import torch
from tpc_core.transforms.base import (
    AXES,
    Array,
    Axis,
    Category,
    Parameter,
    Transform,
    glsl_about,
    join_axis,
    join_forms,
    split_axis,
    split_forms,
)
from tpc_core.transforms.cylinder import CylinderReach
from tpc_core.transforms.forms import CloudForm, Form, turn
from tpc_core.transforms.region import Box

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Rotation(Transform):
    """Turn the cloud about an axis by an angle."""

    axis: Axis = "z"
    category = Category.ADDITIVE
    paper_radii = ((20.0,), (60.0,), (180.0,))

    @property
    def name(self) -> str:
        return f"{self.axis}-rotation"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return (Parameter("rotation", "deg", -180.0, 180.0, 1.0, 180.0),)

    def apply(self, points: Tensor, z: Tensor) -> Tensor:
        u, v, h = split_axis(points, self.axis)
        angle = z[..., 0, None].to(points)
        cos, sin = torch.cos(angle), torch.sin(angle)
        return join_axis(cos * u - sin * v, sin * u + cos * v, h, self.axis)

    def enclose(self, cloud: CloudForm, z: Sequence[Form]) -> CloudForm:
        u, v, h = split_forms(cloud, self.axis)
        return join_forms(*turn(u, v, z[0]), h, self.axis)

    @property
    def glsl(self) -> str:
        return glsl_about(self.axis, "q.xy = tpcTurn(q.xy, z[0]);")

    def region(self, radii: Sequence[float]) -> Box:
        return Box((min(radii[0], math.pi),))

    def turning_angle(self, radii: Sequence[float]) -> float:
        return min(radii[0], math.pi)

    def reach(self, points: Array) -> CylinderReach:
        return CylinderReach.of(points, self.axis, rotation=0)


TRANSFORMS = tuple(Rotation(axis) for axis in AXES)
