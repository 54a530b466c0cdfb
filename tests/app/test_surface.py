"""A mesh for the stage: faces that bend, edges that stay sharp, and nothing that was not there before."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from app.figures.cloud import MeshView
from app.figures.surface import LONGEST_EDGE, MOST_FACES, TOO_MANY, surface_of


def as_view(mesh: trimesh.Trimesh) -> MeshView:
    return MeshView(np.asarray(mesh.vertices), np.asarray(mesh.faces))


def area(vertices: np.ndarray, faces: np.ndarray) -> float:
    return float(trimesh.Trimesh(vertices, faces, process=False).area)


@pytest.mark.parametrize(
    "mesh",
    [trimesh.creation.box((1, 1, 1)), trimesh.creation.icosphere(2), trimesh.creation.cylinder(0.3, 1.2)],
)
def test_faces_are_small_and_the_surface_is_the_same(mesh: trimesh.Trimesh) -> None:
    made = surface_of(as_view(mesh))
    assert made is not None
    sides = np.diff(made.vertices[made.faces[:, [0, 1, 2, 0]]], axis=1)
    assert np.linalg.norm(sides, axis=2).max() <= LONGEST_EDGE + 1e-6
    assert area(made.vertices, made.faces) == pytest.approx(mesh.area, rel=1e-4)
    assert area(made.vertices, made.flat_faces) == pytest.approx(mesh.area, rel=1e-4)
    np.testing.assert_allclose(np.linalg.norm(made.normals, axis=1), 1, atol=1e-5)


def test_a_box_keeps_its_edges_and_a_ball_is_round() -> None:
    box = surface_of(as_view(trimesh.creation.box((1, 1, 1))))
    ball = surface_of(as_view(trimesh.creation.icosphere(3)))
    assert box is not None
    assert ball is not None
    assert np.abs(box.normals).max(axis=1).min() > 0.999  # every normal is that of a side
    straight_out = ball.vertices / np.linalg.norm(ball.vertices, axis=1, keepdims=True)
    assert np.einsum("vd,vd->v", straight_out, ball.normals).min() > 0.99


def test_the_same_mesh_is_worked_out_once_and_no_other_is_taken_for_it() -> None:
    one, two = trimesh.creation.box((1, 1, 1)), trimesh.creation.box((1, 1, 1.5))
    assert surface_of(as_view(one)) is surface_of(as_view(one.copy()))
    assert surface_of(as_view(one)) is not surface_of(as_view(two))


def test_a_fine_mesh_is_left_as_it_is_and_a_huge_one_is_left_out() -> None:
    fine = trimesh.creation.icosphere(6)
    assert len(fine.faces) > MOST_FACES
    made = surface_of(as_view(fine))
    assert made is not None
    assert len(made.faces) == len(fine.faces)
    assert surface_of(MeshView(np.zeros((3, 3)), np.zeros((TOO_MANY + 1, 3), dtype=int))) is None
    assert surface_of(MeshView(np.zeros((3, 3)), np.zeros((0, 3), dtype=int))) is None
