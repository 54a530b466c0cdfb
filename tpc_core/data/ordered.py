"""Points in the order in which clouds are cut from them. Imported without torch: the sandbox has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tpc_core.data.limits import MAX_POINTS, MIN_POINTS
from tpc_core.errors import InvalidCloud

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class OrderedPoints:
    """Points in farthest-point order, z-up: (K, 3) float32, with (K,) int64 part ids where they are known."""

    points: NDArray[np.float32]
    parts: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.points)

    def first(self, count: int, name: str) -> tuple[torch.Tensor, torch.Tensor | None]:
        """The first `count` points, centred and scaled into the unit ball, and their part ids."""
        import torch

        from tpc_core.cloud import normalise

        check_count(count, len(self), name)
        # Centred after choosing: the cloud that the network sees is itself centred, whatever its size.
        points = normalise(torch.from_numpy(np.ascontiguousarray(self.points[:count])))
        parts = None if self.parts is None else torch.from_numpy(self.parts[:count].astype(np.int64))
        return points, parts


def check_count(count: int, available: int, name: str) -> None:
    """Refuse a number of points that no cloud of this shape can have."""
    if not MIN_POINTS <= count <= MAX_POINTS:
        raise InvalidCloud(f"ask for between {MIN_POINTS} and {MAX_POINTS} points, not {count}")
    if count > available:
        raise InvalidCloud(f"{name} has {available} points on disk; ask for at most {available}, not {count}")
