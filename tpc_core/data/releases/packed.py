"""The packed npz: a whole split in one file, float16 points already z-up and in farthest-point order."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from numpy.typing import NDArray

from tpc_core.data.limits import MAX_PACKED_BYTES
from tpc_core.data.names import MODELNET40_CLASSES, SHAPENET_CATEGORIES, SHAPENET_PARTS
from tpc_core.data.shape import OrderedPoints
from tpc_core.errors import InvalidFile

_MAX_PART = max(part.id for parts in SHAPENET_PARTS.values() for part in parts)


class PackedSplit:
    """One split from `modelnet40_<split>.npz` or `shapenetpart_<split>.npz`."""

    kind = "packed npz"

    def __init__(
        self,
        path: Path,
        points: NDArray[np.floating],
        ids: list[str],
        labels: NDArray[np.int64],
        parts: NDArray[np.integer] | None,
    ) -> None:
        if points.ndim != 3 or points.shape[2] != 3 or points.dtype.kind != "f":
            raise InvalidFile(f"{path.name}: points must be floats of shape (M, N, 3), not {points.shape}")
        if not len(points) == len(ids) == len(labels):
            raise InvalidFile(
                f"{path.name}: {len(points)} clouds, {len(ids)} ids and {len(labels)} labels do not match"
            )
        if not bool(np.isfinite(points).all()):
            raise InvalidFile(f"{path.name}: some points hold NaN or infinity")
        if parts is not None and parts.shape != points.shape[:2]:
            raise InvalidFile(f"{path.name}: part labels of shape {parts.shape} for points {points.shape}")
        self.ids = ids
        self.labels = labels
        self._points = points
        self._parts = parts

    def ordered(self, index: int) -> OrderedPoints:
        """The stored points in float32; the caller centres and scales them again, as float16 moved them."""
        parts = None if self._parts is None else self._parts[index].astype(np.int64)
        return OrderedPoints(self._points[index].astype(np.float32), parts)

    def mesh(self, index: int) -> trimesh.Trimesh | None:
        """A packed split holds points only."""
        return None


def find_packed_modelnet(root: Path, split: str) -> PackedSplit | None:
    """`modelnet40_<split>.npz` in this folder, if it is there: points, labels, ids, classes."""
    path = root / f"modelnet40_{split}.npz"
    if not path.is_file():
        return None
    arrays = _read(path, {"points", "labels", "ids", "classes"})
    labels = _renumbered(path, arrays["labels"], arrays["classes"], MODELNET40_CLASSES)
    return PackedSplit(path, arrays["points"], [str(name) for name in arrays["ids"]], labels, None)


def find_packed_shapenet(root: Path, split: str) -> PackedSplit | None:
    """`shapenetpart_<split>.npz` in this folder, if it is there: points, part_labels, category, ids."""
    path = root / f"shapenetpart_{split}.npz"
    if not path.is_file():
        return None
    arrays = _read(path, {"points", "part_labels", "category", "ids", "category_names"})
    labels = _renumbered(path, arrays["category"], arrays["category_names"], SHAPENET_CATEGORIES)
    parts = arrays["part_labels"]
    if parts.dtype.kind not in "iu" or (parts.size and not 0 <= parts.min() <= parts.max() <= _MAX_PART):
        raise InvalidFile(f"{path.name}: part labels must be whole numbers from 0 to {_MAX_PART}")
    return PackedSplit(path, arrays["points"], [str(name) for name in arrays["ids"]], labels, parts)


def _read(path: Path, wanted: set[str]) -> dict[str, NDArray[Any]]:
    """The named arrays of an npz file, never unpickled and never larger than the limit."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > MAX_PACKED_BYTES:
            raise InvalidFile(f"{path.name} unpacks to {size:,} bytes, more than {MAX_PACKED_BYTES:,}")
        with np.load(path, allow_pickle=False) as archive:
            missing = sorted(wanted - set(archive.files))
            if missing:
                raise InvalidFile(f"{path.name} lacks the arrays {', '.join(missing)}")
            return {name: archive[name] for name in wanted}
    except InvalidFile:
        raise
    except Exception as error:  # zip, zlib, numpy and its header tokenizer each have errors of their own
        raise InvalidFile(f"{path.name} is not a readable npz file") from error


def _renumbered(
    path: Path, labels: NDArray[np.generic], names: NDArray[np.generic], canonical: list[str]
) -> NDArray[np.int64]:
    """Labels of the file's own class list, renumbered to ours, so that a reordered file cannot mislabel."""
    position = {name: number for number, name in enumerate(canonical)}
    unknown = [str(name) for name in names if str(name) not in position]
    if unknown:
        raise InvalidFile(f"{path.name} names a class that is not ours: {unknown[0]!r}")
    if labels.dtype.kind not in "iu" or labels.ndim != 1:
        raise InvalidFile(
            f"{path.name}: labels are {labels.dtype} of shape {labels.shape}, not whole numbers"
        )
    numbers = labels.astype(np.int64)
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < len(names):
        raise InvalidFile(f"{path.name}: labels must lie between 0 and {len(names) - 1}")
    return np.array([position[str(name)] for name in names], dtype=np.int64)[numbers]
