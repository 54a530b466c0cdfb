"""A canonical pose promises to undo its transform: the network then cannot see it."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from tpc_core.models.canonical import CANONICAL


@pytest.fixture
def points() -> Tensor:
    return torch.randn(4, 50, 3, generator=torch.Generator().manual_seed(0)) * torch.tensor([0.6, 0.35, 0.2])


def turned(points: Tensor, degrees: float) -> Tensor:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return points @ torch.tensor([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])


def test_unsheared_takes_out_any_z_shear(points: Tensor) -> None:
    sheared = points.clone()
    sheared[..., :2] += points[..., 2:] * torch.tensor([0.3, -0.7])
    torch.testing.assert_close(
        CANONICAL["unsheared"](sheared), CANONICAL["unsheared"](points), atol=1e-4, rtol=0
    )


def test_untwisted_takes_out_a_z_twist(points: Tensor) -> None:
    # A long box whose corners line up from bottom to top: its slices agree in one way only.
    box = points.clamp(-0.3, 0.3) * torch.tensor([2.0, 1.0, 3.0])
    plain = CANONICAL["untwisted"](box)
    torch.testing.assert_close(plain[..., 2], box[..., 2])
    for degrees in (-400.0, -33.0, 180.0):
        angle = math.radians(degrees) * box[..., 2]
        x, y = box[..., 0], box[..., 1]
        twisted = torch.stack(
            [angle.cos() * x - angle.sin() * y, angle.sin() * x + angle.cos() * y, box[..., 2]], dim=2
        )
        torch.testing.assert_close(CANONICAL["untwisted"](twisted), plain, atol=0.02, rtol=0)


def test_principal_yaw_takes_out_any_z_rotation_up_to_a_half_turn(points: Tensor) -> None:
    before, after = CANONICAL["principal-yaw"](points), CANONICAL["principal-yaw"](turned(points, 77))
    half_turn = turned(after, 180)
    distance = torch.minimum((after - before).abs().amax((1, 2)), (half_turn - before).abs().amax((1, 2)))
    assert float(distance.max()) < 1e-4


def test_principal_axes_are_a_rotation_that_sorts_the_extents(points: Tensor) -> None:
    moved = CANONICAL["principal-axes"](points)
    extents = moved.square().sum(dim=1)
    assert bool((extents.diff(dim=1) > 0).all())
    centred = points - points.mean(dim=1, keepdim=True)
    frames = torch.linalg.lstsq(centred, moved).solution
    torch.testing.assert_close(torch.linalg.det(frames), torch.ones(4), atol=1e-3, rtol=0)


def test_whitened_clouds_of_linear_maps_differ_by_a_rotation(points: Tensor) -> None:
    linear = torch.eye(3) + 0.1 * torch.randn(3, 3, generator=torch.Generator().manual_seed(1))
    before, after = CANONICAL["whitened"](points), CANONICAL["whitened"](points @ linear)
    gram = torch.linalg.lstsq(before, after).solution
    torch.testing.assert_close(gram @ gram.transpose(1, 2), torch.eye(3).expand(4, 3, 3), atol=0.05, rtol=0)


@pytest.mark.parametrize("name", list(CANONICAL))
def test_degenerate_clouds_stay_finite(name: str) -> None:
    line = torch.zeros(2, 10, 3)
    line[..., 2] = torch.linspace(-1, 1, 10)
    for points in (line, torch.zeros(2, 10, 3)):
        assert bool(torch.isfinite(CANONICAL[name](points)).all())
