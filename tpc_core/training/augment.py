"""Changes to a training cloud that are not the smoothing noise: more shapes than there are."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from tpc_core.training.config import Augment

ANCHORS = 4
"""Regions of a cloud that are deformed differently."""

REGION = 0.5
"""Their size, in units of the cloud's radius."""


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
        axes = F.normalize(torch.randn(clouds, 3, generator=generator), dim=1)
        angles = math.radians(augment.rotation) * torch.rand(clouds, 1, generator=generator)
        points = points @ _rotation(axes * angles).transpose(1, 2)
    if augment.deform:
        points = _deformed(points, augment.deform, generator)
    if augment.shift:
        points = points + augment.shift * symmetric(1, 3)
    if augment.drop:
        points = _dropped(points, augment.drop, generator)
    if augment.jitter:
        points = points + augment.jitter * torch.randn(points.shape, generator=generator)
    return points


def mixed(
    points: Tensor, targets: Tensor, classes: int, share: float, generator: Generator
) -> tuple[Tensor, Tensor]:
    """In a share of the clouds, a region gives way to points of another cloud, and the target follows suit.

    (B, N, 3), (B,) -> (B, N, 3), (B, classes). As in PointCutMix: the target is the share of points of each class.
    """
    clouds, size = points.shape[:2]
    own = F.one_hot(targets, classes).to(points.dtype)
    anchors = points[torch.arange(clouds), torch.randint(size, (clouds,), generator=generator)]
    rank = (points - anchors.unsqueeze(1)).square().sum(dim=2).argsort(dim=1).argsort(dim=1)
    part = torch.rand(clouds, generator=generator) * (torch.rand(clouds, generator=generator) < share)
    taken = rank < (part * size).to(torch.int64).unsqueeze(1)
    other = torch.randperm(clouds, generator=generator)
    part = taken.to(points.dtype).mean(dim=1, keepdim=True)
    return torch.where(taken.unsqueeze(2), points[other], points), (1 - part) * own + part * own[other]


def _deformed(points: Tensor, strength: float, generator: Generator) -> Tensor:
    """Smoothly different scales and shifts around four points of the cloud (in the manner of PointWOLF)."""
    clouds = len(points)
    shape = (clouds, ANCHORS, 1, 3)
    chosen = torch.randint(points.shape[1], (clouds, ANCHORS, 1), generator=generator)
    anchors = points.gather(1, chosen.expand(-1, -1, 3)).unsqueeze(2)
    offsets = points.unsqueeze(1) - anchors
    scales = strength * (2 * torch.rand(shape, generator=generator) - 1)
    shifts = 0.5 * strength * (2 * torch.rand(shape, generator=generator) - 1)
    nearness = torch.softmax(-offsets.square().sum(dim=3, keepdim=True) / (2 * REGION**2), dim=1)
    return points + (nearness * (scales * offsets + shifts)).sum(dim=1)


def _dropped(points: Tensor, most: float, generator: Generator) -> Tensor:
    """Up to a share of the points replaced by copies of others: a max over points then sees fewer of them."""
    clouds, size = points.shape[:2]
    rate = most * torch.rand(clouds, 1, generator=generator)
    lost = torch.rand(clouds, size, generator=generator) < rate
    source = torch.where(lost, torch.randint(size, (clouds, size), generator=generator), torch.arange(size))
    return points.gather(1, source.unsqueeze(2).expand(-1, -1, 3))


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
