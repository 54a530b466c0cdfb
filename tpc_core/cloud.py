"""The cloud: N points in the unit ball, with what is known of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tpc_core.errors import InvalidCloud
from tpc_core.lazy_torch import torch
from tpc_core.pictures import cloud_svg, fact_table

if TYPE_CHECKING:
    from torch import Tensor

UNIT_BALL_TOLERANCE = 1e-3
"""How far past radius 1 a point may lie: float16 storage moves points by up to 3e-4."""


@dataclass(frozen=True, init=False, eq=False)
class Cloud:
    """A point cloud x = {p_i}, centred and inside the unit ball.

    array: (N, 3) float32; `points` is the same as a tensor; part_labels: (N,) int64 or None.
    """

    array: NDArray[np.float32]
    name: str
    label: str | None
    part_labels: Tensor | None

    def __init__(
        self,
        points: Tensor | ArrayLike,
        name: str = "cloud",
        label: str | None = None,
        part_labels: Tensor | None = None,
    ) -> None:
        array = checked_points(points)
        if part_labels is not None and part_labels.shape != (len(array),):
            raise InvalidCloud(
                f"{name}: {len(array)} points but part labels of shape "
                f"{tuple(part_labels.shape)}; give one label per point"
            )
        for field, value in (
            ("array", array),
            ("name", name),
            ("label", label),
            ("part_labels", part_labels),
        ):
            object.__setattr__(self, field, value)

    def __len__(self) -> int:
        return len(self.array)

    @cached_property
    def points(self) -> Tensor:
        """The points (N, 3) as a float32 tensor on the CPU."""
        return torch.from_numpy(self.array)

    @cached_property
    def digest(self) -> str:
        """The sha256 of the points as little-endian float32."""
        return hashlib.sha256(self.array.astype("<f4").tobytes()).hexdigest()

    def _repr_html_(self) -> str:
        """The cloud as a picture, where a notebook shows it."""
        facts = {"points": len(self), "class": self.label, "sha256": f"{self.digest[:12]}..."}
        return f"<b>{escape(self.name)}</b><br>{cloud_svg(self.array)}{fact_table(facts)}"

    def first(self, count: int) -> Cloud:
        """The cloud of the first `count` points (clouds are kept in farthest-point order)."""
        if not 1 <= count <= len(self):
            raise InvalidCloud(
                f"{self.name} has {len(self)} points; ask for between 1 and {len(self)}, not {count}"
            )
        parts = None if self.part_labels is None else self.part_labels[:count]
        return Cloud(self.array[:count], self.name, self.label, parts)


def checked_points(points: Tensor | ArrayLike) -> NDArray[np.float32]:
    """The points as an (N, 3) float32 array of their own, or an InvalidCloud that says what is wrong."""
    given = points.detach().cpu().numpy() if hasattr(points, "detach") else points
    array = np.array(given, dtype=np.float32, order="C")
    if array.ndim != 2 or array.shape[1] != 3:
        raise InvalidCloud(f"a cloud has shape (N, 3), not {array.shape}")
    if len(array) == 0:
        raise InvalidCloud("the cloud is empty; give at least two points")
    finite = np.isfinite(array).all(axis=1)
    if not finite.all():
        bad = int((~finite).sum())
        raise InvalidCloud(f"{bad} of {len(array)} points hold NaN or infinity; remove them first")
    if len(array) == 1:
        raise InvalidCloud("a cloud of one point has no shape; give at least two points")
    radius = float(np.linalg.norm(array.astype(np.float64), axis=1).max())
    if radius > 1 + UNIT_BALL_TOLERANCE:
        raise InvalidCloud(
            f"a point lies at radius {radius:.4g}, outside the unit ball; call normalise() on the points first"
        )
    return array


def normalise(points: Tensor) -> Tensor:
    """Centre the points at their mean and scale them into the unit ball; (N, 3) -> (N, 3) float32."""
    if points.ndim != 2 or points.shape[1] != 3 or points.shape[0] == 0:
        raise InvalidCloud(f"a cloud has shape (N, 3) with N >= 2, not {tuple(points.shape)}")
    exact = points.detach().to("cpu", torch.float64)
    if not bool(torch.isfinite(exact).all()):
        raise InvalidCloud("the points hold NaN or infinity; remove them first")
    # Dividing first keeps the mean of coordinates near the float64 limit from overflowing.
    size = float(exact.abs().max())
    centred = exact / size if size > 0 else exact
    centred = centred - centred.mean(dim=0)
    radius = float(centred.norm(dim=1).max())
    if radius < 1e-12:
        raise InvalidCloud("all points coincide, so the cloud has no shape to look at")
    return (centred / radius).to(torch.float32)
