"""Certificates are not only right but near the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.classifiers import broken_at, marked_cloud, parameter_model, simulated_votes, small_cloud
from tpc_core.certify import Budget, Options, certify
from tpc_core.transforms import CoordinateNoise

SMALL = small_cloud()


@pytest.mark.parametrize(
    ("transform", "sigma", "truth"), [("z-rotation", 20, 30.0), ("z-twist", 30, 50.0), ("z-shear", 0.1, 0.15)]
)
def test_a_hundred_thousand_samples_reach_95_percent_of_the_exact_radius(
    transform: str, sigma: float, truth: float
) -> None:
    internal = truth if transform == "z-shear" else math.radians(truth)
    normal = [1.0, 0.0] if transform == "z-shear" else [1.0]
    model = parameter_model(transform, [sigma], normal, internal)
    with simulated_votes():
        found = certify(
            model,
            marked_cloud(transform),
            transform,
            None,
            Options(largest=True, budget=Budget(samples=100_000)),
        )
    radius = next(iter(found.radius.values()))
    assert 0.95 * truth <= radius <= truth


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_the_same_for_coordinate_noise(norm: str) -> None:
    sigma, truth = 0.2, 0.35
    normal = np.sign(np.random.default_rng(0).normal(size=(6, 3))) / math.sqrt(18)
    start = float((SMALL.points.double().numpy() * normal).sum())
    base = broken_at(SMALL, "z-taper", [0.3], sigma)
    from dataclasses import replace

    model = replace(base, normal=normal, threshold=start + truth)
    with simulated_votes():
        found = certify(model, SMALL, norm, None, Options(largest=True, budget=Budget(samples=100_000)))
    radius = CoordinateNoise(norm).l2_radius(found.radius[norm], 6)  # type: ignore[arg-type]
    assert 0.95 * truth <= radius <= truth


def test_real_votes_reach_the_same() -> None:
    truth = 25.0
    model = parameter_model("z-rotation", [20], [1.0], math.radians(truth))
    found = certify(
        model,
        marked_cloud("z-rotation"),
        "z-rotation",
        None,
        Options(largest=True, budget=Budget(samples=30_000)),
    )
    assert 0.93 * truth <= found.radius["rotation"] <= truth


def test_an_adaptive_cover_comes_near_the_truth() -> None:
    with simulated_votes():
        found = certify(broken_at(SMALL, "z-taper", [0.5], 0.2), SMALL, "z-taper", 0.45, Options())
    assert found.verdict == "certified"


def test_certain_votes_certify_any_rotation_of_a_group() -> None:
    from tests.certificate.made import genuine

    assert genuine("group").radius == {"angle": 180.0}
