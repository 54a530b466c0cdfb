"""Single files: any mesh or cloud that people have on disk, one file per format here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpc_core.door import open_door

if TYPE_CHECKING:
    from tpc_core.data.files.content import read_bytes
    from tpc_core.data.files.load import FORMATS, load_file, load_file_points, read_geometry

# The readers bring trimesh; whoever wants the bytes of a file needs none of it.
open_door(
    __name__,
    {
        "tpc_core.data.files.content": ("read_bytes",),
        "tpc_core.data.files.load": ("FORMATS", "load_file", "load_file_points", "read_geometry"),
    },
)

__all__ = ["FORMATS", "load_file", "load_file_points", "read_bytes", "read_geometry"]
