"""Single files: any mesh or cloud that people have on disk, one file per format here."""

from __future__ import annotations

from tpc_core.data.files.load import FORMATS, load_file, load_file_points, read_geometry

__all__ = ["FORMATS", "load_file", "load_file_points", "read_geometry"]
