"""Lesson 2: random draws side by side, each a small cloud with the class that it votes for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.figures.arrays import packed
from app.figures.theme import Figure, Theme, base_layout


def draws_figure(
    draws: NDArray[np.floating], answers: Sequence[int], classes: Sequence[str], right: int, theme: Theme
) -> Figure:
    """Draws (k, N, 3) seen from the front; votes for the right class are blue, the others orange."""
    count = len(draws)
    x = 0.7071 * (draws[..., 0] + draws[..., 1])
    y = draws[..., 2] + 0.25 * (draws[..., 1] - draws[..., 0])
    places, agrees = np.arange(count), np.asarray(answers) == right
    traces: list[Figure] = []
    for wanted, colour in ((True, theme.agree), (False, theme.differ)):
        rows = np.flatnonzero(agrees == wanted)
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": packed((np.clip(x[rows], -1.15, 1.15) * 0.42 + places[rows, None]).ravel()),
                "y": packed((np.clip(y[rows], -1.15, 1.15) * 0.42).ravel()),
                "marker": {"size": 3.5, "color": colour, "opacity": 0.8},
                "hoverinfo": "skip",
            }
        )
    layout = base_layout(theme)
    layout["annotations"] = [
        {
            "x": float(place),
            "y": -0.66,
            "text": classes[answer].replace("_", " "),
            "showarrow": False,
            "font": {"size": 12, "color": theme.agree if agree else theme.differ},
        }
        for place, answer, agree in zip(places, answers, agrees, strict=True)
    ]
    layout["margin"] = {"l": 0, "r": 0, "t": 0, "b": 0}
    layout["xaxis"] = {"visible": False, "range": [-0.5, count - 0.5], "fixedrange": True}
    layout["yaxis"] = {"visible": False, "range": [-0.78, 0.56], "fixedrange": True}
    return {"data": traces, "layout": layout}
