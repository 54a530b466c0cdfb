"""The map of a question: sampled p_A as colour, what is proved as outlines over it, in one, two or three parameters."""

from __future__ import annotations

from app.figures.region_map.layers import (
    LOOKS,
    MapLook,
    MapScene,
    Piece,
    Scale,
    p_scale,
    rival_colours,
)
from app.figures.region_map.line import line_map
from app.figures.region_map.plane import plane_map
from app.figures.region_map.space import space_map
from app.figures.theme import Figure, Theme

__all__ = [
    "LOOKS",
    "MapLook",
    "MapScene",
    "Piece",
    "Scale",
    "line_map",
    "p_scale",
    "plane_map",
    "region_map",
    "rival_colours",
    "space_map",
]


def region_map(scene: MapScene, theme: Theme, look: MapLook = "colour") -> Figure:
    """The whole map: a curve, a plane, or a space."""
    draw = {1: line_map, 2: plane_map, 3: space_map}[len(scene.chart.axes)]
    return draw(scene, theme, look)
