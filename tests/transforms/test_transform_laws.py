"""Identity, inverse, composition and additivity, where they are claimed; and their failure where they are not."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.classifiers import small_cloud
from tpc_core.errors import UnsupportedRequest
from tpc_core.transforms import (
    Category,
    CoordinateNoise,
    GeneralRotation,
    Linear,
    Transform,
    ZYXRotation,
    all_transforms,
    parse_transform,
)
from tpc_core.transforms.so3 import matrix_from_vector, matrix_from_zyx

MOVES = [t for t in all_transforms() if not isinstance(t, CoordinateNoise)]
ADDITIVE = [t for t in MOVES if t.category is Category.ADDITIVE]
COMPOSABLE = [t for t in MOVES if t.category is Category.COMPOSABLE]
INDIRECT = [t for t in MOVES if t.category is Category.INDIRECT]
seeds = st.integers(0, 2**32 - 1)


def _z(transform: Transform, rng: np.random.Generator, *batch: int, size: float = 0.4) -> torch.Tensor:
    return torch.from_numpy(rng.uniform(-size, size, (*batch, transform.dim)))


def _cloud(rng: np.random.Generator, points: int = 7) -> torch.Tensor:
    return torch.from_numpy(rng.uniform(-0.57, 0.57, (points, 3)))


@pytest.mark.parametrize("transform", MOVES, ids=str)
def test_zero_is_the_identity(transform: Transform) -> None:
    points = small_cloud(20).points
    for kind in (torch.float32, torch.float64):
        moved = transform.apply(points.to(kind), transform.identity())
        assert moved.dtype == kind
        assert torch.equal(moved, points.to(kind))


@pytest.mark.parametrize("transform", ADDITIVE + COMPOSABLE, ids=str)
@given(seed=seeds)
@settings(max_examples=15, deadline=None)
def test_inverse_and_composition(transform: Transform, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, first, second = _cloud(rng), _z(transform, rng), _z(transform, rng)
    there = transform.apply(points, first)
    assert torch.allclose(transform.apply(there, transform.inverse(first)), points, atol=1e-10)
    joined = transform.apply(points, transform.compose(first, second))
    assert torch.allclose(transform.apply(there, second), joined, atol=1e-10)


@pytest.mark.parametrize("transform", ADDITIVE, ids=str)
@given(seed=seeds)
@settings(max_examples=15, deadline=None)
def test_additive_transforms_add(transform: Transform, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, first, second = _cloud(rng), _z(transform, rng, size=3), _z(transform, rng, size=3)
    twice = transform.apply(transform.apply(points, first), second)
    assert torch.allclose(twice, transform.apply(points, first + second), atol=1e-10)


@pytest.mark.parametrize("transform", [t for t in MOVES if t not in ADDITIVE], ids=str)
def test_the_others_do_not_add(transform: Transform) -> None:
    rng = np.random.default_rng(1)
    points, first = _cloud(rng), torch.full((transform.dim,), 0.4, dtype=torch.float64)
    second = first * torch.linspace(1.0, -0.7, transform.dim)
    twice = transform.apply(transform.apply(points, first), second)
    assert not torch.allclose(twice, transform.apply(points, first + second), atol=1e-3)


@pytest.mark.parametrize("transform", INDIRECT, ids=str)
def test_transforms_outside_their_family_do_not_pretend_to_compose(transform: Transform) -> None:
    with pytest.raises(UnsupportedRequest):
        transform.inverse(transform.identity())
    with pytest.raises(UnsupportedRequest):
        transform.compose(transform.identity(), transform.identity())


@pytest.mark.parametrize("transform", MOVES, ids=str)
def test_batches_of_clouds_and_parameters_broadcast(transform: Transform) -> None:
    rng = np.random.default_rng(2)
    clouds = torch.from_numpy(rng.uniform(-0.5, 0.5, (4, 1, 6, 3)))
    z = _z(transform, rng, 5)
    together = transform.apply(clouds, z)
    assert together.shape == (4, 5, 6, 3)
    for i in range(4):
        for j in range(5):
            assert torch.allclose(together[i, j], transform.apply(clouds[i, 0], z[j]), atol=1e-12)


@pytest.mark.parametrize("transform", MOVES, ids=str)
def test_float32_and_float64_agree(transform: Transform) -> None:
    rng = np.random.default_rng(3)
    points, z = _cloud(rng), _z(transform, rng)
    assert torch.allclose(transform.apply(points.float(), z).double(), transform.apply(points, z), atol=1e-6)


@pytest.mark.parametrize(("axis", "turn"), [("x", [0, 1, 2]), ("y", [1, 2, 0]), ("z", [2, 0, 1])])
def test_every_axis_turns_the_right_way(axis: str, turn: list[int]) -> None:
    """A quarter turn about z takes x to y; the others follow by cycling the axes."""
    along, first, second = (torch.eye(3, dtype=torch.float64)[i] for i in turn)
    quarter = torch.tensor([math.pi / 2], dtype=torch.float64)
    moved = parse_transform(f"{axis}-rotation").apply(torch.stack([along, first, second]), quarter)
    assert torch.allclose(moved, torch.stack([along, second, -first]), atol=1e-12)


@pytest.mark.parametrize("kind", ["rotation", "shear", "twist", "taper"])
def test_the_axes_are_one_transform_cycled(kind: str) -> None:
    rng = np.random.default_rng(4)
    points = _cloud(rng)
    transform = parse_transform(f"z-{kind}")
    z = _z(transform, rng)
    expected = transform.apply(points, z)
    for axis, order in (("x", [1, 2, 0]), ("y", [2, 0, 1])):
        cycled = torch.empty_like(points)
        cycled[:, order] = points  # z becomes the axis, x and y follow
        moved = parse_transform(f"{axis}-{kind}").apply(cycled, z)
        assert torch.allclose(moved[:, order], expected, atol=1e-12)


def test_formulas_of_the_paper() -> None:
    x, y, h, t = 0.3, -0.2, 0.5, 0.4
    point = torch.tensor([[x, y, h]], dtype=torch.float64)

    def moved(name: str, *z: float) -> list[float]:
        return parse_transform(name).apply(point, torch.tensor(z, dtype=torch.float64))[0].tolist()

    assert moved("z-taper", t) == pytest.approx([x * (1 + t * h), y * (1 + t * h), h])
    assert moved("z-shear", t, -0.1) == pytest.approx([x + t * h, y - 0.1 * h, h])
    c, s = math.cos(t * h), math.sin(t * h)
    assert moved("z-twist", t) == pytest.approx([c * x - s * y, s * x + c * y, h])


@given(seed=seeds)
@settings(max_examples=20, deadline=None)
def test_in_a_composition_the_last_name_acts_first(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = _cloud(rng)
    for name in (
        "z-twist+z-taper+z-rotation",
        "x-taper+x-rotation",
        "z-taper+x-rotation",
        "z-shear+x-rotation",
    ):
        whole = parse_transform(name)
        z = _z(whole, rng)
        step, place = points, whole.dim
        for part in reversed(name.split("+")):
            single = parse_transform(part)
            place -= single.dim
            step = single.apply(step, z[place : place + single.dim])
        assert torch.allclose(whole.apply(points, z), step, atol=1e-12)


@given(seed=seeds)
@settings(max_examples=30, deadline=None)
def test_rotations_are_rotations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for matrix in (
        matrix_from_vector(torch.from_numpy(rng.uniform(-4, 4, (5, 3)))),
        matrix_from_vector(torch.from_numpy(rng.uniform(-1e-9, 1e-9, (5, 3)))),
        matrix_from_zyx(torch.from_numpy(rng.uniform(-4, 4, (5, 3)))),
    ):
        assert torch.allclose(
            matrix @ matrix.transpose(-1, -2), torch.eye(3, dtype=torch.float64), atol=1e-12
        )
        assert torch.allclose(torch.linalg.det(matrix), torch.ones(5, dtype=torch.float64))


def test_zyx_is_x_then_y_then_z() -> None:
    rng = np.random.default_rng(5)
    points, (a, b, g) = _cloud(rng), rng.uniform(-1.5, 1.5, 3)
    step = points
    for name, angle in (("x-rotation", g), ("y-rotation", b), ("z-rotation", a)):
        step = parse_transform(name).apply(step, torch.tensor([angle]))
    assert torch.allclose(ZYXRotation().apply(points, torch.tensor([a, b, g])), step, atol=1e-12)


@pytest.mark.parametrize("transform", [t for t in MOVES if not isinstance(t, Linear)], ids=str)
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_edge_values_come_back(transform: Transform, data: st.DataObject) -> None:
    """Degrees at the edges, radians inside."""
    if isinstance(transform, GeneralRotation):
        values = [data.draw(st.floats(lo, hi)) for lo, hi in ((-179, 179), (-89, 89), (0.1, 180))]
    else:
        values = [data.draw(st.floats(p.low, p.high)) for p in transform.parameters]
    z = transform.from_edge(values)
    assert z.dtype == torch.float64
    assert transform.to_edge(z) == pytest.approx(values, abs=1e-6)
    named = transform.named_values(z)
    assert list(named) == [p.name for p in transform.parameters]
    if transform.name == "z-rotation":
        assert float(z[0]) == pytest.approx(math.radians(values[0]))


@pytest.mark.parametrize("transform", all_transforms(), ids=str)
@given(data=st.data())
@settings(max_examples=10, deadline=None)
def test_a_radius_reads_back_as_it_is_written(transform: Transform, data: st.DataObject) -> None:
    edge = [data.draw(st.floats(1e-3, p.largest_radius * (1 - 1e-9))) for p in transform.radii]
    radii = transform.parse_radius(edge)
    assert transform.parse_radius(transform.describe_radius(radii)) == pytest.approx(radii, rel=1e-10)
    assert transform.parse_radius(dict(zip([p.name for p in transform.radii], edge, strict=True))) == radii
    assert parse_transform(transform.name) == transform
