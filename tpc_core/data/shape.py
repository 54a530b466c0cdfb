"""A shape: one object of a data set, the gallery or a file, from which clouds of any size are cut."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import trimesh

from tpc_core.cloud import Cloud
from tpc_core.data.limits import MAX_POINTS
from tpc_core.data.ordered import OrderedPoints as OrderedPoints
from tpc_core.data.ordered import check_count


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
