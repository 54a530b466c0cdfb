"""The shipped gallery: an index and one small PLY per object, in assets/gallery."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from tpc_core.data.cache import cached_points
from tpc_core.data.files.content import as_text, read_bytes
from tpc_core.data.gallery.ply import read_ply
from tpc_core.data.geometry import Geometry, as_trimesh, checked_geometry, ordered_points
from tpc_core.data.names import MODELNET40_CLASSES
from tpc_core.data.shape import OrderedPoints, Shape
from tpc_core.errors import InvalidFile, unknown_name
from tpc_core.shipped import shipped

GALLERY_FOLDER = shipped("assets", "gallery")
INDEX_NAME = "index.json"


class GalleryEntry(BaseModel):
    """One object of the gallery."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """How a spec calls it: 'chair-1' in 'gallery:chair-1'."""
    category: str
    """Its ModelNet40 class."""
    title: str
    """A few words for people."""
    parts: bool
    """Whether its points carry part ids of the ShapeNet part benchmark."""
    part_names: dict[int, str]
    """Part id -> word, for the parts that occur; empty without parts."""
    sha256: str
    """Of the mesh file."""


def gallery() -> list[GalleryEntry]:
    """Every object of the gallery, sorted by name."""
    return list(_index(GALLERY_FOLDER))


def load_gallery_shape(name: str) -> Shape:
    """One object of the gallery, by name."""
    entries = {entry.name: entry for entry in gallery()}
    # Only names from the index become paths, so no name can lead out of the folder.
    if name not in entries:
        raise unknown_name("gallery object", name, sorted(entries))
    entry = entries[name]
    path = GALLERY_FOLDER / f"{name}.ply"
    content = read_bytes(path)
    if hashlib.sha256(content).hexdigest() != entry.sha256:
        raise InvalidFile(f"{path} is not the file that the index lists; run `tpc data gallery build`")
    vertices, faces, face_parts = read_ply(content, path.name)
    geometry = checked_geometry(Geometry(vertices, faces), path.name)

    def sample() -> OrderedPoints:
        ordered, source = ordered_points(geometry)
        return OrderedPoints(ordered.points, face_parts[source].astype(np.int64) if entry.parts else None)

    ordered = cached_points((entry.sha256, "gallery"), sample)
    return Shape(name=entry.name, label=entry.category, mesh=as_trimesh(geometry), ordered=ordered)


@lru_cache(maxsize=2)
def _index(folder: Path) -> tuple[GalleryEntry, ...]:
    """The index file, checked."""
    path = folder / INDEX_NAME
    text = as_text(read_bytes(path), path.name)
    try:
        entries = [GalleryEntry.model_validate(entry) for entry in json.loads(text)["objects"]]
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        raise InvalidFile(f"{path} is damaged; run `tpc data gallery build`") from error
    unknown = next((entry.category for entry in entries if entry.category not in MODELNET40_CLASSES), None)
    if unknown is not None:
        raise InvalidFile(f"{path} names a class that is not in ModelNet40: {unknown!r}")
    return tuple(entries)
