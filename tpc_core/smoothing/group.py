"""Group smoothing: turn the cloud by a rotation that is uniform over a whole group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tpc_core.errors import unknown_name
from tpc_core.smoothing.base import Smoothing
from tpc_core.smoothing.noise import Noise
from tpc_core.smoothing.rules import Points, Rule, TopClass
from tpc_core.transforms import GeneralRotation, Rotation, Transform, ZYXRotation
from tpc_core.transforms.base import AXES
from tpc_core.transforms.so3 import matrix_from_quaternion, rotate

if TYPE_CHECKING:
    from torch import Tensor

_CIRCLES = {f"{axis}-rotation": Rotation(axis) for axis in AXES}
GROUPS = (*_CIRCLES, "so3")


@dataclass(frozen=True)
class GroupSmoothing(Smoothing):
    """eps uniform (Haar) on the circle of rotations about an axis, or on SO(3).

    q(.|x) is exactly invariant under the group, so a top class is a top class for every rotation.
    """

    group: str
    kind = "group"

    def __post_init__(self) -> None:
        if self.group not in GROUPS:
            raise unknown_name("group", self.group, list(GROUPS))

    def perturb(self, points: Tensor, noise: Noise) -> Tensor:
        if self.group == "so3":
            # A normalised Gaussian quaternion is uniform on SO(3); uniform Euler angles are not.
            return rotate(points, matrix_from_quaternion(noise.normal(points.shape[0], 4).to(points)))
        angle = 2 * math.pi * noise.uniform(points.shape[0], 1).to(points)
        return _CIRCLES[self.group].apply(points, angle)

    def rule(self, transform: Transform, points: Points) -> Rule | None:
        """The top-class test, where every member of the transform is a member of the group."""
        if self.group == "so3":
            inside = isinstance(transform, Rotation | GeneralRotation | ZYXRotation)
        else:
            inside = transform == _CIRCLES[self.group]
        return TopClass() if inside else None

    @property
    def sigmas(self) -> Mapping[str, float]:
        return {}

    def with_sigmas(self, values: Sequence[float]) -> GroupSmoothing:
        self.checked_sigmas(values)
        return self

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "group": self.group}

    @classmethod
    def from_json(cls, description: Mapping[str, Any]) -> GroupSmoothing:
        return cls(str(description["group"]))

    def describe(self) -> str:
        return "uniform over all rotations" if self.group == "so3" else f"uniform {self.group}"
