"""Shear along an axis: each slice slides sideways in proportion to its height; additive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tpc_core.transforms.base import (
    AXES,
    Array,
    Axis,
    Category,
    Parameter,
    Reach,
    Transform,
    axis_order,
    glsl_about,
    join_axis,
    join_forms,
    split_axis,
    split_forms,
)
from tpc_core.transforms.forms import CloudForm, Form
from tpc_core.transforms.region import Ball

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class ShearReach(Reach):
    """A shear moves the cloud by exactly ||dz|| * sqrt(sum h_i^2)."""

    height_norm: float

    def __call__(self, centre: Array, low: Array, high: Array, span: Array) -> Array:
        return span * self.height_norm


@dataclass(frozen=True)
class Shear(Transform):
    """Slide each slice of the cloud by the shear vector times its height."""

    axis: Axis = "z"
    category = Category.ADDITIVE
    paper_radii = ((0.03,), (0.1,), (0.2,))

    @property
    def name(self) -> str:
        return f"{self.axis}-shear"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        u, v, _ = axis_order(self.axis)
        return tuple(Parameter(f"shear-{AXES[i]}", "", -1.0, 1.0, 0.01, 2.0) for i in (u, v))

    @property
    def radii(self) -> tuple[Parameter, ...]:
        return (Parameter("shear", "", 0.0, 1.0, 0.01, 2.0),)

    def apply(self, points: Tensor, z: Tensor) -> Tensor:
        u, v, h = split_axis(points, self.axis)
        along_u, along_v = z[..., 0, None].to(points), z[..., 1, None].to(points)
        return join_axis(u + along_u * h, v + along_v * h, h, self.axis)

    def enclose(self, cloud: CloudForm, z: Sequence[Form]) -> CloudForm:
        u, v, h = split_forms(cloud, self.axis)
        return join_forms(u + z[0] * h, v + z[1] * h, h, self.axis)

    @property
    def glsl(self) -> str:
        return glsl_about(self.axis, "q.xy += vec2(z[0], z[1]) * q.z;")

    def region(self, radii: Sequence[float]) -> Ball:
        return Ball(radii[0], 2)

    def reach(self, points: Array) -> ShearReach:
        return ShearReach(float(np.linalg.norm(points[:, axis_order(self.axis)[2]])))


TRANSFORMS = tuple(Shear(axis) for axis in AXES)
