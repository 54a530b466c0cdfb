"""The disk cache: sampled points, keyed by the content they came from. It may fail, but never fatally."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tpc_core.data.limits import MAX_POINTS
from tpc_core.data.ordered import OrderedPoints
from tpc_core.data.sampling import SURFACE_SAMPLES, SURFACE_SEED
from tpc_core.machinery.atomic import write_atomically as write_atomically

SAMPLING_VERSION = 1
"""Raise this whenever sampling gives other points for the same file, so that old entries are not found."""


def cache_folder() -> Path:
    """`TPC_CACHE`, or the place where this platform keeps caches."""
    chosen = os.environ.get("TPC_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tpc-explorer"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home()))) / "tpc-explorer"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tpc-explorer"


def cached_points(content_key: tuple[str, ...], make: Callable[[], OrderedPoints]) -> OrderedPoints:
    """The points made from this content, from the disk if they were made before.

    content_key: the sha256 of the content and whatever else decides how it is read.
    """
    settings = (f"v{SAMPLING_VERSION}", str(SURFACE_SAMPLES), str(SURFACE_SEED), str(MAX_POINTS))
    key = hashlib.sha256("\0".join((*content_key, *settings)).encode()).hexdigest()
    path = cache_folder() / "points" / key[:2] / f"{key}.npz"
    found = _read(path)
    if found is not None:
        return found
    made = make()
    # A full disk or a read-only home costs time at the next start, nothing else.
    with contextlib.suppress(OSError):
        write_atomically(path, _packed(made))
    return made


def _packed(ordered: OrderedPoints) -> bytes:
    arrays: dict[str, np.ndarray] = {"points": ordered.points}
    if ordered.parts is not None:
        arrays["parts"] = ordered.parts
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **arrays)
    return stream.getvalue()


def _read(path: Path) -> OrderedPoints | None:
    """The entry, or None if it is missing or damaged (zip checks a CRC over every byte)."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            points = arrays["points"]
            parts = arrays["parts"] if "parts" in arrays.files else None
    except Exception:  # whatever is wrong with an old entry, making it again is the answer
        return None
    sound = (
        points.dtype == np.float32 and points.ndim == 2 and points.shape[1] == 3 and len(points) <= MAX_POINTS
    )
    if not sound or not bool(np.isfinite(points).all()):
        return None
    if parts is not None and (parts.shape != points.shape[:1] or parts.dtype != np.int64):
        return None
    return OrderedPoints(points, parts)
