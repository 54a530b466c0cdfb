"""Displacement formulas equal brute force where they claim to, and bound it from above everywhere."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tpc_core.transforms import (
    CoordinateNoise,
    GeneralRotation,
    Linear,
    Transform,
    all_transforms,
    parse_transform,
)
from tpc_core.transforms.so3 import matrix_from_vector, matrix_from_zyx

MOVES = [t for t in all_transforms() if not isinstance(t, CoordinateNoise)]
SIZES = {
    "rotation": 3.2,
    "twist": 6.0,
    "taper": 0.95,
    "shear": 2.0,
    "general": math.pi,
    "zyx": math.pi / 2,
    "linear": 0.9,
}
seeds = st.integers(0, 2**32 - 1)


def _cloud(rng: np.random.Generator) -> np.ndarray:
    """Clouds of all shapes: round, flat, long, off-centre, with points on the sphere."""
    points = rng.normal(size=(int(rng.integers(2, 12)), 3)) * rng.choice([0.05, 0.5, 1.0], size=3)
    points += rng.normal(size=3) * rng.choice([0, 0.5])
    return points / np.linalg.norm(points, axis=1).max()


def _sizes(transform: Transform) -> np.ndarray:
    if len(transform.radii) == transform.dim and "+" in transform.name:
        return np.array(
            [next(v for k, v in SIZES.items() if k in part) for part in transform.name.split("+")]
        )
    return np.full(transform.dim, next(v for k, v in SIZES.items() if k in transform.name))


def _distance(transform: Transform, points: np.ndarray, z: np.ndarray, other: np.ndarray) -> np.ndarray:
    cloud = torch.from_numpy(points)
    moved = transform.apply(cloud, torch.from_numpy(z)) - transform.apply(cloud, torch.from_numpy(other))
    return moved.flatten(-2).norm(dim=-1).numpy()


def _box(transform: Transform, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    sizes = _sizes(transform)
    ends = np.sort(rng.uniform(-sizes, sizes, (2, len(sizes))), axis=0)
    if rng.random() < 0.5:  # small boxes, too
        ends[1] = np.minimum(ends[0] + rng.uniform(0, 0.1, len(sizes)) * sizes, sizes)
    return ends[0], ends[1]


def _corners(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    if len(low) <= 4:
        return np.array(list(itertools.product(*zip(low, high, strict=True))))
    pick = np.random.default_rng(0).integers(0, 2, (64, len(low)))
    return np.where(pick, high, low)


@pytest.mark.parametrize("transform", MOVES, ids=str)
@given(seed=seeds)
@settings(max_examples=25, deadline=None)
def test_the_reach_of_a_box_bounds_every_displacement_in_it(transform: Transform, seed: int) -> None:
    """Random, edge and corner points of random boxes, from the centre and from other points of the box."""
    rng = np.random.default_rng(seed)
    points = _cloud(rng)
    low, high = _box(transform, rng)
    inside = rng.uniform(low, high, (200, len(low)))
    edges = np.where(
        rng.random(inside.shape) < 0.6, np.where(rng.random(inside.shape) < 0.5, low, high), inside
    )
    places = np.vstack([inside, edges, _corners(low, high)])
    for centre in ((low + high) / 2, rng.uniform(low, high)):
        span = np.array([np.linalg.norm(np.maximum(high - centre, centre - low))])
        reach = float(transform.reach(points)(centre[None], low[None], high[None], span)[0])
        farthest = float(_distance(transform, points, places, centre[None]).max())
        assert farthest <= reach * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize(
    "name", ["z-taper", "x-taper", "z-rotation", "y-rotation", "z-shear", "x-shear", "z-taper+z-rotation"]
)
@given(seed=seeds)
@settings(max_examples=25, deadline=None)
def test_exact_displacements_are_exact(name: str, seed: int) -> None:
    """The reach of the box between two parameters is attained at its corner."""
    transform = parse_transform(name)
    rng = np.random.default_rng(seed)
    points = _cloud(rng)
    sizes = np.minimum(_sizes(transform), 1.5)
    centre = rng.uniform(-sizes, sizes) * 0.5
    step = rng.uniform(0, sizes) * 0.4
    low, high = centre - step, centre + step
    reach = float(
        transform.reach(points)(centre[None], low[None], high[None], np.array([np.linalg.norm(step)]))[0]
    )
    attained = float(_distance(transform, points, _corners(low, high), centre[None]).max())
    assert reach == pytest.approx(attained, rel=1e-5, abs=1e-9)


@given(seed=seeds)
@settings(max_examples=25, deadline=None)
def test_linear_displacement_is_the_frobenius_norm(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = _cloud(rng)
    change = rng.normal(size=(3, 3))
    gram = points.T @ points
    exact = math.sqrt(np.trace(change @ gram @ change.T))
    assert exact == pytest.approx(float(_distance(Linear(), points, change.ravel(), np.zeros(9))), rel=1e-9)
    centre = np.zeros((1, 9))
    far = np.abs(change).reshape(1, 9)
    reach = float(Linear().reach(points)(centre, -far, far, np.array([np.linalg.norm(change)]))[0])
    assert exact <= reach * (1 + 1e-9)


@given(seed=seeds)
@settings(max_examples=100, deadline=None)
def test_nearby_rotation_vectors_give_nearby_rotations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    w = rng.normal(size=(50, 3)) * rng.uniform(0, 3, (50, 1))
    other = w + rng.normal(size=(50, 3)) * 10.0 ** rng.uniform(-3, 0.5, (50, 1))
    product = matrix_from_vector(torch.from_numpy(w)).transpose(-1, -2) @ matrix_from_vector(
        torch.from_numpy(other)
    )
    # The angle from the antisymmetric part and the trace: exact for small angles, too.
    sine = (
        torch.stack(
            [
                product[:, 2, 1] - product[:, 1, 2],
                product[:, 0, 2] - product[:, 2, 0],
                product[:, 1, 0] - product[:, 0, 1],
            ],
            dim=-1,
        ).norm(dim=-1)
        / 2
    )
    cosine = (product.diagonal(dim1=-2, dim2=-1).sum(dim=-1) - 1) / 2
    omega = torch.atan2(sine, cosine).numpy()
    assert np.all(omega <= np.linalg.norm(w - other, axis=1) + 1e-9)


@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_the_turning_norm_is_attained(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = _cloud(rng)
    values, vectors = np.linalg.eigh(points.T @ points)
    angle = rng.uniform(0.1, 3.1)
    w = (vectors[:, 0] * angle)[None]
    reach = float(GeneralRotation().reach(points)(np.zeros((1, 3)), w, w, np.array([angle]))[0])
    assert reach == pytest.approx(
        float(_distance(GeneralRotation(), points, w, np.zeros((1, 3)))[0]), rel=1e-6, abs=1e-7
    )
    assert values[0] <= values[1]


@pytest.mark.parametrize("degrees", [2, 5, 30, 60, 85, 90])
def test_an_euler_box_lies_in_the_ball_of_twice_its_angle(degrees: float) -> None:
    """The smallest ball of rotation vectors that holds a zyx box (docs/theory.md, "Covers of rotations")."""
    phi = math.radians(degrees)
    rng = np.random.default_rng(0)
    angles = np.vstack([rng.uniform(-phi, phi, (20_000, 3)), _corners(np.full(3, -phi), np.full(3, phi))])
    matrices = matrix_from_zyx(torch.from_numpy(angles))
    cosine = (matrices.diagonal(dim1=-2, dim2=-1).sum(dim=-1) - 1) / 2
    largest = float(torch.arccos(cosine.clamp(-1, 1)).max())
    smallest_ball = math.acos(max(-1.0, (3 * math.cos(phi) ** 2 - math.sin(phi) ** 3 - 1) / 2))
    assert largest <= smallest_ball + 1e-7
    assert largest == pytest.approx(smallest_ball, abs=1e-6)
    assert smallest_ball <= 2 * phi + 1e-9
