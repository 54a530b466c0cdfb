"""Where a 3D figure is seen from."""

from __future__ import annotations

from app.figures.theme import Figure


def step_back(figure: Figure, by: float = 1.2) -> Figure:
    """The figure seen from farther away, so that a small view still holds the cube and the names of its axes."""
    scene = figure["layout"]["scene"]
    eye = {name: by * value for name, value in scene["camera"]["eye"].items()}
    scene["camera"] = {**scene["camera"], "eye": eye}
    return figure
