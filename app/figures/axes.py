"""The axes of a parameter space, in the units that people read."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tpc_core import Transform
from tpc_core.transforms import Composition, GeneralRotation


@dataclass(frozen=True)
class ParameterAxis:
    """One coordinate of z: its title, and the factor from internal to shown units."""

    name: str
    unit: str
    factor: float

    @property
    def title(self) -> str:
        return f"{self.name} ({self.unit})" if self.unit else self.name

    def shown(self, value: float) -> float:
        return value * self.factor


def parameter_axes(transform: Transform) -> tuple[ParameterAxis, ...]:
    """One axis for each coordinate of z; the rotation vector of a general rotation in degrees about x, y, z."""
    if isinstance(transform, Composition):
        return tuple(axis for part in transform.parts for axis in parameter_axes(part))
    if isinstance(transform, GeneralRotation):
        return tuple(ParameterAxis(f"about {name}", "°", math.degrees(1.0)) for name in "xyz")
    return tuple(
        ParameterAxis(p.name, "°" if p.unit == "deg" else "", p.to_edge(1.0)) for p in transform.parameters
    )
