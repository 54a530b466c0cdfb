"""Load any single mesh or cloud, by the ending of its name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from tpc_core.data.cache import cached_points
from tpc_core.data.files.content import read_bytes
from tpc_core.data.files.npy import parse_npy
from tpc_core.data.files.off import parse_off
from tpc_core.data.files.pcd import parse_pcd
from tpc_core.data.files.with_trimesh import parse_glb, parse_obj, parse_ply, parse_stl
from tpc_core.data.files.xyz import parse_xyz
from tpc_core.data.geometry import Geometry, as_trimesh, checked_geometry, ordered_points
from tpc_core.data.shape import OrderedPoints, Shape
from tpc_core.errors import InvalidFile

FORMATS: dict[str, Callable[[bytes, str], Geometry]] = {
    ".glb": parse_glb,
    ".npy": parse_npy,
    ".obj": parse_obj,
    ".off": parse_off,
    ".pcd": parse_pcd,
    ".ply": parse_ply,
    ".stl": parse_stl,
    ".txt": parse_xyz,
    ".xyz": parse_xyz,
}
"""Ending -> reader. A new format is one function and one row."""


def load_file(path: Path) -> Shape:
    """The shape in a single file, taken to be z-up (GLB, which is y-up by definition, is turned)."""
    content = read_bytes(path)
    geometry = read_geometry(content, path.name)
    ordered = _cached(content, path, lambda: geometry)
    return Shape(name=path.stem, label=None, mesh=as_trimesh(geometry), ordered=ordered)


def load_file_points(path: Path) -> OrderedPoints:
    """Only the points of a file; a file seen before is hashed, but not parsed again."""
    content = read_bytes(path)
    return _cached(content, path, lambda: read_geometry(content, path.name))


def _cached(content: bytes, path: Path, geometry: Callable[[], Geometry]) -> OrderedPoints:
    key = (hashlib.sha256(content).hexdigest(), path.suffix.lower())
    return cached_points(key, lambda: ordered_points(geometry())[0])


def read_geometry(content: bytes, name: str) -> Geometry:
    """Parse and check the content of a file; the name says which format it claims to be."""
    if not content:
        raise InvalidFile(f"{name} is empty")
    ending = Path(name).suffix.lower()
    if ending not in FORMATS:
        known = ", ".join(sorted(FORMATS))
        raise InvalidFile(f"{name} ends in {ending or 'nothing'!r}; these can be read: {known}")
    return checked_geometry(FORMATS[ending](content, name), name)
