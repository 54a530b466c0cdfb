"""Changes to a training cloud that are not the smoothing noise: more shapes than there are."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

from tpc_core.training.config import Augment


def augmented(points: Tensor, augment: Augment, generator: Generator) -> Tensor:
    """One random change per cloud, before the smoothing noise; (B, N, 3) -> (B, N, 3)."""
    clouds = len(points)

    def symmetric(*shape: int) -> Tensor:
        return 2 * torch.rand(clouds, *shape, generator=generator) - 1

    if augment.scale:
        points = points * (1 + augment.scale * symmetric(1, 3))
    if augment.flip:
        signs = torch.randint(2, (clouds, 1, 2), generator=generator) * 2.0 - 1
        points = torch.cat([points[..., :2] * signs, points[..., 2:]], dim=2)
    if augment.taper:
        factor = 1 + augment.taper * symmetric(1, 1) * points[..., 2:]
        points = torch.cat([points[..., :2] * factor, points[..., 2:]], dim=2)
    if augment.twist:
        points = _turned(points, math.radians(augment.twist) * symmetric(1) * points[..., 2])
    if augment.yaw:
        points = _turned(points, math.radians(augment.yaw) * symmetric(1))
    if augment.rotation:
        axes = torch.nn.functional.normalize(torch.randn(clouds, 3, generator=generator), dim=1)
        angles = math.radians(augment.rotation) * torch.rand(clouds, 1, generator=generator)
        points = points @ _rotation(axes * angles).transpose(1, 2)
    if augment.jitter:
        points = points + augment.jitter * torch.randn(points.shape, generator=generator)
    return points


def _turned(points: Tensor, angles: Tensor) -> Tensor:
    """Every point turned about z by its own angle; angles (B, N) or (B, 1)."""
    cos, sin = angles.cos(), angles.sin()
    x, y = points[..., 0], points[..., 1]
    return torch.stack([cos * x - sin * y, sin * x + cos * y, points[..., 2]], dim=2)


def _rotation(vectors: Tensor) -> Tensor:
    """Rotation matrices (B, 3, 3) of rotation vectors (B, 3)."""
    x, y, z = vectors.unbind(dim=1)
    zero = torch.zeros_like(x)
    skew = torch.stack([zero, -z, y, z, zero, -x, -y, x, zero], dim=1).view(-1, 3, 3)
    rotation: Tensor = torch.linalg.matrix_exp(skew)
    return rotation
