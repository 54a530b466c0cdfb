"""Clouds stored as one text file each, y-up: read, turn z-up, order, cache."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tpc_core.data.cache import cached_points
from tpc_core.data.files.content import read_bytes
from tpc_core.data.files.xyz import parse_table
from tpc_core.data.geometry import Geometry, checked_geometry, ordered_points
from tpc_core.data.shape import OrderedPoints
from tpc_core.errors import InvalidFile


def ordered_text_cloud(path: Path, *, part_column: int | None) -> OrderedPoints:
    """The points of a y-up text cloud in farthest-point order; part ids if a column holds them."""
    content = read_bytes(path)
    key = (hashlib.sha256(content).hexdigest(), "y-up text", str(part_column))
    return cached_points(key, lambda: _ordered(content, path.name, part_column))


def ordered_y_up(points: NDArray[np.floating], parts: NDArray[np.int64] | None, name: str) -> OrderedPoints:
    """Turn a y-up cloud z-up and put it, with its part ids, into farthest-point order."""
    # Widening a signalling NaN warns; the border check below refuses every NaN in a sentence anyway.
    with np.errstate(invalid="ignore"):
        raw = Geometry(np.asarray(points, dtype=np.float64)).turned_z_up()
    ordered, source = ordered_points(checked_geometry(raw, name))
    return OrderedPoints(ordered.points, None if parts is None else parts[source])


def _ordered(content: bytes, name: str, part_column: int | None) -> OrderedPoints:
    table = parse_table(content, name, 3 if part_column is None else part_column + 1)
    if part_column is None:
        return ordered_y_up(table[:, :3], None, name)
    column = table[:, part_column]
    # Parts are written as 12.000000; anything that is not a whole number of the benchmark is damage.
    if not bool(np.isin(column, np.arange(50)).all()):
        raise InvalidFile(f"{name}: column {part_column + 1} does not hold part ids from 0 to 49")
    return ordered_y_up(table[:, :3], column.astype(np.int64), name)
