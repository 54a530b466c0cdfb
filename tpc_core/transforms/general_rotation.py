"""Rotation about any axis: a direction and an angle; composable, not additive."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tpc_core.lazy_torch import torch
from tpc_core.transforms.base import Array, Category, Parameter, Reach, Transform
from tpc_core.transforms.forms import UPWARDS, CloudForm, Form, widened
from tpc_core.transforms.region import Ball
from tpc_core.transforms.so3 import (
    left_jacobian,
    matrix_from_vector,
    multiply_quaternions,
    quaternion_from_vector,
    rotate,
    vector_from_quaternion,
)

if TYPE_CHECKING:
    from torch import Tensor


def turning_norm(points: Array) -> float:
    """sqrt(tr C - lambda_min(C)): how far a rotation by a small unit angle can move this cloud."""
    moments = np.linalg.eigvalsh(points.T @ points)
    return math.sqrt(max(float(moments[1] + moments[2]), 0.0))


def chord(omega: Array) -> Array:
    """2 sin(omega / 2): the distance that a rotation by omega moves a point at distance one."""
    return np.asarray(2 * np.sin(np.minimum(omega, np.pi) / 2))


def _length(sides: Sequence[Tensor]) -> Tensor:
    """The Euclidean length of what has these three sides, rounded up; however small they are."""
    x, y, z = sides
    return torch.hypot(torch.hypot(x, y), z) * UPWARDS


@dataclass(frozen=True)
class RotationVectorReach(Reach):
    """Nearby rotation vectors give nearby rotations: omega(exp w, exp w') <= |w - w'|."""

    turning: float

    def __call__(self, centre: Array, low: Array, high: Array, span: Array) -> Array:
        return chord(span) * self.turning


@dataclass(frozen=True)
class GeneralRotation(Transform):
    """Turn the cloud about any axis; z is the rotation vector (axis times angle)."""

    category = Category.COMPOSABLE
    paper_radii = ((5.0,), (10.0,), (15.0,))

    @property
    def name(self) -> str:
        return "general-rotation"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return (
            Parameter("azimuth", "deg", -180.0, 180.0, 1.0, 180.0),
            Parameter("elevation", "deg", -90.0, 90.0, 1.0, 90.0),
            Parameter("angle", "deg", 0.0, 180.0, 1.0, 180.0),
        )

    @property
    def radii(self) -> tuple[Parameter, ...]:
        return (self.parameters[2],)

    def from_edge(self, values: Sequence[float]) -> Tensor:
        azimuth, elevation, angle = super().from_edge(values).tolist()
        across = math.cos(elevation)
        direction = [across * math.cos(azimuth), across * math.sin(azimuth), math.sin(elevation)]
        return torch.tensor([angle * v for v in direction], dtype=torch.float64)

    def to_edge(self, z: Tensor) -> tuple[float, ...]:
        x, y, h = (float(v) for v in z)
        azimuth, elevation = math.atan2(y, x), math.atan2(h, math.hypot(x, y))
        return math.degrees(azimuth), math.degrees(elevation), math.degrees(math.hypot(x, y, h))

    def apply(self, points: Tensor, z: Tensor) -> Tensor:
        return rotate(points, matrix_from_vector(z))

    def enclose(self, cloud: CloudForm, z: Sequence[Form]) -> CloudForm:
        """First order in the rotation vector: d exp(w) p = (J dw) x exp(w) p, J the left Jacobian at the cell's centre.

        The second derivative of exp along a line of skew matrices is at most the squared speed (Duhamel's formula), so
        what is left is at most |p| |dw|^2 / 2 long.
        """
        w = torch.cat([form.centre for form in z], dim=1)
        matrix = matrix_from_vector(w)
        forms = [form.spread(len(w)) for form in cloud]
        centre = torch.stack([form.centre for form in forms], dim=1)
        turned = matrix @ centre
        moving = left_jacobian(w) @ torch.stack([form.generators[..., 0] for form in z], dim=1)
        first = torch.linalg.cross(moving.transpose(1, 2).unsqueeze(3), turned.unsqueeze(1), dim=2)
        generators = torch.stack([form.generators for form in forms], dim=2)
        generators = matrix.unsqueeze(1) @ generators + first
        away = _length([form.radius for form in z])
        length = _length(list(centre.abs().unbind(1)))
        loose = _length([form.radius for form in forms])
        rest = length * away.square() / 2 + loose * torch.clamp(away, max=2.0)
        errors = matrix.abs() @ torch.stack([form.error for form in forms], dim=1)
        size = torch.stack([form.magnitude for form in forms]).sum(dim=0)
        scale = 4 * size * (1 + torch.linalg.vector_norm(w, dim=1, keepdim=True) + away) ** 2
        x, y, h = (
            widened(turned[:, k], generators[:, :, k], errors[:, k] + rest * UPWARDS, scale) for k in range(3)
        )
        return x, y, h

    @property
    def glsl(self) -> str:
        return """
            vec3 w = vec3(z[0], z[1], z[2]);
            float angle = length(w);
            if (angle < 1e-6) return p + cross(w, p);
            vec3 k = w / angle;
            vec2 turn = tpcCosSin(angle);
            return p * turn.x + cross(k, p) * turn.y + k * dot(k, p) * (1.0 - turn.x);
        """

    @property
    def glsl_from_edge(self) -> str:
        return """
            vec2 azimuth = tpcCosSin(z[0]), elevation = tpcCosSin(z[1]);
            vec3 axis = z[2] * vec3(elevation.x * azimuth, elevation.y);
            z[0] = axis.x; z[1] = axis.y; z[2] = axis.z;
        """

    def inverse(self, z: Tensor) -> Tensor:
        return -z

    def compose(self, first: Tensor, second: Tensor) -> Tensor:
        product = multiply_quaternions(quaternion_from_vector(second), quaternion_from_vector(first))
        return vector_from_quaternion(product)

    def region(self, radii: Sequence[float]) -> Ball:
        return Ball(min(radii[0], math.pi), 3)

    def turning_angle(self, radii: Sequence[float]) -> float:
        return min(radii[0], math.pi)

    def reach(self, points: Array) -> RotationVectorReach:
        return RotationVectorReach(turning_norm(points))


TRANSFORMS = (GeneralRotation(),)
