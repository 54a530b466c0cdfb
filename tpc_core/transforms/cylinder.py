"""Displacement of everything that turns, twists and tapers about one axis.

In cylinder coordinates about the axis, a point (r, angle, h) goes to
(r (1 + taper h), angle + rotation + twist h, h). The three commute, so one bound (docs/theory.md,
"Exact displacements") serves rotation, twist, taper and all their compositions, in any order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tpc_core.errors import InvalidValue
from tpc_core.transforms.base import Array, Axis, Reach, axis_order


@dataclass(frozen=True)
class CylinderReach(Reach):
    """The displacement bound of twist, taper and rotation about an axis, for one cloud.

    `twist`, `taper`, `rotation` name the column of z that holds each, or None where it is absent.
    `moments` holds S_k = sum r_i^2 h_i^k for k = 0..4; `largest_height` is max |h_i|.
    """

    moments: tuple[float, ...]
    largest_height: float
    twist: int | None = None
    taper: int | None = None
    rotation: int | None = None

    @staticmethod
    def of(
        points: Array,
        axis: Axis,
        *,
        twist: int | None = None,
        taper: int | None = None,
        rotation: int | None = None,
    ) -> CylinderReach:
        """The bound for a cloud (N, 3)."""
        u, v, k = axis_order(axis)
        squared_radius = points[:, u] ** 2 + points[:, v] ** 2
        height = points[:, k]
        moments = tuple(float(np.sum(squared_radius * height**power)) for power in range(5))
        return CylinderReach(moments, float(np.max(np.abs(height))), twist, taper, rotation)

    def __call__(self, centre: Array, low: Array, high: Array, span: Array) -> Array:
        s0, s1, s2, s3, s4 = self.moments
        zero = np.zeros(len(centre))

        def column(values: Array, index: int | None) -> Array:
            return zero if index is None else values[:, index]

        def farthest(index: int | None) -> Array:
            middle = column(centre, index)
            return np.maximum(column(high, index) - middle, middle - column(low, index))

        a = column(centre, self.taper)
        ends = (column(low, self.taper), column(high, self.taper))
        self._check_taper(a, *ends)
        dt, dw = farthest(self.rotation), farthest(self.twist)
        # Without twist the chord is exact, 2(1 - cos dt); with it, 1 - cos u <= u^2 / 2.
        turn = 2 * (1 - np.cos(np.minimum(dt, np.pi))) if self.twist is None else dt**2
        worst = zero
        for other in ends:
            plus, times = a + other, a * other
            still = (other - a) ** 2 * s2
            turned = turn * (s0 + plus * s1 + times * s2)
            twisted = dw**2 * (s2 + plus * s3 + times * s4)
            mixed = 2 * np.abs(dt * dw * (s1 + plus * s2 + times * s3)) if self.twist is not None else zero
            worst = np.maximum(worst, still + turned + twisted + mixed)
        return np.sqrt(worst)

    def holds(self, centre: Array, low: Array, high: Array) -> NDArray[np.bool_]:
        """Where no point is turned inside out: |taper| <= 1 / max |h_i|, at the tested point and over the box."""
        if self.taper is None:
            return super().holds(centre, low, high)
        steepest = np.max(np.abs([t[:, self.taper] for t in (centre, low, high)]), axis=0)
        return np.asarray(steepest * self.largest_height <= 1 + 1e-9)

    def _check_taper(self, *tapers: Array) -> None:
        steepest = max((float(np.max(np.abs(t), initial=0.0)) for t in tapers), default=0.0)
        if steepest * self.largest_height > 1 + 1e-9:
            raise InvalidValue(
                f"a taper of {steepest:.3g} turns this cloud inside out; "
                f"keep it at or below {1 / self.largest_height:.3g}"
            )
