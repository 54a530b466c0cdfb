"""Load any single mesh or cloud, by the ending of its name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from tpc_core.data.cache import cached_points
from tpc_core.data.files.content import read_bytes
from tpc_core.data.files.parse import FORMATS as FORMATS
from tpc_core.data.files.parse import read_geometry as read_geometry
from tpc_core.data.geometry import Geometry, as_trimesh, ordered_points
from tpc_core.data.shape import OrderedPoints, Shape


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
