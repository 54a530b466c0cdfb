"""The moving figures of the Theory page show what the theorems say."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from tpc_core.smoothing import RotationDiffusion, TorchNoise
from tpc_core.teaching import angle_density, evidence_paths, uniform_angle_density, worst_half_space


def test_the_worst_half_space_holds_p_a_and_half_of_it_is_left_at_the_radius() -> None:
    found = worst_half_space(0.9, np.array([0.0, 1.2815515655446004]))
    assert found.kept == pytest.approx([0.9, 0.5], abs=1e-6)


@pytest.mark.parametrize("sigma", [0.3, 0.8, 2.0])
def test_the_angle_of_the_heat_kernel_is_a_density_and_becomes_uniform(sigma: float) -> None:
    angles = np.linspace(1e-6, math.pi, 4001)
    density = angle_density(sigma, angles)
    assert density.min() > -1e-6
    assert np.trapezoid(density, angles) == pytest.approx(1, abs=1e-3)
    assert np.abs(angle_density(5.0, angles) - uniform_angle_density(angles)).max() < 1e-3


def test_drawn_rotations_have_the_angles_of_the_heat_kernel() -> None:
    sigma = 0.6
    angles = np.linspace(1e-6, math.pi, 4001)
    mean = float(np.trapezoid(angles * angle_density(sigma, angles), angles))
    noise = TorchNoise(torch.Generator().manual_seed(3))
    frames = torch.eye(3, dtype=torch.float64).expand(20_000, 3, 3)
    turned = RotationDiffusion(sigma).perturb(frames, noise)
    trace = torch.einsum("bii->b", turned).numpy()
    drawn = np.arccos(np.clip((trace - 1) / 2, -1, 1))
    assert float(drawn.mean()) == pytest.approx(mean, abs=4 * float(drawn.std()) / math.sqrt(len(drawn)))


def test_few_false_claims_ever_reach_the_bar_and_true_ones_do() -> None:
    false = evidence_paths(0.8, 0.8, 0.05, 500, 400, seed=1)
    assert false.crossed <= 0.05 * 400 + 3 * math.sqrt(0.05 * 0.95 * 400)
    true = evidence_paths(0.97, 0.8, 0.05, 500, 20, seed=1)
    assert true.crossed == 20
