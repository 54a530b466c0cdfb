"""Which parameters of a transform a map draws: all of them up to three, else a slice of two or one, which it names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tpc_core.lazy_torch import torch
from tpc_core.transforms import Ball, Composition, CoordinateNoise, GeneralRotation, Linear, Transform

if TYPE_CHECKING:
    from torch import Tensor

Array = NDArray[np.float64]

MOST_AXES = 3
_NOISE_SEED = 0


@dataclass(frozen=True)
class ChartAxis:
    """One axis of a map: its name, its unit, and the direction in which z moves along it."""

    name: str
    unit: str
    """ "°" for angles, which z holds in radians; else nothing."""
    direction: Array = field(repr=False)
    """A unit vector (dim,) for a region that is a ball; a coordinate otherwise."""

    @property
    def factor(self) -> float:
        """From internal to shown units."""
        return math.degrees(1.0) if self.unit else 1.0

    @property
    def title(self) -> str:
        return f"{self.name} ({self.unit})" if self.unit else self.name

    def shown(self, value: float) -> float:
        """A coordinate in the unit that people read."""
        return value * self.factor


@dataclass(frozen=True)
class Chart:
    """The plane, line or space of parameters that a map shows."""

    transform: Transform
    axes: tuple[ChartAxis, ...]
    left_out: str = ""
    """What the map does not show, in words; empty where it shows every parameter."""

    @staticmethod
    def of(transform: Transform, points: int) -> Chart:
        """The chart of a transform of a cloud of so many points."""
        if isinstance(transform, CoordinateNoise):
            along = noise_direction(transform, points)
            return Chart(
                transform,
                (ChartAxis(f"{transform.name} size", "", along),),
                f"One random direction of the {3 * points:,} that every point may take.",
            )
        if isinstance(transform, Linear):
            across, up = np.zeros(9), np.zeros(9)
            across[[0, 4]], up[8] = math.sqrt(0.5), 1.0
            return Chart(
                transform,
                (ChartAxis("stretch across", "", across), ChartAxis("stretch along z", "", up)),
                "Two of the nine directions of a linear map: wider and taller. The others are at zero.",
            )
        named = coordinates(transform)
        if len(named) <= MOST_AXES:
            return Chart(transform, named)
        others = ", ".join(axis.name for axis in named[2:])
        return Chart(transform, named[:2], f"The first two parameters; {others} are at zero.")

    @property
    def is_round(self) -> bool:
        """Whether the regions of this transform are balls."""
        if isinstance(self.transform, CoordinateNoise):
            return False
        return isinstance(self.transform.region(tuple(1e-3 for _ in self.transform.radii)), Ball)

    def half_widths(self, radii: Sequence[float]) -> Array:
        """How far the region of these radii (internal units) reaches along each axis."""
        if isinstance(self.transform, CoordinateNoise):
            return np.array([radii[0]])
        region = self.transform.region(radii)
        if self.is_round:
            return np.full(len(self.axes), float(region.half_widths[0]))
        return np.array([float(region.half_widths @ np.abs(axis.direction)) for axis in self.axes])

    def z(self, places: Array) -> Array:
        """The parameters (M, dim) of places (M, k) of the map."""
        return np.asarray(places @ np.stack([axis.direction for axis in self.axes]))

    def place(self, z: Sequence[float] | Array) -> Array:
        """The place (k,) of a parameter on the map: what it has along each axis."""
        values = np.asarray(z, dtype=np.float64)
        lengths = [axis.direction / float(axis.direction @ axis.direction) for axis in self.axes]
        return np.array([float(values @ along) for along in lengths])

    def moved(self, points: Tensor, place: Array) -> Tensor:
        """The cloud (N, 3) at a place of the map, in float32 as votes are cast on it."""
        z = torch.from_numpy(self.z(place[None])[0])
        return self.transform.apply(points.double(), z).to(torch.float32)


def coordinates(transform: Transform) -> tuple[ChartAxis, ...]:
    """The coordinates of z by name; the rotation vector of a general rotation turns about x, y and z."""
    named = _names(transform)
    unit = np.eye(len(named))
    return tuple(ChartAxis(name, mark, unit[place]) for place, (name, mark) in enumerate(named))


def _names(transform: Transform) -> list[tuple[str, str]]:
    if isinstance(transform, Composition):
        return [name for part in transform.parts for name in _names(part)]
    if isinstance(transform, GeneralRotation):
        return [(f"about {axis}", "°") for axis in "xyz"]
    return [(p.name, "°" if p.unit == "deg" else "") for p in transform.parameters]


def noise_direction(transform: CoordinateNoise, points: int) -> Array:
    """The one random direction (3N,), of size one in the transform's norm, that sliders and maps move along."""
    drawn = torch.randn(3 * points, generator=torch.Generator().manual_seed(_NOISE_SEED), dtype=torch.float64)
    return np.asarray(transform.on_sphere(drawn, 1.0).numpy())
