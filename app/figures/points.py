"""Part segmentation, point by point: the bound of every point against what it needs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from app.figures.arrays import packed
from app.figures.point_groups import part_colour
from app.figures.theme import Figure, Theme, axis, base_layout
from app.figures.threshold import threshold


def bounds_figure(
    bounds: NDArray[np.floating],
    predictions: NDArray[np.integer],
    certified: NDArray[np.bool_],
    needed: float,
    names: Mapping[int, str],
    theme: Theme,
) -> Figure:
    """Every point's lower bound of p_A, highest first, in the colour of its part; the others hollow, as in 3D."""
    order = np.argsort(-bounds, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(1, len(order) + 1)
    traces: list[Figure] = []
    for number, part in enumerate(np.unique(predictions)):
        name = names.get(int(part), f"part {int(part)}")
        colour = part_colour(number)
        sure = (predictions == part) & certified
        traces.append(_marks(rank[sure], bounds[sure], name, {"size": 8, "color": colour}))
    hollow = {"size": 8, "color": theme.ghost, "symbol": "circle-open", "line": {"width": 2}}
    traces.append(_marks(rank[~certified], bounds[~certified], "not certified", hollow))
    layout = base_layout(theme, hovermode="closest")
    layout["margin"] = {"l": 56, "r": 16, "t": 34, "b": 44}
    layout["xaxis"] = axis(theme, "points, highest bound first", range=[0, len(bounds) + 1])
    low = min(0.45, float(np.floor(10 * min(bounds.min(initial=1.0), needed)) / 10))
    layout["yaxis"] = axis(theme, "p<sub>A</sub> of the point's part, at least", range=[low, 1.02])
    layout |= threshold(needed, f"needed {needed:.4f}", "left", theme)
    return {"data": traces, "layout": layout}


def _marks(rank: NDArray[np.integer], bounds: NDArray[np.floating], name: str, marker: Figure) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": packed(rank, "i4"),
        "y": packed(bounds, "f8"),
        "marker": marker,
        "hovertemplate": "p<sub>A</sub> at least %{y:.4f}<extra>" + name + "</extra>",
    }
