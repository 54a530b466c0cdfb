"""The user's data sets by name: a small file for each, in the folder `TPC_DATA_SETS`, says where it lies."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from tpc_core.border import DATA_SET, Items, checked, read_json
from tpc_core.data.files.content import read_bytes
from tpc_core.data.own.arrays import find_hugging_face, find_modelnet40c, find_scanobjectnn
from tpc_core.data.own.files import find_folder, find_table
from tpc_core.data.own.found import Found, OwnSplit, splits
from tpc_core.errors import InvalidFile, InvalidValue, TpcError, unknown_name
from tpc_core.machinery.atomic import write_atomically
from tpc_core.machinery.user_folder import user_folder

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
TAKEN = ("gallery", "upload", "modelnet40", "modelnet10", "shapenetpart", "unknown")
Finder = Callable[[Path], Found | None]
_Y_UP = ("ScanObjectNN h5", "ModelNet40-C npy")


class OwnSet(BaseModel):
    """What is kept of a data set: the data stay where they are."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    path: str
    kind: str
    up: Literal["z", "y"] = "z"
    classes: Items[str]
    train: int = Field(ge=0)
    test: int = Field(ge=0)


def sets_folder() -> Path:
    """Where the user's data sets are written down."""
    return user_folder("data-sets", "TPC_DATA_SETS")


def add_set(name: str, path: Path, *, up: Literal["z", "y"] | None = None, replace: bool = False) -> OwnSet:
    """Look what lies under a path and keep it under a name; without `up`, what the release is known for."""
    if not _NAME.fullmatch(name) or name in TAKEN:
        raise InvalidValue(
            f"{name!r} cannot be the name of a data set; take small letters, digits and dashes, and none of "
            + ", ".join(TAKEN[:-1])
        )
    if name in own_names() and not replace:
        raise InvalidValue(
            f"there is a data set called {name} already; add --replace to put this one in its place"
        )
    place = Path(os.path.expanduser(path)).resolve()  # unlike Path.expanduser, it never raises
    found = look_at(place)
    axis = up or ("y" if found.kind in _Y_UP else "z")
    where = splits(found)
    made = OwnSet(
        name=name,
        path=str(place),
        kind=found.kind,
        up=axis,
        classes=found.classes,
        train=where.count("train"),
        test=where.count("test"),
    )
    write_atomically(sets_folder() / f"{name}.json", f"{json.dumps(made.model_dump(), indent=1)}\n".encode())
    find_own.cache_clear()
    return made


def remove_set(name: str) -> None:
    """Forget a data set; its files are left alone."""
    if name not in own_names():
        raise unknown_name("data set of yours", name, own_names())
    (sets_folder() / f"{name}.json").unlink()
    find_own.cache_clear()


def own_names() -> list[str]:
    """The names of the user's data sets."""
    with contextlib.suppress(OSError):
        return sorted(
            path.stem
            for path in sets_folder().glob("*.json")
            if _NAME.fullmatch(path.stem) and path.stem not in TAKEN
        )
    return []


def read_set(name: str) -> OwnSet:
    """What was written down of a data set."""
    path = sets_folder() / f"{name}.json"
    made = checked(
        OwnSet, read_json(read_bytes(path, DATA_SET.size), DATA_SET, str(path)), DATA_SET, str(path)
    )
    return made.model_copy(update={"name": name})


@lru_cache(maxsize=8)
def find_own(name: str, split: str) -> tuple[OwnSplit, list[str]]:
    """One split of a data set of the user's, and its classes."""
    kept = read_set(name)
    try:
        found = look_at(Path(kept.path))
    except TpcError as error:
        raise InvalidFile(f"the data set {name}: {error}") from error
    if found.classes != list(kept.classes):
        raise InvalidFile(
            f"the data set {name} has other classes than when it was added; `tpc data add {name} --replace` takes them"
        )
    return OwnSplit(found, split, kept.up), found.classes


def look_at(path: Path) -> Found:
    """What kind of data set lies under a path."""
    if not path.exists():
        raise InvalidFile(f"there is nothing at {path}")
    array_releases: tuple[Finder, ...] = (find_scanobjectnn, find_modelnet40c)
    finders: tuple[Finder, ...] = (
        (find_table, *array_releases) if path.is_file() else (*array_releases, find_hugging_face, find_folder)
    )
    for find in finders:
        found = find(path)
        if found is not None:
            return found
    raise InvalidFile(
        f"{path} is no data set: a folder with one subfolder for each class, a CSV or Parquet table with the columns "
        "file and label, ScanObjectNN's h5 files, ModelNet40-C's npy files, or a Hugging Face data set"
    )
