"""Releases that hold their clouds in arrays: ScanObjectNN in HDF5, ModelNet40-C in npy, Hugging Face data sets."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tpc_core.data.cache import cached_points
from tpc_core.data.classes import checked_class
from tpc_core.data.geometry import Geometry, checked_geometry, ordered_points
from tpc_core.data.limits import MAX_PACKED_BYTES
from tpc_core.data.names import MODELNET40_CLASSES
from tpc_core.data.ordered import OrderedPoints
from tpc_core.data.own.found import Entry, Found, Split, no_mesh
from tpc_core.data.releases.hdf5 import hdf5_array, opened_hdf5
from tpc_core.errors import InvalidFile, MissingDependency

SCANOBJECTNN_CLASSES = [
    "bag", "bin", "box", "cabinet", "chair", "desk", "display", "door", "shelf", "table", "bed", "pillow",
    "sink", "sofa", "toilet",
]  # fmt: skip
_SCAN = re.compile(r"(?P<split>training|test)_objectdataset(?P<variant>\w*)\.h5")
_CORRUPTED = re.compile(r"data_(?P<name>[A-Za-z0-9_]+)\.npy")


def find_scanobjectnn(path: Path) -> Found | None:
    """training_objectdataset*.h5 and test_objectdataset*.h5 of ScanObjectNN, in a folder or given one by one."""
    files = [path] if path.is_file() else sorted(path.glob("*_objectdataset*.h5"))
    chosen = [(file, match) for file in files if (match := _SCAN.fullmatch(file.name))]
    if not chosen:
        return None
    variants = {match["variant"] for _, match in chosen}
    # One folder holds the plain and the perturbed release under names that differ in their end.
    wanted = "" if "" in variants else min(variants)
    entries: list[Entry] = []
    for file, match in chosen:
        if match["variant"] != wanted:
            continue
        with opened_hdf5(file) as stored:
            clouds = hdf5_array(stored, "data", file, "f", 3)
            labels = hdf5_array(stored, "label", file, "iu", None).reshape(-1).astype(np.int64)
        _check(file, clouds, labels, len(SCANOBJECTNN_CLASSES))
        split: Split = "train" if match["split"] == "training" else "test"
        entries += _entries(clouds, labels, [f"{file.stem}_{row:05}" for row in range(len(clouds))], split)
    return Found("ScanObjectNN h5", list(SCANOBJECTNN_CLASSES), entries)


def find_modelnet40c(path: Path) -> Found | None:
    """data_<corruption>_<severity>.npy and label.npy of ModelNet40-C: a folder of them, or one of the files."""
    folder = path.parent if path.is_file() else path
    files = [path] if path.is_file() else sorted(path.glob("data_*.npy"))
    chosen = [(file, match["name"]) for file in files if (match := _CORRUPTED.fullmatch(file.name))]
    if not chosen or not (folder / "label.npy").is_file():
        return None
    labels = _npy(folder / "label.npy").reshape(-1)
    if labels.dtype.kind not in "iu":
        raise InvalidFile("label.npy does not hold whole numbers")
    entries: list[Entry] = []
    for file, name in chosen:
        clouds = _npy(file)
        _check(file, clouds, labels, len(MODELNET40_CLASSES))
        entries += _entries(clouds, labels, [f"{name}/{row:04}" for row in range(len(clouds))], "test")
    return Found("ModelNet40-C npy", list(MODELNET40_CLASSES), entries)


def find_hugging_face(path: Path) -> Found | None:
    """A folder that Hugging Face's `save_to_disk` wrote: rows with points (N, 3) and a class label."""
    if not (path / "dataset_dict.json").is_file() and not (path / "dataset_info.json").is_file():
        return None
    try:
        datasets: Any = import_module("datasets")
    except ImportError as error:
        raise MissingDependency("Hugging Face data sets need their package: pip install datasets") from error
    try:
        loaded = datasets.load_from_disk(str(path))
    except Exception as error:
        raise InvalidFile(f"{path} is not a data set that Hugging Face's package can read") from error
    tables = dict(loaded) if hasattr(loaded, "keys") else {"": loaded}
    entries: list[Entry] = []
    classes: list[str] = []
    for name, table in tables.items():
        points, label = _columns(table)
        feature = table.features[label]
        names = getattr(feature, "names", None) or sorted({str(value) for value in table[label]})
        classes = classes or [checked_class(str(item)) for item in names]
        split: Split | None = "test" if "test" in name else "train" if name else None
        for row, value in enumerate(table[label]):
            number = int(value) if isinstance(value, int) else classes.index(str(value))
            made = partial(_row_points, table, points, row, f"{name}_{row:05}")
            entries.append(Entry(f"{name or 'row'}_{row:05}", number, split, made, no_mesh))
    return Found("Hugging Face data set", classes, entries)


def _columns(table: Any) -> tuple[str, str]:
    """The columns with the points and with the label."""
    names = list(table.column_names)
    points = next((name for name in ("points", "xyz", "cloud", "point_cloud", "data") if name in names), None)
    label = next((name for name in ("label", "labels", "class", "category") if name in names), None)
    if points is None or label is None:
        raise InvalidFile(f"the data set has no columns points and label; it has {', '.join(names)}")
    return points, label


def _row_points(table: Any, column: str, row: int, name: str) -> OrderedPoints:
    return ordered_array(np.asarray(table[row][column], dtype=np.float64), name)


def _entries(clouds: NDArray[Any], labels: NDArray[Any], ids: list[str], split: Split) -> Iterator[Entry]:
    for row, name in enumerate(ids):
        yield Entry(name, int(labels[row]), split, partial(_stored, clouds, row, name), no_mesh)


def _stored(clouds: NDArray[Any], row: int, name: str) -> OrderedPoints:
    return ordered_array(np.asarray(clouds[row]), name)


def ordered_array(points: NDArray[Any], name: str) -> OrderedPoints:
    """A stored cloud in farthest-point order; cached on disk."""
    key = (hashlib.sha256(points.astype("<f4").tobytes()).hexdigest(), "array")
    geometry = Geometry(points.astype(np.float64))
    return cached_points(key, lambda: ordered_points(checked_geometry(geometry, name))[0])


def _npy(path: Path) -> NDArray[Any]:
    """An npy file, mapped from the disk and never unpickled."""
    try:
        if path.stat().st_size > MAX_PACKED_BYTES:
            raise InvalidFile(f"{path.name} is larger than {MAX_PACKED_BYTES:,} bytes")
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except InvalidFile:
        raise
    except Exception as error:
        raise InvalidFile(f"{path.name} is not a readable npy file") from error
    return array


def _check(path: Path, clouds: NDArray[Any], labels: NDArray[Any], classes: int) -> None:
    if clouds.ndim != 3 or clouds.shape[2] != 3 or clouds.dtype.kind != "f" or len(clouds) != len(labels):
        raise InvalidFile(f"{path.name}: clouds of shape {clouds.shape} do not fit {len(labels)} labels")
    if len(labels) and not 0 <= labels.min() <= labels.max() < classes:
        raise InvalidFile(f"{path.name}: labels must lie between 0 and {classes - 1}")
