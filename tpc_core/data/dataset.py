"""A data set: one split of ModelNet, ShapeNet part or one of your own, whichever release of it lies on disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tpc_core.data.classes import match_classes
from tpc_core.data.names import MODELNET10_CLASSES, MODELNET40_CLASSES, SHAPENET_CATEGORIES
from tpc_core.data.own import find_own, own_names
from tpc_core.data.releases import Release, find_release
from tpc_core.data.releases.gallery_split import GallerySplit
from tpc_core.data.roots import candidate_roots, not_found
from tpc_core.data.shape import Shape
from tpc_core.errors import InvalidFile, UnsupportedRequest, unknown_name

CLASSES_BY_SET: dict[str, list[str]] = {
    "modelnet40": MODELNET40_CLASSES,
    "modelnet10": MODELNET10_CLASSES,
    "shapenetpart": SHAPENET_CATEGORIES,
}
SPLITS = ["train", "test"]
GALLERY = "gallery"


class Dataset:
    """One split, in a stable order: labels and points for training, shapes for looking."""

    def __init__(
        self,
        name: str,
        split: str,
        release: Release,
        rows: NDArray[np.int64],
        classes: list[str],
        labels: NDArray[np.int64],
    ) -> None:
        self.name = name
        self.split = split
        self.classes = list(classes)
        self.labels = labels
        self._release = release
        self._rows = rows
        self._points: dict[int, NDArray[np.float32]] = {}
        self._parts: dict[int, NDArray[np.int64]] = {}

    @property
    def release(self) -> str:
        """Which on-disk release this was read from."""
        return self._release.kind

    def __len__(self) -> int:
        return len(self._rows)

    def label(self, index: int) -> int:
        """The number of the class of one object."""
        return int(self.labels[self._checked(index)])

    def object_id(self, index: int) -> str:
        """The name that the release gives to one object, e.g. 'airplane_0627'."""
        return self._release.ids[self._row(index)]

    def spec(self, index: int) -> str:
        """How the command line calls one object."""
        return spec_of(self.name, self.split, self._checked(index), self.object_id(index))

    def __getitem__(self, index: int) -> Shape:
        row = self._row(index)
        return Shape(
            name=self._release.ids[row],
            label=self.classes[self.label(index)],
            mesh=self._release.mesh(row),
            ordered=self._release.ordered(row),
        )

    def __iter__(self) -> Iterator[Shape]:
        return (self[index] for index in range(len(self)))

    def points_array(self, count: int) -> NDArray[np.float32]:
        """All clouds of the split at `count` points each, centred and in the unit ball: (M, count, 3)."""
        if count not in self._points:
            self._load(count)
        return self._points[count].copy()  # the caller may augment in place; ours must stay as it was

    def part_labels(self, count: int) -> NDArray[np.int64]:
        """The part of every point of `points_array(count)`: (M, count)."""
        if count not in self._parts:
            self._load(count)
        if count not in self._parts:
            raise UnsupportedRequest(f"{self.name} has no part labels; shapenetpart does")
        return self._parts[count].copy()

    def matched(self, classes: list[str]) -> Dataset:
        """The objects whose class is one of these, by name, with these classes and their numbers."""
        found = match_classes(self.classes, classes)
        kept = np.flatnonzero(np.isin(self.labels, list(found.pairs)))
        if not len(kept):
            raise InvalidFile(
                f"no object of {self.name} is of a class of the model: {found.sentence(self.name)}"
            )
        labels = np.array([found.pairs[int(self.labels[row])] for row in kept], dtype=np.int64)
        return Dataset(self.name, self.split, self._release, self._rows[kept], classes, labels)

    def _load(self, count: int) -> None:
        """Cut every cloud of the split once and keep the arrays; row i is exactly `self[i].cloud(count)`."""
        points = np.empty((len(self), count, 3), dtype=np.float32)
        parts = np.empty((len(self), count), dtype=np.int64)
        labelled = True
        for index, row in enumerate(self._rows):
            chosen, part = self._release.ordered(int(row)).first(count, self._release.ids[row])
            points[index] = chosen.numpy()
            if part is None:
                labelled = False
            else:
                parts[index] = part.numpy()
        self._points[count] = points
        if labelled:
            self._parts[count] = parts

    def _row(self, index: int) -> int:
        return int(self._rows[self._checked(index)])

    def _checked(self, index: int) -> int:
        if not 0 <= index < len(self):
            # IndexError ends a for loop over the data set; the message is for everyone else.
            raise IndexError(f"{self.name} {self.split} has objects 0 to {len(self) - 1}, not {index}")
        return index


def spec_of(name: str, split: str, index: int, object_id: str) -> str:
    """How the command line calls an object of a data set; those of the gallery have names, not numbers."""
    return f"{GALLERY}:{object_id}" if name == GALLERY else f"{name}:{split}/{index}"


def open_dataset(name: str, split: str, *, root: Path | None = None) -> Dataset:
    """Open one split of 'modelnet40', 'modelnet10' or 'shapenetpart', or of a data set that was added by name."""
    if name == GALLERY and split == "test":
        return open_gallery()
    if name not in data_sets():
        raise unknown_name("data set", name, data_sets())
    if split not in SPLITS:
        raise unknown_name("split", split, SPLITS)
    if name not in CLASSES_BY_SET:
        return open_own(name, split)
    return open_in(name, split, (root,) if root is not None else tuple(candidate_roots(name)))


def data_sets() -> list[str]:
    """The names of all data sets: the known ones, wherever they lie, and the user's own."""
    return [*CLASSES_BY_SET, *own_names()]


def open_gallery() -> Dataset:
    """The built-in objects as a data set, to try an evaluation on: they are for testing, all of them."""
    release = GallerySplit()
    rows = np.arange(len(release.ids), dtype=np.int64)
    return Dataset(GALLERY, "test", release, rows, MODELNET40_CLASSES, release.labels)


def open_own(name: str, split: str) -> Dataset:
    """One split of a data set of the user's."""
    release, classes = find_own(name, split)
    return Dataset(name, split, release, np.arange(len(release.ids), dtype=np.int64), classes, release.labels)


def open_in(name: str, split: str, roots: tuple[Path, ...]) -> Dataset:
    """The first of these folders that holds the split decides."""
    for root in roots:
        release = find_release(name, split, root)
        if release is not None:
            return _dataset(name, split, release)
    raise not_found(name, split, list(roots))


def _dataset(name: str, split: str, release: Release) -> Dataset:
    """The whole release, or for modelnet10 the ten classes of ModelNet40 that it consists of."""
    classes = CLASSES_BY_SET[name]
    if name != "modelnet10":
        rows = np.arange(len(release.ids), dtype=np.int64)
        labels = release.labels
    else:
        renumber = np.full(len(MODELNET40_CLASSES), -1, dtype=np.int64)
        renumber[[MODELNET40_CLASSES.index(name) for name in classes]] = np.arange(len(classes))
        rows = np.flatnonzero(renumber[release.labels] >= 0)
        labels = renumber[release.labels[rows]]
    if not len(rows):
        raise InvalidFile(f"the {name} {split} split ({release.kind}) holds no object")
    return Dataset(name, split, release, rows, classes, labels)
