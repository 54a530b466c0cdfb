"""The numbers of an object for the stage: its points, its parts, its surface, under one digest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.figures.arrays import packed
from app.figures.cloud import MeshView
from app.figures.point_groups import PointGroups, part_groups
from app.figures.surface import Surface, surface_of

Scene = dict[str, Any]


def scene_of(
    points: NDArray[np.floating],
    mesh: MeshView | None = None,
    parts: NDArray[np.integer] | None = None,
    part_names: Mapping[int, str] | None = None,
    groups: PointGroups | None = None,
) -> Scene:
    """What the browser holds of an object; the same object has the same digest, and is sent once.

    `groups` take the place of `parts`.
    """
    cloud = np.ascontiguousarray(points, dtype="<f4")
    scene: Scene = {"points": packed(cloud.ravel())}
    digest = hashlib.blake2b(cloud.tobytes(), digest_size=12)
    if groups is None and parts is not None:
        groups = part_groups(parts, part_names or {})
    if groups is not None:
        numbers, names = groups.of_point, list(groups.names)
        scene |= {"parts": packed(numbers, "u1"), "part_names": names}
        digest.update(numbers.astype("u1").tobytes() + "|".join(names).encode())
    surface = None if mesh is None else surface_of(mesh)
    if surface is not None:
        name, arrays = _packed_surface(_Held(surface))
        scene |= arrays
        digest.update(name)
    return {"digest": digest.hexdigest(), **scene}


class _Held:
    """A surface as a key: `surface_of` gives the same object for the same mesh."""

    def __init__(self, surface: Surface) -> None:
        self.surface = surface

    def __hash__(self) -> int:
        return id(self.surface)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and self.surface is other.surface


@lru_cache(maxsize=16)
def _packed_surface(held: _Held) -> tuple[bytes, Scene]:
    surface = held.surface
    kind = "u2" if len(surface.vertices) < 65_536 else "u4"
    arrays = {
        "vertices": packed(surface.vertices.ravel()),
        "normals": packed(np.rint(127 * surface.normals).ravel(), "i1"),
        "faces": packed(surface.faces.ravel(), kind),
        "flat_faces": packed(surface.flat_faces.ravel(), kind),
    }
    content = surface.vertices.tobytes() + surface.faces.tobytes()
    return hashlib.blake2b(content, digest_size=12).digest(), arrays
