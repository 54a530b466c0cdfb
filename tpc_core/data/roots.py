"""Where data sets lie on this machine, and how to say so when they do not."""

from __future__ import annotations

import os
from pathlib import Path

from tpc_core.errors import InvalidFile
from tpc_core.shipped import shipped

FOLDER_VARIABLES = {
    "modelnet40": "TPC_MODELNET40",
    "modelnet10": "TPC_MODELNET40",
    "shapenetpart": "TPC_SHAPENETPART",
}


def candidate_roots(name: str) -> list[Path]:
    """The folders to look in for a data set, first come first served.

    A variable that the user set is the only answer: looking elsewhere would silently ignore it.
    """
    for variable in (FOLDER_VARIABLES[name], "TPC_DATA"):
        chosen = os.environ.get(variable)
        if chosen:
            root = Path(chosen).expanduser()
            if not root.is_dir():
                raise InvalidFile(f"{variable} points to {root}, which is not a folder")
            return [root.resolve()]
    beside = shipped().parent / "shared" / "data"
    return [root.resolve() for root in (Path("data"), beside) if root.is_dir()]


def not_found(name: str, split: str, looked: list[Path]) -> InvalidFile:
    """The error that says how to get the data set, or how to point to it."""
    fetched = "shapenetpart" if name == "shapenetpart" else "modelnet40"
    places = ", ".join(str(place) for place in looked) or "./data"
    return InvalidFile(
        f"no {name} {split} split in {places}; run `tpc data fetch {fetched}` "
        f"or set {FOLDER_VARIABLES[name]} to the folder that holds it"
    )


def inside(root: Path, relative: str) -> Path:
    """The path of a file under the root, or an InvalidFile if it would lead anywhere else.

    Ids come from list files that a stranger may have written, and a symlink may point anywhere.
    """
    parts = Path(relative).parts
    if not parts or Path(relative).is_absolute() or ".." in parts or "\\" in relative or "\0" in relative:
        raise InvalidFile(f"the id {relative!r} does not name a file inside {root}")
    path = root / relative
    if not path.resolve().is_relative_to(root.resolve()):
        raise InvalidFile(f"{relative} is a link that leads out of {root}")
    return path
