"""OFF meshes, with the header quirk of ModelNet40: `OFF490 518 0` on one line."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from tpc_core.data.files.content import as_text
from tpc_core.data.geometry import Geometry
from tpc_core.data.limits import MAX_FACES, MAX_VERTICES
from tpc_core.errors import InvalidFile

# COFF, NOFF and STOFF add columns after the position; the position is all that is read.
_HEADER = re.compile(r"(?:ST)?C?N?OFF\b|OFF(?=\s*\d)")


def parse_off(content: bytes, name: str) -> Geometry:
    """Read an OFF mesh; polygons are cut into fans of triangles."""
    lines = _data_lines(as_text(content, name))
    header = _HEADER.match(lines[0]) if lines else None
    if header is None:
        raise InvalidFile(f"{name} does not start with OFF")
    rest = lines[0][header.end() :].strip()
    body = [rest, *lines[1:]] if rest else lines[1:]
    if not body:
        raise InvalidFile(f"{name} ends after its header")
    vertex_count, face_count = _counts(body[0], name)
    if len(body) - 1 != vertex_count + face_count:
        raise InvalidFile(
            f"{name} declares {vertex_count} vertices, {face_count} faces but has {len(body) - 1} data lines"
        )
    vertices = _vertices(body[1 : 1 + vertex_count], name)
    if face_count == 0:
        return Geometry(vertices)
    return Geometry(vertices, _triangles(body[1 + vertex_count :], name))


def _data_lines(text: str) -> list[str]:
    """The lines that say something: without comments and blank lines."""
    stripped = (line.partition("#")[0].strip() for line in text.splitlines())
    return [line for line in stripped if line]


def _counts(line: str, name: str) -> tuple[int, int]:
    """The declared numbers of vertices and faces."""
    words = line.split()
    # isdecimal alone lets other alphabets' digits through, which int() would accept as well.
    if len(words) not in (2, 3) or not all(word.isascii() and word.isdecimal() for word in words):
        raise InvalidFile(f"{name}: the line of counts reads {line[:40]!r}, not three whole numbers")
    if max(map(len, words)) > 12:
        raise InvalidFile(f"{name} declares more vertices or faces than any file can hold")
    vertex_count, face_count = int(words[0]), int(words[1])
    if vertex_count > MAX_VERTICES:
        raise InvalidFile(f"{name} declares {vertex_count:,} vertices, more than {MAX_VERTICES:,}")
    if face_count > MAX_FACES:
        raise InvalidFile(f"{name} declares {face_count:,} faces, more than {MAX_FACES:,}")
    return vertex_count, face_count


def _vertices(lines: list[str], name: str) -> NDArray[np.float64]:
    """The first three numbers of each line: (V, 3)."""
    rows = [line.split(maxsplit=3)[:3] for line in lines]
    if any(len(row) != 3 for row in rows):
        raise InvalidFile(f"{name}: a vertex line has fewer than three numbers")
    try:
        return np.array(rows, dtype=np.float64).reshape(-1, 3)
    except ValueError as error:
        raise InvalidFile(f"{name}: a vertex line holds something that is not a number") from error


def _triangles(lines: list[str], name: str) -> NDArray[np.int64]:
    """The faces as triangles (F, 3); what follows the corners on a line is colour and is left out."""
    triangles: list[tuple[int, int, int]] = []
    for line in lines:
        words = line.split()
        try:
            corners = [int(word) for word in words[1 : 1 + int(words[0])]]
            complete = len(corners) == int(words[0])
        except ValueError as error:
            raise InvalidFile(f"{name}: a face line reads {line[:40]!r}, not whole numbers") from error
        if not complete:
            raise InvalidFile(f"{name}: a face declares {words[0]} corners but lists {len(corners)}")
        # Polygons of one or two corners are stray points and edges; they carry no surface.
        triangles.extend((corners[0], corners[i], corners[i + 1]) for i in range(1, len(corners) - 1))
        if len(triangles) > MAX_FACES:
            raise InvalidFile(f"{name} has more than {MAX_FACES:,} triangles")
    try:
        return np.array(triangles, dtype=np.int64).reshape(-1, 3)
    except OverflowError as error:
        raise InvalidFile(f"{name}: a face names a vertex that is not there") from error
