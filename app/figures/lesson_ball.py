"""Lesson 6: the ball of rotation vectors with its cells, and the votes as an object turns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from app.figures.arrays import packed, xyz
from app.figures.theme import KINDS, Figure, Theme, axis, base_layout
from app.words import words
from tpc_core.teaching import AngleStudy

Array = NDArray[np.float64]


def ball_figure(
    centres: Array, vector: Array, limit: float, colours: Mapping[str, str], theme: Theme
) -> Figure:
    """Centres (M, 3) of cells in the ball of rotation vectors, and one rotation; degrees, within +-limit."""
    cells: Figure = {
        "type": "scatter3d", "mode": "markers", "name": words("lesson6.fig_tested"), **xyz(centres),
        "hoverinfo": "skip",
        "marker": {"size": 2.6, "color": colours["radius"], "opacity": 0.55},
    }  # fmt: skip
    arrow: Figure = {
        "type": "scatter3d", "mode": "lines+markers", "name": words("lesson6.fig_attack"), "hoverinfo": "skip",
        **xyz(np.stack([np.zeros(3), vector])), "line": {"color": colours["attack"], "width": 6},
        "marker": {"size": [2, 9], "color": colours["attack"]},
    }  # fmt: skip
    layout = base_layout(theme, margin={"l": 0, "r": 0, "t": 0, "b": 0})
    quiet = {
        "range": [-limit, limit], "autorange": False, "showbackground": False, "gridcolor": theme.grid,
        "zerolinecolor": theme.grid, "showspikes": False, "nticks": 5, "tickfont": {"size": 10, "color": theme.muted},
    }  # fmt: skip
    layout["scene"] = {
        **{
            f"{name}axis": {
                **quiet,
                "title": {
                    "text": words("lesson6.fig_about", axis=name),
                    "font": {"size": 11, "color": theme.muted},
                },
            }
            for name in "xyz"
        },
        "aspectmode": "cube",
        "camera": {
            "eye": {"x": 1.6, "y": -1.85, "z": 1.0},
            "up": {"x": 0, "y": 0, "z": 1},
            "center": {"x": 0, "y": 0, "z": -0.15},
        },
        "uirevision": "keep",
    }
    return {"data": [cells, arrow], "layout": layout}


def turning_figure(
    noise: AngleStudy, group: AngleStudy, at: float, radius: float, colours: Mapping[str, str], theme: Theme
) -> Figure:
    """Votes for the true class as the object turns: noise on the points forgets it, uniform turns do not."""
    traces: list[Figure] = []
    for study, name, colour in (
        (group, words("lesson6.fig_uniform"), colours["p"]),
        (noise, words("lesson6.fig_noise"), KINDS[1]),
    ):
        traces.append(
            {
                "type": "scatter", "mode": "lines+markers", "name": name, "x": packed(np.degrees(study.angles), "f8"),
                "y": packed(study.shares, "f8"), "line": {"color": colour, "width": 3}, "marker": {"size": 7},
                "error_y": {
                    "type": "data", "symmetric": False, "color": colour, "thickness": 1, "width": 3,
                    "array": packed(study.high - study.shares, "f8"),
                    "arrayminus": packed(study.shares - study.low, "f8"),
                },
                "hovertemplate": words("lesson6.fig_share") + "<extra>" + name + "</extra>",
            }
        )  # fmt: skip
    layout = base_layout(theme, showlegend=True, hovermode="closest")
    layout["margin"] = {"l": 52, "r": 14, "t": 30, "b": 40}
    layout["legend"] = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}}
    layout["xaxis"] = axis(
        theme, words("lesson6.fig_angle"), range=[-3, 183], tickvals=list(range(0, 181, 30)), fixedrange=True
    )
    layout["yaxis"] = axis(
        theme, words("lesson6.fig_votes"), range=[-0.04, 1.06], tickformat=".0%", tickvals=[0, 0.5, 1]
    )
    low, high = group.together
    traces.append(  # the band is a shape; this is its line in the legend
        {
            "type": "scatter", "mode": "markers", "x": [None], "y": [None],
            "name": words("lesson6.fig_band", low=low, high=high),
            "marker": {"symbol": "square", "size": 14, "color": colours["p"], "opacity": 0.25},
        }
    )  # fmt: skip
    layout["shapes"] = [
        {
            "type": "rect", "xref": "paper", "x0": 0, "x1": 1, "y0": low, "y1": high, "layer": "below",
            "fillcolor": colours["p"], "opacity": 0.16, "line": {"width": 0},
        },
        {
            "type": "line", "x0": at, "x1": at, "yref": "paper", "y0": 0, "y1": 1,
            "line": {"color": colours["attack"], "width": 2.5},
        },
        {
            "type": "rect", "x0": 0, "x1": radius, "yref": "paper", "y0": 0, "y1": 1, "layer": "below",
            "fillcolor": colours["radius"], "opacity": 0.12, "line": {"width": 0},
        },
    ]  # fmt: skip
    return {"data": traces, "layout": layout}
