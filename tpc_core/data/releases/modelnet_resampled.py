"""modelnet40_normal_resampled: 10,000 points with normals per object, as y-up text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import trimesh

from tpc_core.data.names import MODELNET40_CLASSES
from tpc_core.data.releases.cloud_text import ordered_text_cloud
from tpc_core.data.releases.text_lists import read_lines
from tpc_core.data.roots import inside
from tpc_core.data.shape import OrderedPoints
from tpc_core.errors import InvalidFile


class ModelNetResampled:
    """One split, in the order of its own list file."""

    kind = "modelnet40_normal_resampled"

    def __init__(self, root: Path, split: str) -> None:
        self._root = root
        self.ids = read_lines(root / f"modelnet40_{split}.txt")
        # 'night_stand_0201' -> 'night_stand': the class itself may hold underscores.
        self._classes = [name.rpartition("_")[0] for name in self.ids]
        position = {name: number for number, name in enumerate(MODELNET40_CLASSES)}
        unknown = next((name for name in self._classes if name not in position), None)
        if unknown is not None:
            raise InvalidFile(f"modelnet40_{split}.txt names a class that is not in ModelNet40: {unknown!r}")
        self.labels = np.array([position[name] for name in self._classes], dtype=np.int64)

    def ordered(self, index: int) -> OrderedPoints:
        """The stored points, z-up and in farthest-point order; cached on disk."""
        path = inside(self._root, f"{self._classes[index]}/{self.ids[index]}.txt")
        return ordered_text_cloud(path, part_column=None)

    def mesh(self, index: int) -> trimesh.Trimesh | None:
        """This release holds points only."""
        return None


def find_modelnet_resampled(root: Path, split: str) -> ModelNetResampled | None:
    """The release in this folder, if there is one."""
    found = (root / f"modelnet40_{split}.txt").is_file() and (root / "modelnet40_shape_names.txt").is_file()
    return ModelNetResampled(root, split) if found else None
