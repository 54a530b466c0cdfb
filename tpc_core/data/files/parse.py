"""The content of a file becomes a geometry, by the ending of its name. Imported without torch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tpc_core.data.files.npy import parse_npy
from tpc_core.data.files.off import parse_off
from tpc_core.data.files.pcd import parse_pcd
from tpc_core.data.files.with_trimesh import parse_glb, parse_obj, parse_ply, parse_stl
from tpc_core.data.files.xyz import parse_xyz
from tpc_core.data.geometry import Geometry, checked_geometry
from tpc_core.errors import InvalidFile, TpcError

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


def read_geometry(content: bytes, name: str) -> Geometry:
    """Parse and check the content of a file; the name says which format it claims to be."""
    if not content:
        raise InvalidFile(f"{name} is empty")
    ending = Path(name).suffix.lower()
    if ending not in FORMATS:
        known = ", ".join(sorted(FORMATS))
        raise InvalidFile(f"{name} ends in {ending or 'nothing'!r}; these can be read: {known}")
    try:
        return checked_geometry(FORMATS[ending](content, name), name)
    except (TpcError, MemoryError):
        raise
    except Exception as error:  # what nobody foresaw is still the fault of the file, and one sentence
        raise InvalidFile(
            f"{name} cannot be read as {ending[1:].upper()} ({type(error).__name__})"
        ) from error
