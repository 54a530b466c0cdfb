"""The two hdf5 releases, 2,048 y-up points per object: modelnet40_ply_hdf5_2048 and ShapeNet part."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import h5py
import numpy as np
import trimesh
from numpy.typing import NDArray

from tpc_core.data.cache import cached_points
from tpc_core.data.limits import MAX_PACKED_BYTES
from tpc_core.data.names import MODELNET40_CLASSES, SHAPENET_CATEGORIES
from tpc_core.data.releases.cloud_text import ordered_y_up
from tpc_core.data.releases.text_lists import read_json_strings, read_lines
from tpc_core.data.roots import inside
from tpc_core.data.shape import OrderedPoints
from tpc_core.errors import InvalidFile


class Hdf5Split:
    """One split read from a list of hdf5 files, in their order."""

    def __init__(self, kind: str, files: list[Path], classes: int, *, with_parts: bool) -> None:
        self.kind = kind
        points, labels, parts = [], [], []
        self.ids: list[str] = []
        for path in files:
            with opened_hdf5(path) as file:
                points.append(hdf5_array(file, "data", path, "f", 3))
                labels.append(hdf5_array(file, "label", path, "iu", None).reshape(-1).astype(np.int64))
                if with_parts:
                    parts.append(hdf5_array(file, "pid", path, "iu", 2).astype(np.int64))
            self.ids += _ids(path, len(points[-1]))
            _check_sizes(path, points[-1], labels[-1], parts[-1] if with_parts else None, classes)
        self._points = points
        self._parts = parts
        self._starts = np.cumsum([0, *(len(block) for block in points)])
        self.labels: NDArray[np.int64] = np.concatenate(labels) if labels else np.empty(0, dtype=np.int64)

    def ordered(self, index: int) -> OrderedPoints:
        """The stored points, z-up and in farthest-point order; cached on disk."""
        block = int(np.searchsorted(self._starts, index, side="right")) - 1
        row = index - int(self._starts[block])
        points = self._points[block][row]
        parts = self._parts[block][row] if self._parts else None
        digest = hashlib.sha256(points.astype("<f4").tobytes())
        if parts is not None:
            digest.update(parts.astype("<i8").tobytes())
        key = (digest.hexdigest(), "y-up hdf5")
        return cached_points(key, lambda: ordered_y_up(points, parts, self.ids[index]))

    def mesh(self, index: int) -> trimesh.Trimesh | None:
        """This release holds points only."""
        return None


def find_modelnet_hdf5(root: Path, split: str) -> Hdf5Split | None:
    """modelnet40_ply_hdf5_2048 in this folder, if it is there."""
    listing = root / f"{split}_files.txt"
    if not listing.is_file():
        return None
    names = root / "shape_names.txt"
    if names.is_file() and read_lines(names) != MODELNET40_CLASSES:
        raise InvalidFile(f"{names} does not list the ModelNet40 classes in their usual order")
    files = _listed(root, [listing])
    return Hdf5Split("modelnet40_ply_hdf5_2048", files, len(MODELNET40_CLASSES), with_parts=False)


def find_shapenet_hdf5(root: Path, split: str) -> Hdf5Split | None:
    """shapenet_part_seg_hdf5_data in this folder, if it is there; train is train and val together."""
    lists = [
        root / f"{part}_hdf5_file_list.txt" for part in (("train", "val") if split == "train" else ("test",))
    ]
    if not lists[0].is_file():
        return None
    files = _listed(root, [listing for listing in lists if listing.is_file()])
    return Hdf5Split("shapenet_part_seg_hdf5_data", files, len(SHAPENET_CATEGORIES), with_parts=True)


def _listed(root: Path, lists: list[Path]) -> list[Path]:
    """The files that the lists name, by the path on their author's disk, of which only the end counts."""
    return [inside(root, PurePosixPath(line).name) for listing in lists for line in read_lines(listing)]


@contextmanager
def opened_hdf5(path: Path) -> Iterator[h5py.File]:
    """The file, open for reading; whatever hdf5 stumbles over inside becomes an InvalidFile."""
    try:
        with h5py.File(path, "r") as file:
            yield file
    except InvalidFile:
        raise
    except Exception as error:  # damaged internals surface as OSError, RuntimeError, KeyError and more
        raise InvalidFile(f"{path.name} is not a readable hdf5 file") from error


def hdf5_array(file: h5py.File, key: str, path: Path, kinds: str, ndim: int | None) -> NDArray[np.generic]:
    """One array of an hdf5 file; links and storage outside the file itself are refused."""
    if not isinstance(file.get(key, getlink=True), h5py.HardLink) or not isinstance(
        file.get(key), h5py.Dataset
    ):
        raise InvalidFile(f"{path.name} has no array {key!r}")
    stored = file[key]
    if stored.is_virtual or stored.external:
        raise InvalidFile(f"{path.name}: the array {key!r} lies in another file")
    if stored.dtype.kind not in kinds or (ndim is not None and stored.ndim != ndim):
        raise InvalidFile(f"{path.name}: the array {key!r} is {stored.dtype} of shape {stored.shape}")
    if stored.size * stored.dtype.itemsize > MAX_PACKED_BYTES:
        raise InvalidFile(f"{path.name}: the array {key!r} is larger than {MAX_PACKED_BYTES:,} bytes")
    return np.asarray(stored[()])


def _check_sizes(
    path: Path,
    points: NDArray[np.generic],
    labels: NDArray[np.int64],
    parts: NDArray[np.int64] | None,
    classes: int,
) -> None:
    """What one file declares must fit together."""
    if points.shape[2] != 3 or len(labels) != len(points):
        raise InvalidFile(f"{path.name}: points of shape {points.shape} do not fit {len(labels)} labels")
    if labels.size and not 0 <= labels.min() <= labels.max() < classes:
        raise InvalidFile(f"{path.name}: labels must lie between 0 and {classes - 1}")
    if parts is not None and parts.shape != points.shape[:2]:
        raise InvalidFile(f"{path.name}: part ids of shape {parts.shape} for points of shape {points.shape}")
    if parts is not None and parts.size and not 0 <= parts.min() <= parts.max() < 50:
        raise InvalidFile(f"{path.name}: part ids must lie between 0 and 49")


def _ids(path: Path, count: int) -> list[str]:
    """The ids from the id2file list beside the file, if it fits, else the file's name and a number."""
    # ply_data_train0.h5 goes with ply_data_train_0_id2file.json.
    stem = path.stem.rstrip("0123456789")
    number = path.stem.removeprefix(stem)
    listing = path.parent / f"{stem}_{number}_id2file.json"
    if listing.is_file():
        names = [PurePosixPath(name).stem for name in read_json_strings(listing)]
        if len(names) == count:
            return names
    return [f"{path.stem}_{row:04d}" for row in range(count)]
