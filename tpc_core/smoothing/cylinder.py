"""Cylinder smoothing: turn and twist the cloud about an axis at random, then shake every coordinate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tpc_core.errors import InvalidValue
from tpc_core.lazy_torch import torch
from tpc_core.smoothing.base import Smoothing, as_number, edge_number
from tpc_core.smoothing.noise import Noise
from tpc_core.smoothing.parameter import sigmas_for
from tpc_core.smoothing.rules import Cover, GaussianShift, Points, Rule
from tpc_core.transforms import Composition, Reach, Rotation, Taper, Transform, Twist, parts_of
from tpc_core.transforms.base import AXES, Axis, axis_order

if TYPE_CHECKING:
    from torch import Tensor

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CylinderSmoothing(Smoothing):
    """U x + n: U a twist and a rotation by Gaussian angles (radians), n ~ N(0, sigma^2 I) added last.

    About one axis, twist, rotation and taper commute and keep heights, so on the points of x they are fixed
    orthogonal maps U. Seen from the turned frame, n is the same noise whatever the angles are: an attack shifts one
    joint Gaussian by its angles and by the displacement of its taper. No cell is needed for the angles as such.
    The order matters: noise before the twist would change the heights that the twist goes by.
    """

    axis: Axis
    sigma: float
    twist: float
    rotation: float
    kind = "cylinder"

    def __post_init__(self) -> None:
        if self.axis not in AXES:
            raise InvalidValue(f"the axis is x, y or z, not {self.axis!r}")
        if not all(math.isfinite(s) and s > 0 for s in (self.sigma, self.twist, self.rotation)):
            raise InvalidValue(
                "every sigma must be a positive, finite number, not "
                f"{self.sigma:g}, {math.degrees(self.twist):g}° and {math.degrees(self.rotation):g}°"
            )

    def perturb(self, points: Tensor, noise: Noise) -> Tensor:
        angles = noise.normal(points.shape[0], 2).to(points)
        z = torch.stack([self.twist * angles[:, 0], self.rotation * angles[:, 1]], dim=1)
        turned = Composition((Twist(self.axis), Rotation(self.axis))).apply(points, z)
        return turned + self.sigma * noise.normal(*points.shape).to(points)

    @property
    def angle_sigmas(self) -> dict[Transform, float]:
        """The sigma of each transform that is smoothed by its own parameter."""
        return {Twist(self.axis): self.twist, Rotation(self.axis): self.rotation}

    def rule(self, transform: Transform, points: Points) -> Rule | None:
        parts = parts_of(transform)
        if not all(part in (*self.angle_sigmas, Taper(self.axis)) for part in parts):
            return None
        sigmas = sigmas_for(transform, self.angle_sigmas)
        if sigmas is not None:
            return GaussianShift(sigmas)
        u, v, k = axis_order(self.axis)
        slope = float(np.sqrt(np.sum((points[:, u] ** 2 + points[:, v] ** 2) * points[:, k] ** 2)))
        known = {part: self.sigma / s for part, s in self.angle_sigmas.items()} | {Taper(self.axis): slope}
        return Cover(self.sigma, JointReach(tuple(known[part] for part in parts)))

    @property
    def sigmas(self) -> Mapping[str, float]:
        own = self.to_json()
        return {
            "sigma of noise": own["sigma"],
            "sigma of twist (°)": own["twist"],
            "sigma of rotation (°)": own["rotation"],
        }

    def with_sigmas(self, values: Sequence[float]) -> CylinderSmoothing:
        noise, twist, rotation = self.checked_sigmas(values)
        return CylinderSmoothing(self.axis, noise, math.radians(twist), math.radians(rotation))

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "axis": self.axis,
            "sigma": self.sigma,
            "twist": edge_number(math.degrees(self.twist)),
            "rotation": edge_number(math.degrees(self.rotation)),
        }

    @classmethod
    def from_json(cls, description: Mapping[str, Any]) -> CylinderSmoothing:
        angles = (math.radians(as_number(description[name])) for name in ("twist", "rotation"))
        return cls(description["axis"], as_number(description["sigma"]), *angles)

    def describe(self) -> str:
        return (
            f"random {self.axis}-twist, sigma {math.degrees(self.twist):.6g}°, random {self.axis}-rotation, sigma "
            f"{math.degrees(self.rotation):.6g}°, and coordinate noise, sigma {self.sigma:g}"
        )


@dataclass(frozen=True)
class JointReach(Reach):
    """sqrt(sum (slope_i dz_i)^2): the distance of two attacks in the joint Gaussian; exact for every cell."""

    slopes: tuple[float, ...]

    def __call__(self, centre: Array, low: Array, high: Array, span: Array) -> Array:
        farthest = np.maximum(high - centre, centre - low)
        return np.asarray(np.sqrt(np.sum((farthest * np.array(self.slopes)) ** 2, axis=1)))
