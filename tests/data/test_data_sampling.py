"""Sampling promises: uniform by area, spread out, the same every time."""

from __future__ import annotations

import numpy as np
import pytest

from tpc_core.data.geometry import Geometry, checked_geometry, ordered_points, z_up
from tpc_core.data.sampling import farthest_point_order, sample_surface
from tpc_core.errors import InvalidCloud


def naive_order(points: np.ndarray, count: int) -> list[int]:
    """Farthest-point sampling as its definition reads, in float64."""
    order = [int(np.linalg.norm(points - points.mean(axis=0), axis=1).argmax())]
    while len(order) < count:
        gaps = np.linalg.norm(points[:, None] - points[order][None], axis=2).min(axis=1)
        order.append(int(gaps.argmax()))
    return order


def test_the_order_is_that_of_the_definition(rng: np.random.Generator) -> None:
    points = rng.normal(size=(200, 3))
    assert farthest_point_order(points, 60).tolist() == naive_order(points, 60)


def test_every_prefix_is_the_smaller_sample(rng: np.random.Generator) -> None:
    points = rng.normal(size=(500, 3))
    assert farthest_point_order(points, 32).tolist() == farthest_point_order(points, 256)[:32].tolist()


def test_the_sample_does_not_depend_on_the_order_of_the_input(rng: np.random.Generator) -> None:
    points = rng.normal(size=(300, 3))
    shuffled = points[rng.permutation(300)]
    one, other = points[farthest_point_order(points, 50)], shuffled[farthest_point_order(shuffled, 50)]
    assert np.array_equal(one, other)


def test_no_index_comes_twice_even_among_duplicates() -> None:
    points = np.repeat(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), 20, axis=0)
    assert sorted(farthest_point_order(points, 60).tolist()) == list(range(60))


def test_points_fall_on_faces_by_their_area() -> None:
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [5, 0, 0], [8, 0, 0], [5, 1, 0]], dtype=np.float64)
    _, faces = sample_surface(vertices, np.array([[0, 1, 2], [3, 4, 5]]), 4000)
    assert abs((faces == 1).mean() - 0.75) < 0.01


def test_points_lie_on_the_face_that_they_name(tetrahedron: tuple[np.ndarray, np.ndarray]) -> None:
    vertices, faces = tetrahedron
    points, source = sample_surface(vertices, faces, 500)
    for point, face in zip(points, source, strict=True):
        a, b, c = vertices[faces[face]]
        weights = np.linalg.lstsq(np.stack([b - a, c - a], axis=1), point - a, rcond=None)[0]
        assert np.allclose(a + weights @ np.stack([b - a, c - a]), point)
        assert weights.min() >= -1e-12
        assert weights.sum() <= 1 + 1e-12


def test_a_zero_area_face_is_never_hit() -> None:
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 0, 0]], dtype=np.float64)
    _, faces = sample_surface(vertices, np.array([[0, 1, 3], [0, 1, 2], [2, 2, 2]]), 1000)
    assert set(faces.tolist()) == {1}


def test_a_mesh_without_surface_is_refused() -> None:
    with pytest.raises(InvalidCloud, match="zero area"):
        sample_surface(np.eye(3), np.array([[0, 0, 1]]), 10)


def test_y_up_becomes_z_up_by_a_quarter_turn_about_x() -> None:
    assert z_up(np.array([[1.0, 2, 3]])).tolist() == [[1, -3, 2]]


def test_the_same_mesh_gives_the_same_points(tetrahedron: tuple[np.ndarray, np.ndarray]) -> None:
    geometry = checked_geometry(Geometry(*tetrahedron), "mesh")
    assert np.array_equal(ordered_points(geometry)[0].points, ordered_points(geometry)[0].points)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e12])
@pytest.mark.parametrize("offset", [0.0, 3.0])
def test_scale_and_place_do_not_matter(
    tetrahedron: tuple[np.ndarray, np.ndarray], scale: float, offset: float
) -> None:
    vertices, faces = tetrahedron
    here = checked_geometry(Geometry(vertices, faces), "mesh").vertices
    there = checked_geometry(Geometry((vertices + offset) * scale, faces), "mesh").vertices
    assert np.allclose(here, there)


def test_a_stray_vertex_does_not_shrink_the_mesh(tetrahedron: tuple[np.ndarray, np.ndarray]) -> None:
    vertices, faces = tetrahedron
    stray = checked_geometry(Geometry(np.vstack([vertices, [[1e6, 0, 0]]]), faces), "mesh")
    assert np.array_equal(stray.vertices, checked_geometry(Geometry(vertices, faces), "mesh").vertices)
