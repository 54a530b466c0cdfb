"""The one PLY layout that the gallery uses: float vertices, triangles of ushort, a part id per triangle."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from tpc_core.errors import InvalidFile

NO_PART = 255
"""The part id of a face that belongs to no part of the benchmark."""

_HEADER = """ply
format binary_little_endian 1.0
comment made by the gallery generator of TPC Explorer
element vertex {vertices}
property float x
property float y
property float z
element face {faces}
property list uchar ushort vertex_indices
property uchar part
end_header
"""
_PATTERN = re.compile(
    re.escape(_HEADER).replace(r"\{vertices\}", "([0-9]{1,5})").replace(r"\{faces\}", "([0-9]{1,6})").encode()
)
_FACE = np.dtype([("corners", "u1"), ("vertices", "<u2", (3,)), ("part", "u1")])


def write_ply(vertices: NDArray[np.float64], faces: NDArray[np.int64], parts: NDArray[np.int64]) -> bytes:
    """The mesh as bytes, the same on every machine.

    Vertices are rounded to a ten-thousandth: sines differ between processors in their last bit.
    """
    if len(vertices) > np.iinfo(np.uint16).max:
        raise InvalidFile(f"a gallery mesh has at most 65,535 vertices, not {len(vertices):,}")
    rows = np.zeros(len(faces), dtype=_FACE)
    rows["corners"], rows["vertices"], rows["part"] = 3, faces, parts
    # Adding zero turns -0.0 into 0.0, which has other bytes.
    rounded = (np.round(vertices, 4) + 0.0).astype("<f4")
    header = _HEADER.format(vertices=len(vertices), faces=len(faces))
    return header.encode() + rounded.tobytes() + rows.tobytes()


def read_ply(content: bytes, name: str) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Vertices (V, 3), faces (F, 3) and the part id of each face (F,)."""
    header = _PATTERN.match(content)
    if header is None:
        raise InvalidFile(f"{name} is not a mesh of the gallery")
    vertex_count, face_count = int(header[1]), int(header[2])
    body = content[header.end() :]
    if len(body) != 12 * vertex_count + _FACE.itemsize * face_count:
        raise InvalidFile(
            f"{name} declares {vertex_count} vertices and {face_count} faces but does not hold them"
        )
    vertices = np.frombuffer(body, "<f4", 3 * vertex_count).reshape(-1, 3).astype(np.float64)
    rows = np.frombuffer(body, _FACE, face_count, 12 * vertex_count)
    return vertices, rows["vertices"].astype(np.int64), rows["part"].astype(np.int64)
