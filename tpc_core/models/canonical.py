"""What a model may do to a cloud before it looks: bring it to a standard pose, position or size.

This happens inside the base classifier, after the noise, so every certificate stays valid: the theorems hold
for any base classifier. A pose that undoes part of a transform makes the votes agree under that transform.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

TINY = 1e-6
"""Keeps divisions finite for clouds that have no extent along an axis."""

FARTHEST_TWIST = 720.0
"""Twists are sought this far on both sides, in degrees: four sigmas of the noise, and room for a cloud's own."""

TWIST_STEP = 10.0
"""Degrees between the twists that are tried; between them a parabola decides."""


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


def untwisted(points: Tensor) -> Tensor:
    """The cloud without its z-twist: turned back by the twist after which its slices point the same way.

    Slices agree where sum r^2 exp(2i a) and sum r^2 exp(4i a) over all points, of radius r and angle a about z, are
    longest: the first knows a direction of largest extent, the second the sides of a square. A cloud that is twisted
    further has the same maximum, moved by that twist, as long as it stays in the range that is searched.
    """
    tried = torch.arange(0, FARTHEST_TWIST + 1, TWIST_STEP, device=points.device).deg2rad().to(points)
    x, y, z = points.unbind(dim=2)
    double = torch.stack([x.square() - y.square(), 2 * x * y], dim=2)
    a, b = double.unbind(dim=2)
    fourfold = torch.stack([a.square() - b.square(), 2 * a * b], dim=2)
    fourfold = fourfold / (x.square() + y.square() + TINY).unsqueeze(2)
    angle = 2 * tried.unsqueeze(1) * z.unsqueeze(1)
    cos, sin = angle.cos(), angle.sin()
    # |sum (a + ib) exp(-it)|^2 for t and for -t: the two differ in the sign of one product only.
    even, odd = _lengths(cos @ double, sin @ double)
    more_even, more_odd = _lengths((2 * cos.square() - 1) @ fourfold, (2 * sin * cos) @ fourfold)
    even, odd = even + more_even, odd + more_odd
    length = torch.cat([(even - odd)[:, 1:].flip(1), even + odd], dim=1)
    best = length.argmax(dim=1, keepdim=True).clamp(1, length.shape[1] - 2)
    before, here, after = (length.gather(1, best + move) for move in (-1, 0, 1))
    off = (0.5 * (before - after) / (before - 2 * here + after - TINY**2)).clamp(-1, 1)
    twist = (best + off) * math.radians(TWIST_STEP) - math.radians(FARTHEST_TWIST)
    cos, sin = (twist * z).cos(), (twist * z).sin()
    return torch.stack([cos * x + sin * y, cos * y - sin * x, z], dim=2)


def _lengths(cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    """Squared lengths of turned sums, (B, K, 2) each: the part that is even in the angle, and the odd one."""
    even = cos.square().sum(dim=2) + sin.square().sum(dim=2)
    return even, 2 * (cos[..., 0] * sin[..., 1] - cos[..., 1] * sin[..., 0])


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
    "untwisted": untwisted,
    "principal-yaw": principal_yaw,
    "principal-axes": principal_axes,
    "whitened": whitened,
}
