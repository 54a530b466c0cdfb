"""What a model may do to a cloud before it looks: bring it to a standard pose, position or size.

This happens inside the base classifier, after the noise, so every certificate stays valid: the theorems hold
for any base classifier. A pose that undoes part of a transform makes the votes agree under that transform.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

TINY = 1e-6
"""Keeps divisions finite for clouds that have no extent along an axis."""


def as_given(points: Tensor) -> Tensor:
    """The cloud unchanged."""
    return points


def centred(points: Tensor) -> Tensor:
    """The cloud moved so that its mean is at the origin; (B, N, 3) -> (B, N, 3)."""
    return points - points.mean(dim=1, keepdim=True)


def unit_size(points: Tensor) -> Tensor:
    """The cloud centred and scaled so that its points lie at radius 1 / sqrt(2) in the root mean square."""
    points = centred(points)
    mean_square = points.square().sum(dim=2).mean(dim=1)
    return points * torch.rsqrt(2 * mean_square + TINY).view(-1, 1, 1)


def unsheared(points: Tensor) -> Tensor:
    """The cloud without its z-shear: the part of x and y that is linear in z is taken out."""
    points = centred(points)
    z = points[..., 2:]
    slope = (points[..., :2] * z).sum(dim=1, keepdim=True) / (z.square().sum(dim=1, keepdim=True) + TINY)
    return torch.cat([points[..., :2] - slope * z, z], dim=2)


def principal_yaw(points: Tensor) -> Tensor:
    """The cloud turned about z so that its horizontal extent is largest along x (up to a half turn)."""
    points = centred(points)
    x, y = points[..., 0], points[..., 1]
    angle = 0.5 * torch.atan2(2 * (x * y).sum(dim=1), (x.square() - y.square()).sum(dim=1))
    cos, sin = angle.cos().unsqueeze(1), angle.sin().unsqueeze(1)
    return torch.stack([cos * x + sin * y, cos * y - sin * x, points[..., 2]], dim=2)


def principal_axes(points: Tensor) -> Tensor:
    """The cloud in the frame of its principal axes, as a proper rotation (which of the four is not fixed)."""
    points = centred(points)
    _, axes = torch.linalg.eigh(points.transpose(1, 2) @ points)
    axes = torch.cat([axes[..., :2], torch.linalg.cross(axes[..., 0], axes[..., 1]).unsqueeze(2)], dim=2)
    return points @ axes


def whitened(points: Tensor) -> Tensor:
    """The cloud with its covariance made round: of a linear map, only a rotation is left."""
    points = centred(points)
    values, axes = torch.linalg.eigh(points.transpose(1, 2) @ points / points.shape[1])
    root = axes * torch.rsqrt(values.clamp_min(0) + 1e-3).unsqueeze(1)
    rounded: Tensor = 0.4 * points @ (root @ axes.transpose(1, 2))
    return rounded


CANONICAL: dict[str, Callable[[Tensor], Tensor]] = {
    "none": as_given,
    "centred": centred,
    "unit-size": unit_size,
    "unsheared": unsheared,
    "principal-yaw": principal_yaw,
    "principal-axes": principal_axes,
    "whitened": whitened,
}
