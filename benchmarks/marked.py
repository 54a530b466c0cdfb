"""Marked objects: each visitor of a load test brings one of their own, and whatever the server sends can be told apart.

A mark shows in two ways: in the name of the object, and in its points. Both are looked for in every byte that a browser
receives, so that a name or a cloud that reaches the wrong visitor is found even where no page would show it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.figures.arrays import packed
from tpc_core import gallery, load_shape
from tpc_core.cloud import Cloud
from tpc_core.data import Shape

DRAWN = 1024
"""Points that the Explore page draws unless told otherwise."""
POINTS = 2048
"""Points of a marked file: as many as a cloud may have."""
TELLING = 64
"""Letters of base64 that tell two clouds apart: a dozen coordinates."""


@dataclass(frozen=True)
class Mark:
    """One visitor's own object."""

    name: str
    file: Path
    shape: Shape

    @property
    def pattern(self) -> str:
        """How its points begin on their way to a browser."""
        return str(packed(self.shape.cloud(DRAWN).points.numpy().ravel())["bdata"])[:TELLING]

    def is_cloud(self, cloud: Cloud) -> bool:
        """Whether a cloud is this object, point by point."""
        mine = self.shape.cloud(len(cloud))
        return cloud.name == mine.name and bool(np.array_equal(cloud.points.numpy(), mine.points.numpy()))


def make_marks(count: int, folder: Path) -> list[Mark]:
    """Objects of the gallery, each turned by an angle of its own and shaken a little, under names of their own."""
    entries = [entry.name for entry in gallery()]
    marks = []
    for number in range(count):
        name = f"marked-{number:03}"
        points = (
            load_shape(f"gallery:{entries[number % len(entries)]}")
            .cloud(POINTS)
            .points.double()
            .numpy()
            .copy()
        )
        angle = 2 * math.pi * number / count
        turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        points[:, :2] = points[:, :2] @ turn.T
        points += np.random.default_rng(number).normal(0, 0.002, points.shape)
        file = folder / f"{name}.xyz"
        np.savetxt(file, points, fmt="%.7f")
        marks.append(Mark(name, file, load_shape(str(file))))
    assert len({mark.pattern for mark in marks}) == count
    return marks
