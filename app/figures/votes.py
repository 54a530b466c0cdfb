"""What the model says: bars of base and smoothed votes, and a strip of the random draws behind them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.figures.arrays import packed
from app.figures.theme import OKABE_ITO, Figure, Theme, axis, base_layout

BASE_COLOUR, SMOOTHED_COLOUR = OKABE_ITO[1], OKABE_ITO[0]


def vote_bars(
    base: NDArray[np.floating],
    votes: NDArray[np.integer],
    classes: Sequence[str],
    truth: str | None,
    theme: Theme,
    *,
    shown: int = 5,
) -> Figure:
    """Shares by class: the base model's confidence beside the smoothed model's votes, the true class starred."""
    share = votes / max(int(votes.sum()), 1)
    ranked = np.argsort(-(share + 1e-3 * base), kind="stable")
    chosen = list(ranked[:shown])
    if truth in classes and classes.index(truth) not in chosen:
        chosen[-1] = classes.index(truth)
    labels = [("★ " if classes[i] == truth else "") + classes[i].replace("_", " ") for i in chosen]

    def bar(name: str, values: NDArray[np.floating], colour: str) -> Figure:
        return {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "y": labels,
            "x": [round(100 * float(values[i]), 2) for i in chosen],
            "marker": {"color": colour},
            "hovertemplate": f"%{{y}}: %{{x:.1f}} %<extra>{name}</extra>",
        }

    traces = [bar("base model", base, BASE_COLOUR), bar("smoothed votes", share, SMOOTHED_COLOUR)]
    layout = base_layout(theme, barmode="group", bargap=0.28)
    layout["margin"] = {"l": 8, "r": 22, "t": 4, "b": 30}
    layout["xaxis"] = axis(
        theme, range=[0, 100], ticksuffix=" %", fixedrange=True, tickvals=[0, 25, 50, 75, 100]
    )
    layout["yaxis"] = axis(
        theme, autorange="reversed", fixedrange=True, tickfont={"size": 13, "color": theme.text}
    )
    return {"data": traces, "layout": layout}


def draw_strip(
    draws: NDArray[np.floating],
    answers: Sequence[int],
    classes: Sequence[str],
    winner: int,
    theme: Theme,
) -> Figure:
    """Random draws phi(x, eps) side by side, each seen from the front with the class it votes for.

    draws: (k, N, 3). Draws that vote for the winning class are blue, the others orange.
    """
    count = len(draws)
    turned = np.stack(
        [(draws[..., 0] + draws[..., 1]) * 0.7071, draws[..., 2] + 0.25 * (draws[..., 1] - draws[..., 0])],
        axis=-1,
    )
    turned = np.clip(turned, -1.15, 1.25)
    places = np.arange(count)
    agrees = np.asarray(answers) == winner
    traces: list[Figure] = []
    for wanted, colour in ((True, theme.agree), (False, theme.differ)):
        rows = np.flatnonzero(agrees == wanted)
        x = (turned[rows, :, 0] * 0.42 + places[rows, None]).ravel()
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": packed(x),
                "y": packed(turned[rows, :, 1].ravel() * 0.42),
                "marker": {"size": 3, "color": colour, "opacity": 0.75},
                "hoverinfo": "skip",
            }
        )
    notes = [
        {
            "x": float(place),
            "y": -0.66,
            "text": classes[answer].replace("_", " "),
            "showarrow": False,
            "font": {"size": 12, "color": theme.agree if agree else theme.differ},
        }
        for place, answer, agree in zip(places, answers, agrees, strict=True)
    ]
    layout = base_layout(theme, annotations=notes)
    layout["margin"] = {"l": 0, "r": 0, "t": 0, "b": 0}
    layout["xaxis"] = {"visible": False, "range": [-0.5, count - 0.5], "fixedrange": True}
    layout["yaxis"] = {"visible": False, "range": [-0.76, 0.56], "fixedrange": True}
    return {"data": traces, "layout": layout}
