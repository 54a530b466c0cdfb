"""Name an object in one string: 'gallery:chair-1', 'modelnet40:test/17', or the path of a file."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path

from tpc_core.cloud import Cloud
from tpc_core.data.dataset import CLASSES_BY_SET, SPLITS, Dataset, data_sets, open_in, open_own
from tpc_core.data.files import load_file
from tpc_core.data.gallery import load_gallery_shape
from tpc_core.data.roots import candidate_roots
from tpc_core.data.shape import Shape
from tpc_core.errors import InvalidFile, InvalidValue, UnknownName, unknown_name

_ROW = re.compile(r"(?P<split>[a-z]+)/(?P<index>[0-9]{1,9})")


def load_object(spec: str, *, points: int = 64) -> Cloud:
    """The cloud of one object at `points` points, centred and in the unit ball."""
    return load_shape(spec).cloud(points)


def load_shape(spec: str) -> Shape:
    """One object of the gallery, of a data set, or of a file."""
    scheme, colon, rest = spec.partition(":")
    if colon and scheme == "gallery":
        return load_gallery_shape(rest)
    if colon and scheme in data_sets():
        return _from_dataset(scheme, rest)
    path = Path(os.path.expanduser(spec))  # unlike Path.expanduser, it never raises
    if not os.path.exists(path):
        raise InvalidFile(
            f"{spec!r} is no file here, and no object: write gallery:<name>, modelnet40:test/<number>, "
            "shapenetpart:test/<number>, or the same with a data set of yours"
        )
    return load_file(path)


def _from_dataset(name: str, rest: str) -> Shape:
    row = _ROW.fullmatch(rest)
    if row is None:
        raise UnknownName(f"{name}:{rest} does not name an object; write {name}:test/17")
    if row["split"] not in SPLITS:
        raise unknown_name("split", row["split"], SPLITS)
    split = row["split"]
    dataset = (
        _opened(name, split, tuple(candidate_roots(name)))
        if name in CLASSES_BY_SET
        else open_own(name, split)
    )
    index = int(row["index"])
    if index >= len(dataset):
        raise InvalidValue(f"{name} {row['split']} has objects 0 to {len(dataset) - 1}, not {index}")
    return dataset[index]


@lru_cache(maxsize=4)
def _opened(name: str, split: str, roots: tuple[Path, ...]) -> Dataset:
    """Opening a split takes a moment, and the app asks for one object after another."""
    return open_in(name, split, roots)
