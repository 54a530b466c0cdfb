"""Rotation about any axis: a direction and an angle; composable, not additive."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from tpc_core.transforms.base import Array, Category, Parameter, Transform
from tpc_core.transforms.region import Ball
from tpc_core.transforms.so3 import (
    matrix_from_vector,
    multiply_quaternions,
    quaternion_from_vector,
    rotate,
    vector_from_quaternion,
)


def turning_norm(points: Array) -> float:
    """sqrt(tr C - lambda_min(C)): how far a rotation by a small unit angle can move this cloud."""
    moments = np.linalg.eigvalsh(points.T @ points)
    return math.sqrt(max(float(moments[1] + moments[2]), 0.0))


def chord(omega: Array) -> Array:
    """2 sin(omega / 2): the distance that a rotation by omega moves a point at distance one."""
    return np.asarray(2 * np.sin(np.minimum(omega, np.pi) / 2))


@dataclass(frozen=True)
class RotationVectorReach:
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
