"""A mesh as the stage draws it: faces small enough to bend, and normals that keep sharp edges sharp."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import trimesh
from numpy.typing import NDArray
from trimesh.graph import smooth_shade
from trimesh.remesh import subdivide_to_size

from app.figures.cloud import MeshView

LONGEST_EDGE = 0.13
"""In units of the ball's radius: a face twisted by half a turn still looks round."""
MOST_FACES = 40_000
"""Faces that software can draw fast enough; a finer mesh is left as it is."""
TOO_MANY = 200_000
"""Faces of a mesh that is not drawn at all: its points say as much."""
CREASE = np.radians(35.0)
"""Faces that meet at a larger angle have an edge between them."""


@dataclass(frozen=True)
class Surface:
    """Vertices (V, 3) with unit normals (V, 3), faces that can bend (F, 3), and the few that need not (G, 3)."""

    vertices: NDArray[np.float32]
    normals: NDArray[np.float32]
    faces: NDArray[np.uint32]
    flat_faces: NDArray[np.uint32]
    """The mesh as it came, for what is drawn at rest: each face costs time at every frame."""


def surface_of(mesh: MeshView) -> Surface | None:
    """The mesh ready to be drawn, worked out once for the same numbers; None where it has too many faces."""
    if len(mesh.faces) > TOO_MANY or not len(mesh.faces):
        return None
    vertices = np.ascontiguousarray(mesh.vertices, dtype=np.float64)
    faces = np.ascontiguousarray(mesh.faces, dtype=np.int64)
    return _known(_Numbers(vertices, faces))


class _Numbers:
    """Arrays that are the same key where they hold the same numbers, whoever they belong to."""

    def __init__(self, vertices: NDArray[np.float64], faces: NDArray[np.int64]) -> None:
        self.vertices, self.faces = vertices, faces
        self._digest = hashlib.blake2b(vertices.tobytes() + faces.tobytes(), digest_size=16).digest()

    def __hash__(self) -> int:
        return hash(self._digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Numbers) and self._digest == other._digest


@lru_cache(maxsize=32)
def _known(numbers: _Numbers) -> Surface:
    mesh = trimesh.Trimesh(numbers.vertices, numbers.faces, process=True)
    shaded = smooth_shade(mesh, angle=CREASE) if len(mesh.faces) < MOST_FACES else mesh
    corners, normals = np.asarray(shaded.vertices), np.asarray(shaded.vertex_normals)
    whole = np.asarray(shaded.faces)
    vertices, faces, owner = _subdivided(corners, whole)
    between = _interpolated(vertices, faces, owner, corners, normals, whole)
    return Surface(
        np.concatenate([vertices, corners]).astype(np.float32),
        np.concatenate([between, normals]).astype(np.float32),
        faces.astype(np.uint32),
        (whole + len(vertices)).astype(np.uint32),
    )


def _subdivided(
    vertices: NDArray[np.float64], faces: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Smaller faces, and the face that each is a piece of; larger ones again where there would be too many."""
    if len(faces) >= MOST_FACES:
        return vertices, faces, np.arange(len(faces))
    longest = LONGEST_EDGE
    while True:
        made, pieces, owner = subdivide_to_size(vertices, faces, longest, max_iter=12, return_index=True)
        if len(pieces) <= MOST_FACES:
            return np.asarray(made), np.asarray(pieces), np.asarray(owner)
        longest *= 1.4


def _interpolated(
    vertices: NDArray[np.float64],
    faces: NDArray[np.int64],
    owner: NDArray[np.int64],
    corners: NDArray[np.float64],
    normals: NDArray[np.float64],
    whole: NDArray[np.int64],
) -> NDArray[np.float64]:
    """The normal at every new vertex, between those of the corners of the face that it lies in."""
    face_of = np.zeros(len(vertices), dtype=np.int64)
    face_of[faces.ravel()] = np.repeat(owner, 3)
    around = whole[face_of]
    shares = trimesh.triangles.points_to_barycentric(corners[around], vertices, method="cramer")
    shares = np.nan_to_num(shares, nan=1 / 3).clip(0.0, 1.0)
    mixed = np.einsum("vc,vcd->vd", shares, normals[around])
    length = np.linalg.norm(mixed, axis=1, keepdims=True)
    return np.where(length > 1e-9, mixed / np.maximum(length, 1e-9), [0.0, 0.0, 1.0])
