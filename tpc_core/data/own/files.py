"""A folder with one subfolder for each class, or a table of files and labels."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

from tpc_core.data.classes import checked_class
from tpc_core.data.files import FORMATS, load_file, load_file_points
from tpc_core.data.files.content import as_text, read_bytes
from tpc_core.data.limits import MAX_LIST_BYTES
from tpc_core.data.own.found import Entry, Found, Split
from tpc_core.data.roots import inside
from tpc_core.errors import InvalidFile, MissingDependency

MOST_FILES = 1_000_000
_SPLITS: dict[str, Split] = {
    "train": "train",
    "training": "train",
    "val": "train",
    "test": "test",
    "testing": "test",
}
_FILE = ("file", "path", "filename", "object_path")
_LABEL = ("label", "class", "category", "class_name")
_SPLIT = ("split", "partition", "subset")


def find_folder(root: Path) -> Found | None:
    """CLASS/file, CLASS/train/file or train/CLASS/file, of every format that can be read; None if it is neither."""
    listed = sorted(_listed(root), key=lambda item: (item[1], item[0]))
    if not listed:
        return None
    classes = sorted({name for _, name, _ in listed})
    for name in classes:
        checked_class(name)
    number = {name: place for place, name in enumerate(classes)}
    entries = [_entry(root, file, number[name], split) for file, name, split in listed]
    return Found("folder of classes", classes, entries)


def _listed(root: Path) -> Iterator[tuple[str, str, Split | None]]:
    """File, class and split of everything in the folder that looks like an object."""
    count = 0
    for path in root.rglob("*"):
        parts = path.relative_to(root).parts
        if path.suffix.lower() not in FORMATS or any(part.startswith(".") for part in parts):
            continue
        count += 1
        if count > MOST_FILES:
            raise InvalidFile(f"{root} holds more than {MOST_FILES:,} files")
        folders = parts[:-1]
        split = next((_SPLITS[part.lower()] for part in folders if part.lower() in _SPLITS), None)
        names = [part for part in folders if part.lower() not in _SPLITS]
        if names:
            yield "/".join(parts), names[0], split


def find_table(path: Path) -> Found | None:
    """A CSV or Parquet file with a column of files, one of labels and perhaps one of splits."""
    if path.suffix.lower() == ".csv":
        rows: list[Mapping[str, Any]] = list(_csv_rows(path))
    elif path.suffix.lower() == ".parquet":
        rows = list(_parquet_rows(path))
    else:
        return None
    if not rows:
        raise InvalidFile(f"{path.name} holds no row")
    columns = {str(name).strip().lower(): name for name in rows[0]}
    file, label = _column(columns, _FILE, path), _column(columns, _LABEL, path)
    split = next((columns[name] for name in _SPLIT if name in columns), None)
    classes = sorted({checked_class(str(row[label])) for row in rows})
    number = {name: place for place, name in enumerate(classes)}
    entries = []
    for row in rows:
        place = inside(path.parent, str(row[file]))
        if place.suffix.lower() not in FORMATS:
            raise InvalidFile(
                f"{path.name} names {str(row[file])!r}, which is no mesh or cloud that can be read"
            )
        where = _split_of(row.get(split), path) if split is not None else None
        entries.append(_entry(path.parent, str(row[file]), number[str(row[label]).strip()], where))
    return Found(f"{path.suffix.lower().lstrip('.')} table", classes, entries)


def _entry(root: Path, file: str, label: int, split: Split | None) -> Entry:
    name = Path(file).with_suffix("").as_posix()
    return Entry(name, label, split, partial(_points, root, file), partial(_mesh, root, file))


def _points(root: Path, file: str) -> Any:
    return load_file_points(inside(root, file))


def _mesh(root: Path, file: str) -> Any:
    return load_file(inside(root, file)).mesh


def _csv_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    text = as_text(read_bytes(path, MAX_LIST_BYTES), path.name)
    try:
        for row in csv.DictReader(io.StringIO(text), strict=True):
            if None in row or None in row.values():
                raise InvalidFile(f"{path.name}: a row has more or fewer cells than the first line")
            yield cast("Mapping[str, Any]", row)
    except csv.Error as error:
        raise InvalidFile(f"{path.name} is not a CSV table: {error}") from error


def _parquet_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise MissingDependency("Parquet tables need pyarrow: pip install pyarrow") from error
    content = io.BytesIO(read_bytes(path, MAX_LIST_BYTES))
    try:
        yield from parquet.read_table(content).to_pylist()
    except Exception as error:
        raise InvalidFile(f"{path.name} is not a readable Parquet table") from error


def _column(columns: Mapping[str, str], names: tuple[str, ...], path: Path) -> str:
    for name in names:
        if name in columns:
            return columns[name]
    raise InvalidFile(f"{path.name} has no column called {names[0]}; its columns are {', '.join(columns)}")


def _split_of(value: Any, path: Path) -> Split:
    word = str(value).strip().lower()
    if word not in _SPLITS:
        raise InvalidFile(f"{path.name} names the split {word[:40]!r}; splits are called train and test")
    return _SPLITS[word]
