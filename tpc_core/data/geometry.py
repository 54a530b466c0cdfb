"""Raw geometry: vertices, perhaps with triangles, checked once at the border."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import trimesh
from numpy.typing import NDArray

from tpc_core.data.limits import MAX_COORDINATE, MAX_FACES, MAX_POINTS, MAX_VERTICES
from tpc_core.data.ordered import OrderedPoints
from tpc_core.data.sampling import SURFACE_SAMPLES, SURFACE_SEED, farthest_point_order, sample_surface
from tpc_core.errors import InvalidCloud, InvalidFile

# +90 degrees about x: what was up along y points up along z; exact, with no cosine of 90 degrees in it.
_Y_UP_TO_Z_UP = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]], dtype=np.float64)


def z_up(points: NDArray[np.floating]) -> NDArray[np.float64]:
    """Turn y-up points (..., 3) to z-up: (x, y, z) becomes (x, -z, y)."""
    with np.errstate(invalid="ignore"):  # NaN and infinity are refused in a sentence, by checked_geometry
        return np.asarray(points, dtype=np.float64) @ _Y_UP_TO_Z_UP.T


@dataclass(frozen=True)
class Geometry:
    """Vertices (V, 3) float64 and triangles (F, 3) int64; a cloud has no triangles (None)."""

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64] | None = None

    def turned_z_up(self) -> Geometry:
        """The same geometry, from y-up to z-up."""
        return Geometry(z_up(self.vertices), self.faces)


def checked_geometry(geometry: Geometry, name: str) -> Geometry:
    """The geometry inside the unit ball, without unused vertices, or an error that says what is wrong."""
    vertices, faces = geometry.vertices, geometry.faces
    if vertices.ndim != 2 or vertices.shape[1] != 3:
        raise InvalidFile(f"{name}: points have shape {vertices.shape}, not (N, 3)")
    if len(vertices) > MAX_VERTICES:
        raise InvalidFile(f"{name} has {len(vertices):,} vertices, more than {MAX_VERTICES:,}")
    if faces is not None:
        if len(faces) > MAX_FACES:
            raise InvalidFile(f"{name} has {len(faces):,} faces, more than {MAX_FACES:,}")
        if faces.size and not 0 <= faces.min() <= faces.max() < len(vertices):
            raise InvalidFile(f"{name}: a face names a vertex that is not there")
        vertices, faces = _used_vertices(vertices, faces)
    if len(vertices) == 0:
        raise InvalidCloud(f"{name} is empty: it holds no points and no surface")
    if not bool(np.isfinite(vertices).all()):
        bad = int((~np.isfinite(vertices)).any(axis=1).sum())
        raise InvalidCloud(f"{name}: {bad} of {len(vertices)} points hold NaN or infinity")
    if float(np.abs(vertices).max()) > MAX_COORDINATE:
        raise InvalidCloud(f"{name}: coordinates reach past {MAX_COORDINATE:g}; no length unit needs that")
    if len(vertices) == 1:
        raise InvalidCloud(f"{name} is a single point, which has no shape")
    # The box, not the mean: a vertex-dense corner must not push the rest of the mesh off centre.
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    centred = vertices - (low + high) / 2
    radius = float(np.linalg.norm(centred, axis=1).max())
    if radius <= 1e-12 * max(1.0, float(np.abs(vertices).max())):
        raise InvalidCloud(f"{name}: all points coincide, so there is no shape to look at")
    return Geometry(centred / radius, faces)


def ordered_points(geometry: Geometry) -> tuple[OrderedPoints, NDArray[np.int64]]:
    """The farthest-point order of a checked geometry, and per point the face (or input point) it is from."""
    if geometry.faces is not None:
        candidates, source = sample_surface(geometry.vertices, geometry.faces)
    else:
        source = _thinned(len(geometry.vertices))
        candidates = geometry.vertices[source]
    order = farthest_point_order(candidates, MAX_POINTS)
    return OrderedPoints(candidates[order].astype(np.float32)), source[order]


def as_trimesh(geometry: Geometry) -> trimesh.Trimesh | None:
    """The geometry as a mesh to draw, or None for a cloud."""
    if geometry.faces is None:
        return None
    return trimesh.Trimesh(geometry.vertices, geometry.faces, process=False)


def _used_vertices(
    vertices: NDArray[np.float64], faces: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Drop vertices that no face uses: a stray one would shrink the object inside the unit ball."""
    used, renumbered = np.unique(faces, return_inverse=True)
    return vertices[used], renumbered.reshape(faces.shape).astype(np.int64)


def _thinned(count: int) -> NDArray[np.int64]:
    """At most SURFACE_SAMPLES of `count` points, so that a scan of millions is ordered as fast as a mesh."""
    if count <= SURFACE_SAMPLES:
        return np.arange(count, dtype=np.int64)
    chosen = np.random.default_rng(SURFACE_SEED).choice(count, SURFACE_SAMPLES, replace=False)
    return np.sort(chosen).astype(np.int64)
