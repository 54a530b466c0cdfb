"""How large a file may be before we refuse it: every file is read as if a stranger had sent it."""

from __future__ import annotations

MAX_FILE_BYTES = 256 * 2**20
"""A single mesh or cloud on disk. The largest ModelNet40 mesh is about 60 MB."""

MAX_UPLOAD_BYTES = 50 * 2**20
"""A file that a visitor of the app sends."""

UPLOAD_SECONDS = 20.0
UPLOAD_MEMORY_BYTES = 3 * 2**29
"""What the child process that reads an upload may take."""

SMALL_UPLOAD_BYTES = 4 * 2**20
"""Four uploads up to this size are read at once, each with an eighth of the memory; larger ones one by one."""

MAX_VERTICES = 4_000_000
MAX_FACES = 8_000_000
"""Triangles, after polygons have been cut into fans."""

MAX_PACKED_BYTES = 4 * 2**30
"""A whole split in one npz or hdf5 file, counted after decompression."""

MAX_LIST_BYTES = 16 * 2**20
"""A list of ids or class names."""

MAX_COORDINATE = 1e30
"""Squares of coordinates must stay finite in float64 sums; nothing real is larger."""

MIN_POINTS = 16
MAX_POINTS = 2048
"""How many points a cloud may be asked for."""
