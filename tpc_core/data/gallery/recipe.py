"""A recipe: what an object of the gallery is called, what it is, and how it is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tpc_core.data.gallery.solids import Solid
from tpc_core.data.names import SHAPENET_PARTS


@dataclass(frozen=True)
class Recipe:
    """One object of the gallery, in the pose of ModelNet40: z up, and facing as most of its class do."""

    name: str
    category: str
    title: str
    make: Callable[[], Solid]
    shapenet: str | None = None
    """The category of the ShapeNet part benchmark whose parts it carries."""


def part_ids(category: str) -> dict[str, int]:
    """Word -> part id, e.g. part_ids('Mug')['handle'] == 36."""
    return {part.name: part.id for part in SHAPENET_PARTS[category]}
