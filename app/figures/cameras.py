"""Where a 3D figure is seen from."""

from __future__ import annotations

import math
from typing import Any

from app.figures.theme import Figure

PLOTLY_FIELD = 45.0
"""Degrees that Plotly's camera sees from top to bottom."""


def step_back(figure: Figure, by: float = 1.2) -> Figure:
    """The figure seen from farther away, so that a small view still holds the cube and the names of its axes."""
    scene = figure["layout"]["scene"]
    eye = {name: by * value for name, value in scene["camera"]["eye"].items()}
    scene["camera"] = {**scene["camera"], "eye": eye}
    return figure


def plotly_camera(stage: Any, half_side: float = 1.15) -> Figure | None:
    """A camera of the stage as Plotly writes it: in units of the drawn cube, and nearer or farther for its wider field.

    None where the browser sent something else.
    """
    try:
        eye = [float(stage["eye"][name]) for name in "xyz"]
        centre = [float(stage["center"][name]) for name in "xyz"]
        field = float(stage["field"])
    except (KeyError, TypeError, ValueError):
        return None
    if not all(math.isfinite(value) for value in [*eye, *centre]) or not 1 <= field <= 120:
        return None
    nearer = math.tan(math.radians(field) / 2) / math.tan(math.radians(PLOTLY_FIELD) / 2)
    return {
        "center": {name: c / (2 * half_side) for name, c in zip("xyz", centre, strict=True)},
        "eye": {
            name: (c + nearer * (e - c)) / (2 * half_side)
            for name, e, c in zip("xyz", eye, centre, strict=True)
        },
        "up": {"x": 0, "y": 0, "z": 1},
        "projection": {"type": "perspective"},
    }
