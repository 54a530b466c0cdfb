"""Taper along an axis: each slice grows or shrinks in proportion to its height; not composable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
from tpc_core.transforms.forms import CloudForm, Form
from tpc_core.transforms.region import Box

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Taper(Transform):
    """Scale each slice of the cloud by one plus the taper times its height."""

    axis: Axis = "z"
    category = Category.INDIRECT
    paper_radii = ((0.1,), (0.2,), (0.5,))

    @property
    def name(self) -> str:
        return f"{self.axis}-taper"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return (Parameter("taper", "", -0.95, 0.95, 0.01, 0.95),)

    def apply(self, points: Tensor, z: Tensor) -> Tensor:
        u, v, h = split_axis(points, self.axis)
        scale = 1 + z[..., 0, None].to(points) * h
        return join_axis(u * scale, v * scale, h, self.axis)

    def enclose(self, cloud: CloudForm, z: Sequence[Form]) -> CloudForm:
        u, v, h = split_forms(cloud, self.axis)
        scale = z[0] * h + 1.0
        return join_forms(u * scale, v * scale, h, self.axis)

    @property
    def glsl(self) -> str:
        return glsl_about(self.axis, "q.xy *= 1.0 + z[0] * q.z;")

    def region(self, radii: Sequence[float]) -> Box:
        return Box((radii[0],))

    def reach(self, points: Array) -> CylinderReach:
        return CylinderReach.of(points, self.axis, taper=0)


TRANSFORMS = tuple(Taper(axis) for axis in AXES)
