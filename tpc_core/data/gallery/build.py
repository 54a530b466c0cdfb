"""Build the gallery: make every recipe and write it with an index, byte for byte the same each time.

The objects are there to be looked at. Designs that a trained classifier mistook were dropped, so how many of
them a model gets right says nothing about the model.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from tpc_core.data.cache import write_atomically
from tpc_core.data.gallery import devices, instruments, lamps, people, rooms, seats, tables, vehicles, vessels
from tpc_core.data.gallery.library import INDEX_NAME, GalleryEntry
from tpc_core.data.gallery.ply import NO_PART, write_ply
from tpc_core.data.gallery.recipe import Recipe
from tpc_core.data.gallery.solids import Solid
from tpc_core.data.names import SHAPENET_PARTS
from tpc_core.errors import InvalidFile

_FAMILIES = (devices, instruments, lamps, people, rooms, seats, tables, vehicles, vessels)


def recipes() -> list[Recipe]:
    """Every recipe, sorted by name."""
    return sorted(
        (recipe for family in _FAMILIES for recipe in family.RECIPES), key=lambda recipe: recipe.name
    )


def build_gallery(folder: Path) -> list[GalleryEntry]:
    """Write every object and the index into a folder, and remove objects that no recipe makes any more."""
    entries = []
    for recipe in recipes():
        solid = recipe.make()
        content = write_ply(_in_unit_ball(solid), solid.faces, solid.parts)
        write_atomically(folder / f"{recipe.name}.ply", content)
        entries.append(_entry(recipe, solid, content))
    index = {"objects": [entry.model_dump() for entry in entries]}
    write_atomically(folder / INDEX_NAME, (json.dumps(index, indent=1) + "\n").encode())
    for stale in folder.glob("*.ply"):
        if stale.stem not in {entry.name for entry in entries}:
            stale.unlink()
    return entries


def _in_unit_ball(solid: Solid) -> np.ndarray:
    """Vertices about the middle of their box, so that rounding them costs every object the same."""
    low, high = solid.vertices.min(axis=0), solid.vertices.max(axis=0)
    centred = solid.vertices - (low + high) / 2
    return np.asarray(centred / np.linalg.norm(centred, axis=1).max())


def _entry(recipe: Recipe, solid: Solid, content: bytes) -> GalleryEntry:
    names: dict[int, str] = {}
    if recipe.shapenet is not None:
        used = set(solid.parts.tolist())
        names = {part.id: part.name for part in SHAPENET_PARTS[recipe.shapenet] if part.id in used}
        if NO_PART in used or used - set(names):
            raise InvalidFile(f"{recipe.name}: some faces belong to no part of {recipe.shapenet}")
    return GalleryEntry(
        name=recipe.name,
        category=recipe.category,
        title=recipe.title,
        parts=recipe.shapenet is not None,
        part_names=names,
        sha256=hashlib.sha256(content).hexdigest(),
    )
