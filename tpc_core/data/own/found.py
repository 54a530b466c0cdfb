"""What is found under a path: which kind of data set it is, its classes, and its objects of one split."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import trimesh
from numpy.typing import NDArray

from tpc_core.data.ordered import OrderedPoints
from tpc_core.data.pose import turned_mesh, turned_points
from tpc_core.errors import InvalidFile

Up = Literal["z", "y"]
Split = Literal["train", "test"]


@dataclass(frozen=True)
class Entry:
    """One object: its id, the number of its class, and how to get its points and its mesh."""

    id: str
    label: int
    split: Split | None
    points: Callable[[], OrderedPoints]
    mesh: Callable[[], trimesh.Trimesh | None]


@dataclass(frozen=True)
class Found:
    """All objects under a path."""

    kind: str
    classes: list[str]
    entries: Sequence[Entry]


class OwnSplit:
    """One split of a data set of one's own; a Release."""

    def __init__(self, found: Found, split: str, up: Up) -> None:
        chosen = [entry for entry, where in zip(found.entries, splits(found), strict=True) if where == split]
        if not chosen:
            raise InvalidFile(f"this data set has no object in its {split} split")
        self.kind = found.kind
        self.ids = [entry.id for entry in chosen]
        self.labels: NDArray[np.int64] = np.array([entry.label for entry in chosen], dtype=np.int64)
        self._entries, self._up = chosen, up

    def ordered(self, index: int) -> OrderedPoints:
        """The points of one object, z-up."""
        given = self._entries[index].points()
        return given if self._up == "z" else turned_points(given)

    def mesh(self, index: int) -> trimesh.Trimesh | None:
        """Its mesh, where there is one, in the same frame."""
        mesh = self._entries[index].mesh()
        return mesh if self._up == "z" else turned_mesh(mesh)


def splits(found: Found) -> list[Split]:
    """The split of every object: its own, or one in five of every class is for testing where none is given."""
    seen: dict[int, int] = {}
    chosen: list[Split] = []
    for entry in found.entries:
        if entry.split is not None:
            chosen.append(entry.split)
            continue
        number = seen.get(entry.label, 0)
        seen[entry.label] = number + 1
        chosen.append("test" if number % 5 == 0 else "train")
    return chosen


def no_mesh() -> None:
    """Where there are points only."""
    return
