"""Rotations as vectors, quaternions, matrices and Euler angles; batched, differentiable."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tpc_core.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor


def matrix_from_vector(w: Tensor) -> Tensor:
    """exp of the rotation vector w (*batch, 3): turn about w by the angle |w| (Rodrigues)."""
    angle = torch.linalg.vector_norm(w, dim=-1)[..., None, None]
    zero = torch.zeros_like(w[..., 0])
    x, y, z = w.unbind(-1)
    cross = _matrices([zero, -z, y, z, zero, -x, -y, x, zero])
    # sinc stays exact where the angle is near zero: torch.sinc(a) = sin(pi a) / (pi a).
    first = torch.sinc(angle / math.pi)
    second = 0.5 * torch.sinc(angle / (2 * math.pi)) ** 2
    return torch.eye(3, dtype=w.dtype, device=w.device) + first * cross + second * (cross @ cross)


def _matrices(entries: list[Tensor]) -> Tensor:
    """Nine tensors (*batch), row by row, as matrices (*batch, 3, 3)."""
    return torch.stack(entries, dim=-1).reshape(*entries[0].shape, 3, 3)


def matrix_from_quaternion(q: Tensor) -> Tensor:
    """The rotation matrix (*batch, 3, 3) of a quaternion (*batch, 4), scalar first, any length but zero."""
    w, x, y, z = (q / torch.linalg.vector_norm(q, dim=-1, keepdim=True)).unbind(-1)
    rows = [
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    ]  # fmt: skip
    return _matrices(rows)


def quaternion_from_vector(w: Tensor) -> Tensor:
    """The unit quaternion (*batch, 4), scalar first, of a rotation vector."""
    angle = torch.linalg.vector_norm(w, dim=-1, keepdim=True)
    return torch.cat([torch.cos(angle / 2), 0.5 * torch.sinc(angle / (2 * math.pi)) * w], dim=-1)


def vector_from_quaternion(q: Tensor) -> Tensor:
    """The rotation vector of length at most pi of a unit quaternion, scalar first."""
    q = torch.where(q[..., :1] < 0, -q, q)
    sine = torch.linalg.vector_norm(q[..., 1:], dim=-1, keepdim=True)
    half = torch.atan2(sine, q[..., :1])
    return 2 * q[..., 1:] / torch.sinc(half / math.pi).clamp_min(1e-300)


def multiply_quaternions(left: Tensor, right: Tensor) -> Tensor:
    """The quaternion of "right, then left"."""
    a, b, c, d = left.unbind(-1)
    e, f, g, h = right.unbind(-1)
    parts = [a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g]
    parts += [a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e]
    return torch.stack(parts, dim=-1)


def matrix_from_zyx(angles: Tensor) -> Tensor:
    """R_z(alpha) R_y(beta) R_x(gamma) for angles (*batch, 3) = (alpha, beta, gamma)."""
    (ca, cb, cg), (sa, sb, sg) = torch.cos(angles).unbind(-1), torch.sin(angles).unbind(-1)
    rows = [
        ca * cb, ca * sb * sg - sa * cg, ca * sb * cg + sa * sg,
        sa * cb, sa * sb * sg + ca * cg, sa * sb * cg - ca * sg,
        -sb, cb * sg, cb * cg,
    ]  # fmt: skip
    return _matrices(rows)


def zyx_from_matrix(matrix: Tensor) -> Tensor:
    """The Euler angles (alpha, beta, gamma), beta in [-pi/2, pi/2], of a rotation matrix."""
    alpha = torch.atan2(matrix[..., 1, 0], matrix[..., 0, 0])
    beta = torch.asin((-matrix[..., 2, 0]).clamp(-1, 1))
    gamma = torch.atan2(matrix[..., 2, 1], matrix[..., 2, 2])
    return torch.stack([alpha, beta, gamma], dim=-1)


def rotate(points: Tensor, matrix: Tensor) -> Tensor:
    """Each point of (*batch, N, 3) multiplied by its batch's matrix (*batch, 3, 3)."""
    return points @ matrix.to(points).transpose(-1, -2)
