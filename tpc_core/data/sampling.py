"""From a surface to points: area-weighted sampling, then the farthest-point order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tpc_core.errors import InvalidCloud

SURFACE_SAMPLES = 10_000
"""Candidates drawn on a mesh before farthest-point sampling; the count modelnet40_normal_resampled ships."""

SURFACE_SEED = 0
"""The same mesh gives the same points on every machine and every run."""


def sample_surface(
    vertices: NDArray[np.float64], faces: NDArray[np.int64], count: int = SURFACE_SAMPLES
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw points uniformly by area on a triangle mesh.

    vertices: (V, 3), faces: (F, 3) -> points (count, 3) and the face that each point lies on, (count,).
    """
    corners = vertices[faces]
    edge_a, edge_b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    areas = 0.5 * np.linalg.norm(np.cross(edge_a, edge_b), axis=1)
    total = float(areas.sum())
    if not np.isfinite(total) or total <= 0:
        raise InvalidCloud("the mesh has no surface: every face has zero area")
    rng = np.random.default_rng(SURFACE_SEED)
    # One jittered draw per equal slice of area: still area-weighted, with fewer clumps than plain draws.
    positions = (np.arange(count) + rng.random(count)) * (total / count)
    chosen = np.searchsorted(np.cumsum(areas), positions, side="right").clip(max=len(faces) - 1)
    u, v = rng.random((2, count, 1))
    outside = u + v > 1
    u, v = np.where(outside, 1 - u, u), np.where(outside, 1 - v, v)
    return corners[chosen, 0] + u * edge_a[chosen] + v * edge_b[chosen], chosen.astype(np.int64)


def farthest_point_order(points: NDArray[np.floating], count: int) -> NDArray[np.int64]:
    """Order points so that each is the farthest from all before it; (K, 3) -> (min(count, K),) indices.

    It starts from the point farthest from the centroid, so the answer does not depend on how the points were
    shuffled (save for exact ties). Every prefix of the order is itself a farthest-point sample.
    """
    # Three contiguous float32 rows: at 10,000 points all of it stays in the L2 cache.
    x, y, z = np.ascontiguousarray(points.T, dtype=np.float32)
    count = min(count, len(x))
    order = np.empty(count, dtype=np.int64)
    nearest = np.full(len(x), np.inf, dtype=np.float32)
    squared, scratch = np.empty_like(x), np.empty_like(x)
    centre = np.asarray(points, dtype=np.float64).mean(axis=0).astype(np.float32)
    _squared_distance(x, y, z, centre, squared, scratch)
    chosen = int(squared.argmax())
    for step in range(count):
        order[step] = chosen
        _squared_distance(x, y, z, (x[chosen], y[chosen], z[chosen]), squared, scratch)
        np.minimum(nearest, squared, out=nearest)
        # A point already taken must never win again, even when all that is left are its duplicates.
        nearest[chosen] = -1
        chosen = int(nearest.argmax())
    return order


def _squared_distance(
    x: NDArray[np.float32],
    y: NDArray[np.float32],
    z: NDArray[np.float32],
    origin: NDArray[np.float32] | tuple[np.float32, np.float32, np.float32],
    out: NDArray[np.float32],
    scratch: NDArray[np.float32],
) -> None:
    """Write the squared distance of every point to the origin into `out`, without allocating."""
    np.subtract(x, origin[0], out=out)
    np.multiply(out, out, out=out)
    for row, coordinate in ((y, origin[1]), (z, origin[2])):
        np.subtract(row, coordinate, out=scratch)
        np.multiply(scratch, scratch, out=scratch)
        np.add(out, scratch, out=out)
