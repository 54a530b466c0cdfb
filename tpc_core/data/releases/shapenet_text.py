"""shapenetcore_partanno_segmentation_benchmark_v0_normal: <synset>/<id>.txt, y-up, the part in column 7."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import trimesh

from tpc_core.data.names import SHAPENET_CATEGORIES, SHAPENET_SYNSETS
from tpc_core.data.releases.cloud_text import ordered_text_cloud
from tpc_core.data.releases.text_lists import read_json_strings
from tpc_core.data.roots import inside
from tpc_core.data.shape import OrderedPoints
from tpc_core.errors import InvalidFile

PART_COLUMN = 6
"""x y z nx ny nz part."""


class ShapeNetText:
    """One split, in the order of the official lists; train is train and val together, without test."""

    kind = "shapenetcore_partanno_segmentation_benchmark_v0_normal"

    def __init__(self, root: Path, split: str) -> None:
        self._root = root
        self.ids = _split_ids(root / "train_test_split", split)
        unknown = next((name for name in self.ids if name.split("/")[0] not in SHAPENET_SYNSETS), None)
        if unknown is not None:
            raise InvalidFile(f"the {split} list names an object of no known category: {unknown!r}")
        categories = [SHAPENET_SYNSETS[name.split("/")[0]] for name in self.ids]
        self.labels = np.array([SHAPENET_CATEGORIES.index(name) for name in categories], dtype=np.int64)

    def ordered(self, index: int) -> OrderedPoints:
        """The stored points with their parts, z-up and in farthest-point order; cached on disk."""
        return ordered_text_cloud(inside(self._root, f"{self.ids[index]}.txt"), part_column=PART_COLUMN)

    def mesh(self, index: int) -> trimesh.Trimesh | None:
        """This release holds points only."""
        return None


def _split_ids(lists: Path, split: str) -> list[str]:
    """The ids of a split, each once: the official lists overlap, and no test object may be trained on."""
    test = _ids(lists / "shuffled_test_file_list.json")
    if split == "test":
        return list(dict.fromkeys(test))
    val = lists / "shuffled_val_file_list.json"
    train = _ids(lists / "shuffled_train_file_list.json") + (_ids(val) if val.is_file() else [])
    held_out = set(test)
    return [name for name in dict.fromkeys(train) if name not in held_out]


def _ids(path: Path) -> list[str]:
    """'shape_data/02691156/a1708ad9' -> '02691156/a1708ad9'."""
    return [entry.removeprefix("shape_data/") for entry in read_json_strings(path)]


def find_shapenet_text(root: Path, split: str) -> ShapeNetText | None:
    """The release in this folder, if there is one."""
    lists = root / "train_test_split"
    found = all((lists / f"shuffled_{part}_file_list.json").is_file() for part in ("train", "test"))
    return ShapeNetText(root, split) if found else None
