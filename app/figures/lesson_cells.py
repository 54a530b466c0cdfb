"""Lesson 5: displacement within each cell against the radius that its votes certify."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from app.figures.arrays import packed
from app.figures.theme import Figure, Theme, axis, base_layout
from app.words import words
from tpc_core.teaching import LessonCell


def reach_figure(
    cells: Sequence[LessonCell], factor: float, at: float, colours: Mapping[str, str], theme: Theme
) -> Figure:
    """A V over each cell (how far the tested cloud is from every other) under the level that its votes certify."""
    radius = cells[-1].high
    gap = np.nan
    x = np.concatenate([[cell.low, cell.centre, cell.high, gap] for cell in cells])
    y = np.concatenate([[cell.displacement, 0.0, cell.displacement, gap] for cell in cells])
    traces: list[Figure] = [
        {
            "type": "scatter", "mode": "lines", "name": words("lesson5.fig_displacement"),
            "x": packed(x, "f8"), "y": packed(y, "f8"),
            "line": {"color": colours["attack"], "width": 2.5}, "hoverinfo": "skip",
        }
    ]  # fmt: skip
    for passed, name, dash in (
        (True, words("lesson5.fig_enough"), "solid"),
        (False, words("lesson5.fig_short"), "dot"),
    ):
        some = [cell for cell in cells if cell.passed == passed]
        traces.append(
            {
                "type": "scatter", "mode": "lines", "name": name, "showlegend": bool(some),
                "x": packed(np.concatenate([[c.low, c.high, gap] for c in some]) if some else [], "f8"),
                "y": packed(np.concatenate([[c.radius, c.radius, gap] for c in some]) if some else [], "f8"),
                "line": {"color": colours["p"], "width": 4, "dash": dash}, "hoverinfo": "skip",
            }
        )  # fmt: skip
    traces.append(
        {
            "type": "scatter", "mode": "markers", "name": "tested", "x": packed([c.centre for c in cells], "f8"),
            "y": packed(np.zeros(len(cells)), "f8"), "showlegend": False,
            "customdata": [[c.n_a, c.n, c.p_a, c.radius, c.displacement] for c in cells],
            "hovertemplate": words("lesson5.fig_votes")
            + "<br>ρ = %{customdata[3]:.3f}, D = %{customdata[4]:.3f}<extra></extra>",
            "marker": {"size": 9, "color": theme.text, "line": {"color": theme.paper, "width": 1.5}},
        }
    )  # fmt: skip
    mine = cell_of(cells, at)
    traces.append(
        {
            "type": "scatter", "mode": "markers", "name": "the attack", "showlegend": False, "hoverinfo": "skip",
            "x": [at], "y": [factor * abs(at - mine.centre)],
            "marker": {"size": 13, "color": colours["attack"], "line": {"color": theme.paper, "width": 2}},
        }
    )  # fmt: skip
    top = 1.15 * max([0.05, *(c.displacement for c in cells), *(c.radius for c in cells)])
    layout = base_layout(theme, showlegend=True, hovermode="closest")
    layout["margin"] = {"l": 52, "r": 14, "t": 30, "b": 40}
    layout["legend"] = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}}
    layout["xaxis"] = axis(
        theme, words("lesson5.fig_taper"), range=[-1.04 * radius, 1.04 * radius], fixedrange=True
    )
    layout["yaxis"] = axis(theme, words("lesson5.fig_distance"), range=[-0.04 * top, top], fixedrange=True)
    layout["shapes"] = [
        {
            "type": "rect", "x0": cell.low, "x1": cell.high, "yref": "paper", "y0": 0, "y1": 1, "layer": "below",
            "fillcolor": colours["p"] if cell.passed else theme.muted, "opacity": 0.2 if cell == mine else 0.08,
            "line": {"color": theme.grid, "width": 1},
        }
        for cell in cells
    ]  # fmt: skip
    return {"data": traces, "layout": layout}


def cell_of(cells: Sequence[LessonCell], at: float) -> LessonCell:
    """The cell that holds a parameter; the last one at the far edge."""
    return next((cell for cell in cells if cell.low <= at < cell.high), cells[-1] if at > 0 else cells[0])
