"""A tiny data set that is made up on the spot, so that training can be tested without any download."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from tpc_core.errors import InvalidCloud


@dataclass
class Shapes:
    """Sticks, discs and balls: three classes of different extents; the parts are upper and lower half."""

    objects: int = 60
    classes: list[str] = field(default_factory=lambda: ["stick", "disc", "ball"])

    def __post_init__(self) -> None:
        rng = np.random.default_rng(0)
        self.labels: NDArray[np.int64] = np.arange(self.objects) % 3
        extents = np.array([[0.1, 0.1, 1.0], [0.7, 0.7, 0.1], [0.5, 0.5, 0.5]], dtype=np.float32)
        clouds = (
            rng.standard_normal((self.objects, 256, 3)).astype(np.float32) * extents[self.labels][:, None]
        )
        clouds -= clouds.mean(axis=1, keepdims=True)
        self._points = clouds / np.linalg.norm(clouds, axis=2).max(axis=1)[:, None, None]

    def __len__(self) -> int:
        return self.objects

    def points_array(self, count: int) -> NDArray[np.float32]:
        if count > 256:
            raise InvalidCloud("only 256 points are stored")
        return self._points[:, :count]

    def part_labels(self, count: int) -> NDArray[np.int64]:
        return (self._points[:, :count, 2] > 0).astype(np.int64)


@pytest.fixture
def shapes() -> Shapes:
    return Shapes()
