"""Certificates that rest on one probability: how the bound tightened, and the certified region over a map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tpc_core.landscape import Landscape

from app.figures.arrays import packed
from app.figures.axes import parameter_axes
from app.figures.theme import OKABE_ITO, SEQUENTIAL, STATES, Figure, Theme, axis, base_layout, colour_bar
from app.server.jobs import Count
from tpc_core import Transform
from tpc_core.explain import probability
from tpc_core.transforms import Ball, Region

_INK = "#1b2433"


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
            "line": {"color": OKABE_ITO[1], "width": 2},
            "marker": {"size": 5},
            "hovertemplate": "%{x:,} votes: %{y:.4f}<extra></extra>",
        },
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": "lower bound",
            "x": n,
            "y": bounds,
            "line": {"color": OKABE_ITO[0], "width": 3, "shape": "hv"},
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
        layout["shapes"] = [
            {
                "type": "line",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": needed,
                "y1": needed,
                "line": {"color": theme.text, "width": 2, "dash": "dot"},
            }
        ]
        layout["annotations"] = [
            {
                "xref": "paper",
                "x": 1,
                "y": needed,
                "xanchor": "right",
                "yanchor": "bottom",
                "showarrow": False,
                "text": f"needed {probability(needed)}",
                "font": {"color": theme.muted, "size": 12},
            }
        ]
    return {"data": traces, "layout": layout}


def landscape_figure(
    landscape: Landscape, transform: Transform, certified: Sequence[float] | None, target: str, theme: Theme
) -> Figure:
    """The certified interval or ball over the empirical share of votes around it (`certified`: internal radii)."""
    if landscape.axes == 1:
        return _interval(landscape, transform, certified, target, theme)
    return _disc(landscape, transform, certified, target, theme)


def _interval(
    landscape: Landscape, transform: Transform, certified: Sequence[float] | None, target: str, theme: Theme
) -> Figure:
    (along,) = parameter_axes(transform)
    x = landscape.grid[:, 0] * along.factor
    share = landscape.share
    trace: Figure = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": packed(x, "f8"),
        "y": packed(share, "f8"),
        "line": {"color": OKABE_ITO[1], "width": 2},
        "marker": {"size": 5},
        "text": landscape.winners,
        "hovertemplate": "%{x:.4g}: %{y:.0%} of votes for " + target + "<br>wins: %{text}<extra></extra>",
    }
    layout = base_layout(theme, hovermode="closest")
    layout["margin"] = {"l": 56, "r": 16, "t": 38, "b": 44}
    layout["xaxis"] = axis(theme, along.title, range=[float(x.min()), float(x.max())])
    layout["yaxis"] = axis(theme, f"votes for {target}", range=[0, 1.02], tickformat=".0%")
    shapes = [
        {
            "type": "line",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": 0.5,
            "y1": 0.5,
            "line": {"color": theme.muted, "width": 1, "dash": "dot"},
        }
    ]
    if certified is not None:
        edge = along.shown(certified[0])
        shapes.append(
            {
                "type": "rect",
                "x0": -edge,
                "x1": edge,
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "layer": "below",
                "fillcolor": STATES["passed"],
                "opacity": 0.16,
                "line": {"width": 0},
            }
        )
        layout["annotations"] = [
            {
                "x": 0,
                "yref": "paper",
                "y": 0.03,
                "text": f"certified: ± {edge:.4g}{along.unit}",
                "showarrow": False,
                "font": {"color": theme.agree},
            }
        ]
    layout["shapes"] = shapes
    return {"data": [trace], "layout": layout}


def _disc(
    landscape: Landscape, transform: Transform, certified: Sequence[float] | None, target: str, theme: Theme
) -> Figure:
    axes = parameter_axes(transform)
    x = np.unique(landscape.grid[:, 0]) * axes[0].factor
    y = np.unique(landscape.grid[:, 1]) * axes[1].factor
    share = landscape.share.reshape(len(y), len(x))
    winners = np.array(landscape.winners, dtype=object).reshape(len(y), len(x))
    heat: Figure = {
        "type": "heatmap",
        "x": packed(x, "f8"),
        "y": packed(y, "f8"),
        "z": packed(share, "f8"),
        "zmin": 0,
        "zmax": 1,
        "colorscale": SEQUENTIAL,
        "colorbar": colour_bar(theme, f"votes for {target}", tickformat=".0%"),
        "text": winners.tolist(),
        "hoverongaps": False,
        "hovertemplate": "%{x:.3g}, %{y:.3g}: %{z:.0%}<br>wins: %{text}<extra></extra>",
    }
    layout = base_layout(theme, hovermode="closest")
    layout["margin"] = {"l": 56, "r": 12, "t": 38, "b": 44}
    layout["xaxis"] = axis(theme, axes[0].title, showgrid=False)
    layout["yaxis"] = axis(theme, axes[1].title, showgrid=False)
    if isinstance(transform.region(tuple(1.0 for _ in transform.radii)), Ball):
        layout["xaxis"] |= {"constrain": "domain"}
        layout["yaxis"] |= {"constrain": "domain", "scaleanchor": "x"}  # a ball is round
    if certified is not None:
        region = transform.region(certified)
        layout["shapes"] = _outline(region, axes[0].factor, axes[1].factor)
        layout["annotations"] = [
            {
                "x": 0,
                "y": float(region.half_widths[1]) * axes[1].factor,
                "yanchor": "bottom",
                "yshift": 4,
                "text": "certified",
                "showarrow": False,
                "font": {"color": _INK, "size": 12},
                "bgcolor": "rgba(255,255,255,.8)",
            }
        ]
    return {"data": [heat], "layout": layout}


def _outline(region: Region, x_factor: float, y_factor: float) -> list[Figure]:
    """A dark line in a white one: seen on every colour of the map."""
    half = region.half_widths
    line: Figure = {
        "type": "circle" if isinstance(region, Ball) else "rect",
        "x0": -float(half[0]) * x_factor,
        "x1": float(half[0]) * x_factor,
        "y0": -float(half[1]) * y_factor,
        "y1": float(half[1]) * y_factor,
    }
    return [
        {**line, "line": {"color": "#ffffff", "width": 6}},
        {**line, "line": {"color": _INK, "width": 2.5}},
    ]


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
        "marker": {"color": [OKABE_ITO[0] if name == target else OKABE_ITO[5] for name, _ in ranked]},
    }
    layout = base_layout(theme)
    layout["margin"] = {"l": 8, "r": 16, "t": 38, "b": 40}
    layout["xaxis"] = axis(theme, "share of votes", range=[0, 100], ticksuffix=" %")
    rows = max(len(ranked), 4)  # a single class is a bar too, not a wall
    layout["yaxis"] = axis(theme, range=[rows - 0.5, -0.5], tickfont={"size": 13, "color": theme.text})
    return {"data": [trace], "layout": layout}
