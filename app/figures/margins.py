"""The map of a certain proof: every proved cell with its margin, bars in 1-D and colours in 2-D."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.figures.arrays import packed
from app.figures.axes import parameter_axes
from app.figures.region_map import MapScene, Piece, Scale, plane_map
from app.figures.region_map.layers import ATTACK, marker, plane_layout
from app.figures.theme import RIGHT, SEQUENTIAL, Figure, Theme
from app.server.jobs import BoxView
from tpc_core import Transform
from tpc_core.landscape import Chart

MANY = 60
"""Past this many bars their borders would hide them."""


def margin_map(
    boxes: Sequence[BoxView],
    transform: Transform,
    half: NDArray[np.float64],
    theme: Theme,
    attack: Sequence[float] | None = None,
) -> Figure:
    """Every proved cell; what is still open is empty, and a star is a counterexample."""
    if len(half) == 1:
        return _bars(boxes, transform, float(half[0]), theme, attack)
    pieces = [Piece(box.low, box.high, "passed", box_text(box, transform), value=box.margin) for box in boxes]
    chart, found = Chart(transform, parameter_axes(transform)), None if attack is None else tuple(attack)
    scale = Scale(0.0, None, SEQUENTIAL, "margin")
    return plane_map(MapScene(chart, half, half, pieces=pieces, attack=found, scale=scale), theme)


def _bars(
    boxes: Sequence[BoxView],
    transform: Transform,
    radius: float,
    theme: Theme,
    attack: Sequence[float] | None,
) -> Figure:
    (along,) = parameter_axes(transform)
    edge = along.shown(radius)
    ordered = sorted(boxes, key=lambda box: box.low[0])
    low = np.array([along.shown(box.low[0]) for box in ordered])
    high = np.array([along.shown(box.high[0]) for box in ordered])
    bars: Figure = {
        "type": "bar",
        "x": packed((low + high) / 2, "f8"),
        "width": packed(high - low, "f8"),
        "y": packed([box.margin for box in ordered], "f8"),
        "name": "margin",
        "marker": {
            "color": RIGHT,
            "opacity": 0.55,
            "line": {"color": theme.paper, "width": 1 if len(ordered) <= MANY else 0},
        },
        "hovertext": [box_text(box, transform) for box in ordered],
        "hoverinfo": "text",
    }
    x = {"title": along.title, "range": [-1.02 * edge, 1.02 * edge]}
    layout = plane_layout(theme, x, {"title": "margin", "rangemode": "tozero"}, with_legend=False)
    traces = [bars]
    if attack is not None:
        traces.append(marker(along.shown(attack[0]), 0.0, "star", ATTACK, "attack", theme, 17))
    return {"data": traces, "layout": layout}


def box_text(box: BoxView, transform: Transform) -> str:
    """All that hovering over a proved cell says."""
    spans = [
        f"{a.name} {a.shown(low):.3g} to {a.shown(high):.3g}{a.unit}"
        for a, low, high in zip(parameter_axes(transform), box.low, box.high, strict=True)
    ]
    return "<br>".join([*spans, f"margin {box.margin:.3g}", "<b>proved</b>"])
