"""The map of a certain proof: every proved cell with its margin, bars in 1-D and colours in 2-D."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.figures.arrays import packed
from app.figures.axes import parameter_axes
from app.figures.cells import outlines, rasterise
from app.figures.theme import SEQUENTIAL, STATES, Figure, Theme, axis, base_layout, colour_bar
from app.server.jobs import BoxView
from tpc_core import Transform

MANY = 60
"""Past this many bars their borders would hide them."""


def margin_bars(boxes: Sequence[BoxView], transform: Transform, radius: float, theme: Theme) -> Figure:
    """1-D: each proved cell a bar as high as its margin; what is still open is empty."""
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
            "color": STATES["passed"],
            "opacity": 0.55,
            "line": {"color": theme.paper, "width": 1 if len(ordered) <= MANY else 0},
        },
        "hovertext": [box_text(box, transform) for box in ordered],
        "hoverinfo": "text",
    }
    layout = base_layout(theme, bargap=0, hovermode="closest")
    layout["margin"] = {"l": 56, "r": 16, "t": 34, "b": 44}
    layout["xaxis"] = axis(theme, along.title, range=[-1.04 * edge, 1.04 * edge])
    layout["yaxis"] = axis(theme, "margin", rangemode="tozero")
    return {"data": [bars], "layout": layout}


def margin_heatmap(
    boxes: Sequence[BoxView], transform: Transform, half: NDArray[np.float64], theme: Theme
) -> Figure:
    """2-D: each proved cell in the colour of its margin; what is still open is empty."""
    axes = parameter_axes(transform)
    factor = np.array([a.factor for a in axes])
    low = np.array([box.low for box in boxes]).reshape(-1, 2) * factor
    high = np.array([box.high for box in boxes]).reshape(-1, 2) * factor
    raster = rasterise(low, high)
    values = np.array([box.margin for box in boxes] + [np.nan])
    texts = np.array([box_text(box, transform) for box in boxes] + [""], dtype=object)
    heat: Figure = {
        "type": "heatmap",
        "x": packed(raster.x, "f8"),
        "y": packed(raster.y, "f8"),
        "z": packed(values[raster.index], "f8") if raster.index.size else [],
        "zmin": 0,
        "colorscale": SEQUENTIAL,
        "colorbar": colour_bar(theme, "margin"),
        "text": texts[raster.index].tolist(),
        "hovertemplate": "%{text}<extra></extra>",
        "hoverongaps": False,
    }
    edge = [a.shown(width) for a, width in zip(axes, half, strict=True)]
    layout = base_layout(theme, hovermode="closest")
    layout["margin"] = {"l": 56, "r": 12, "t": 38, "b": 44}
    layout["xaxis"] = axis(theme, axes[0].title, range=[-1.02 * edge[0], 1.02 * edge[0]], showgrid=False)
    layout["yaxis"] = axis(theme, axes[1].title, range=[-1.02 * edge[1], 1.02 * edge[1]], showgrid=False)
    return {"data": [heat, outlines(low, high, theme)], "layout": layout}


def box_text(box: BoxView, transform: Transform) -> str:
    """All that hovering over a proved cell says."""
    spans = [
        f"{a.name} {a.shown(low):.3g} to {a.shown(high):.3g}{a.unit}"
        for a, low, high in zip(parameter_axes(transform), box.low, box.high, strict=True)
    ]
    return "<br>".join([*spans, f"margin {box.margin:.3g}", "<b>proved</b>"])
