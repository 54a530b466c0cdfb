"""What the sandbox reads by default: a mesh or a cloud. The answer is plain arrays, or a sentence."""

from __future__ import annotations

from typing import Any

from tpc_core.data.files.parse import read_geometry
from tpc_core.data.geometry import ordered_points
from tpc_core.data.sandbox.frames import answer_of

_CORNERS = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
_FACES = ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3))


def answer(content: bytes, name: str) -> list[bytes]:
    """The pieces of the answer to one file."""
    geometry = read_geometry(content, name)
    return answer_of(geometry, ordered_points(geometry)[0])


def samples() -> dict[str, bytes]:
    """A small file of every format, by which the sandbox shows that it can read them before it says it is ready."""
    import io

    import numpy as np
    import trimesh

    solid = trimesh.Trimesh(np.array(_CORNERS, dtype=float), np.array(_FACES), process=False)
    array = io.BytesIO()
    np.save(array, solid.vertices)
    points = "".join(f"{x} {y} {z}\n" for x, y, z in _CORNERS)
    header = "FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nPOINTS 4\nDATA ascii\n"
    made = {
        f"solid.{kind}": _bytes(solid.export(file_type=kind)) for kind in ("glb", "obj", "off", "ply", "stl")
    }
    return {
        **made,
        "array.npy": array.getvalue(),
        "text.xyz": points.encode(),
        "text.pcd": (header + points).encode(),
    }


def _bytes(content: Any) -> bytes:
    return content if isinstance(content, bytes) else str(content).encode()
