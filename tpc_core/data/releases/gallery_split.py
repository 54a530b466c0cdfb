"""The built-in gallery as a split of a data set, so that an evaluation needs no download."""

from __future__ import annotations

import numpy as np
import trimesh

from tpc_core.data.gallery.library import gallery, load_gallery_shape
from tpc_core.data.names import MODELNET40_CLASSES
from tpc_core.data.shape import OrderedPoints


class GallerySplit:
    """Every object of the gallery, by name."""

    kind = "built-in gallery"

    def __init__(self) -> None:
        entries = gallery()
        self.ids = [entry.name for entry in entries]
        self.labels = np.array(
            [MODELNET40_CLASSES.index(entry.category) for entry in entries], dtype=np.int64
        )

    def ordered(self, index: int) -> OrderedPoints:
        """The points of one object in farthest-point order."""
        return load_gallery_shape(self.ids[index]).ordered

    def mesh(self, index: int) -> trimesh.Trimesh | None:
        """Its mesh, inside the unit ball."""
        return load_gallery_shape(self.ids[index]).mesh
