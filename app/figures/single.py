"""Certificates that rest on one probability, or on one top class: how the bound tightened, and who voted for what."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.figures.theme import KINDS, RIGHT, WRONG, Figure, Theme, axis, base_layout
from app.figures.threshold import threshold
from app.server.jobs import Count
from tpc_core.explain import probability


def convergence_figure(counts: Sequence[Count], needed: float | None, theme: Theme) -> Figure:
    """The share of votes and its lower bound as votes come in, with the threshold."""
    n = [count.n for count in counts]
    share = [count.n_a / count.n for count in counts if count.n]
    bounds = [count.lower_bound for count in counts]
    traces: list[Figure] = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": "votes n<sub>A</sub> / n",
            "x": n,
            "y": share,
            "line": {"color": KINDS[2], "width": 2},
            "marker": {"size": 5},
            "hovertemplate": "%{x:,} votes: %{y:.4f}<extra></extra>",
        },
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": "lower bound",
            "x": n,
            "y": bounds,
            "line": {"color": RIGHT, "width": 3, "shape": "hv"},
            "marker": {"size": 6},
            "hovertemplate": "p<sub>A</sub> at least %{y:.4f}<extra></extra>",
        },
    ]
    layout = base_layout(theme, showlegend=True)
    layout["margin"] = {"l": 56, "r": 16, "t": 34, "b": 44}
    layout["legend"] = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}}
    layout["xaxis"] = axis(theme, "votes", rangemode="tozero")
    lowest = min([0.9, *(b for b in bounds if b), *share, *([needed] if needed else [])])
    layout["yaxis"] = axis(theme, "p<sub>A</sub>", range=[max(0.0, np.floor(lowest * 10 - 0.5) / 10), 1.005])
    if needed is not None:
        layout |= threshold(needed, f"needed {probability(needed)}", "right", theme)
    return {"data": traces, "layout": layout}


def group_figure(votes: dict[str, int], target: str, theme: Theme, shown: int = 6) -> Figure:
    """Group smoothing: votes by class; the top class is the top class under every rotation."""
    ranked = sorted(votes.items(), key=lambda item: -item[1])[:shown]
    total = max(1, sum(votes.values()))
    trace: Figure = {
        "type": "bar",
        "orientation": "h",
        "y": [name.replace("_", " ") for name, _ in ranked],
        "x": [100 * count / total for _, count in ranked],
        "text": [f"{count:,}" for _, count in ranked],
        "textposition": "auto",
        "hovertemplate": "%{y}: %{text} votes<extra></extra>",
        "marker": {"color": [RIGHT if name == target else WRONG for name, _ in ranked]},
    }
    layout = base_layout(theme)
    layout["margin"] = {"l": 8, "r": 16, "t": 38, "b": 40}
    layout["xaxis"] = axis(theme, "share of votes", range=[0, 100], ticksuffix=" %")
    rows = max(len(ranked), 4)  # a single class is a bar too, not a wall
    layout["yaxis"] = axis(theme, range=[rows - 0.5, -0.5], tickfont={"size": 13, "color": theme.text})
    return {"data": [trace], "layout": layout}
