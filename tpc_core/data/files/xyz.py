"""Plain text clouds: one point per line, x y z first, split by spaces or commas."""

from __future__ import annotations

import io
import warnings

import numpy as np
from numpy.typing import NDArray

from tpc_core.data.files.content import as_text
from tpc_core.data.geometry import Geometry
from tpc_core.errors import InvalidFile


def parse_xyz(content: bytes, name: str) -> Geometry:
    """Read a text cloud; columns after the third (normals, colours) are left out."""
    return Geometry(np.ascontiguousarray(parse_table(content, name, 3)[:, :3]))


def parse_table(content: bytes, name: str, columns: int) -> NDArray[np.float64]:
    """A text table of numbers with at least `columns` columns: (rows, columns or more)."""
    text = as_text(content, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an empty table warns before we can say it in our own words
        try:
            table = np.loadtxt(io.StringIO(text.replace(",", " ")), dtype=np.float64, ndmin=2)
        except ValueError as error:
            raise InvalidFile(f"{name} is not a table of numbers: {error}") from error
    if table.size == 0:
        raise InvalidFile(f"{name} holds no points")
    if table.shape[1] < columns:
        raise InvalidFile(f"{name} has {table.shape[1]} numbers a line; {columns} are needed")
    return np.asarray(table, dtype=np.float64)
