"""The axes of a parameter space, in the units that people read."""

from __future__ import annotations

from tpc_core import Transform
from tpc_core.landscape import ChartAxis, coordinates


def parameter_axes(transform: Transform) -> tuple[ChartAxis, ...]:
    """One axis for each coordinate of z; the rotation vector of a general rotation in degrees about x, y, z."""
    return coordinates(transform)
