"""A shape: one object of a data set, the gallery or a file, from which clouds of any size are cut."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
import trimesh
from numpy.typing import NDArray

from tpc_core.cloud import Cloud, normalise
from tpc_core.data.limits import MAX_POINTS, MIN_POINTS
from tpc_core.errors import InvalidCloud


@dataclass(frozen=True)
class OrderedPoints:
    """Points in farthest-point order, z-up: (K, 3) float32, with (K,) int64 part ids where they are known."""

    points: NDArray[np.float32]
    parts: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.points)

    def first(self, count: int, name: str) -> tuple[torch.Tensor, torch.Tensor | None]:
        """The first `count` points, centred and scaled into the unit ball, and their part ids."""
        check_count(count, len(self), name)
        # Centred after choosing: the cloud that the network sees is itself centred, whatever its size.
        points = normalise(torch.from_numpy(np.ascontiguousarray(self.points[:count])))
        parts = None if self.parts is None else torch.from_numpy(self.parts[:count].astype(np.int64))
        return points, parts


@dataclass(frozen=True)
class Shape:
    """One object: its name, its class if known, its mesh if it has one, and its points.

    The mesh lies inside the unit ball, z-up; `cloud(n)` cuts a cloud of n points in farthest-point order.
    """

    name: str
    label: str | None
    mesh: trimesh.Trimesh | None = field(repr=False, compare=False)
    ordered: OrderedPoints = field(repr=False, compare=False)

    @property
    def max_points(self) -> int:
        """The largest cloud that this shape can give."""
        return min(len(self.ordered), MAX_POINTS)

    @property
    def has_parts(self) -> bool:
        """Whether every point knows which part it belongs to."""
        return self.ordered.parts is not None

    def cloud(self, points: int) -> Cloud:
        """The cloud of the first `points` points, centred and inside the unit ball."""
        chosen, parts = self.ordered.first(points, self.name)
        return Cloud(chosen, self.name, self.label, parts)

    def mesh_around(self, points: int) -> trimesh.Trimesh | None:
        """The mesh moved onto `cloud(points)`, for drawing one over the other.

        A smaller cloud has another centroid and another radius than the mesh, so each size has its own frame.
        """
        if self.mesh is None:
            return None
        check_count(points, len(self.ordered), self.name)
        chosen = self.ordered.points[:points].astype(np.float64)
        centre = chosen.mean(axis=0)
        moved = self.mesh.copy()
        moved.vertices = (moved.vertices - centre) / np.linalg.norm(chosen - centre, axis=1).max()
        return moved


def check_count(count: int, available: int, name: str) -> None:
    """Refuse a number of points that no cloud of this shape can have."""
    if not MIN_POINTS <= count <= MAX_POINTS:
        raise InvalidCloud(f"ask for between {MIN_POINTS} and {MAX_POINTS} points, not {count}")
    if count > available:
        raise InvalidCloud(f"{name} has {available} points on disk; ask for at most {available}, not {count}")
