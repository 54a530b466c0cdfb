"""What every on-disk release tells about one split of a data set."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import trimesh
from numpy.typing import NDArray

from tpc_core.data.shape import OrderedPoints


class Release(Protocol):
    """One split as found on disk: ids and labels in a stable order, and the points of each object.

    Points come z-up and in farthest-point order; they need not be centred or scaled yet.
    """

    kind: str
    """Which release this is, in the words of `tpc data list`."""

    ids: list[str]
    labels: NDArray[np.int64]

    def ordered(self, index: int) -> OrderedPoints:
        """The points of one object in farthest-point order."""
        ...

    def mesh(self, index: int) -> trimesh.Trimesh | None:
        """The mesh in the same frame as the points, or None where the release holds points only."""
        ...
