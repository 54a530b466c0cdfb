"""The gap between what is certified and the smallest attack, and the path of the prediction to an attack."""

from __future__ import annotations

from collections.abc import Sequence

from app.figures.theme import KINDS, OPEN, RIGHT, STATES, WRONG, Figure, Theme, axis, base_layout
from tpc_core.case_view import CaseView
from tpc_core.explain import PathStep

_ALONE = "#56B4E9"
"""A fainter kind of certified: one by one, not jointly."""


def size_axis(view: CaseView) -> tuple[str, float]:
    """The title of an axis of sizes, and the factor from parts of the region to what it shows."""
    if len(view.radii) == 1:
        (p,) = view.transform.radii
        return f"{p.name} (°)" if p.unit == "deg" else p.name, p.to_edge(view.radii[0])
    return "% of the region asked for", 100.0


def gap_figure(view: CaseView, certified: float, attack: float | None, theme: Theme) -> Figure:
    """One axis of sizes: certified in blue, open in amber, broken in orange from the smallest attack on."""
    title, factor = size_axis(view)
    end = max(1.0, attack or 0.0, min(certified, 2.0))
    certified = min(certified, end)
    traces = [_bar(0.0, certified * factor, STATES["passed"], "certified")]
    if attack is None:
        traces.append(_bar(certified * factor, end * factor, OPEN, "open"))
    else:
        traces.append(_bar(certified * factor, attack * factor, OPEN, "open"))
        traces.append(_bar(attack * factor, end * factor, STATES["failed"], "an attack is known"))
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [attack * factor],
                "y": [0],
                "marker": {
                    "symbol": "star",
                    "size": 16,
                    "color": WRONG,
                    "line": {"color": theme.paper, "width": 1.5},
                },
                "hovertemplate": f"smallest attack found: {attack * factor:.4g}<extra></extra>",
            }
        )
    notes = [_note(certified * factor / 2, "certified", theme) if certified > 0.12 else None]
    until = end if attack is None else attack
    if until - certified > 0.12:
        notes.append(_note((certified + until) * factor / 2, "open", theme, dark=True))
    if attack is not None and end - attack > 0.12:
        notes.append(_note((attack + end) * factor / 2, "broken", theme))
    layout = base_layout(theme, hovermode="closest", barmode="stack")
    layout["margin"] = {"l": 14, "r": 14, "t": 2, "b": 36}
    layout["xaxis"] = axis(theme, title, range=[0, 1.03 * end * factor], fixedrange=True, nticks=9)
    layout["yaxis"] = {"visible": False, "range": [-0.55, 0.55], "fixedrange": True}
    layout["annotations"] = [note for note in notes if note is not None]
    layout["shapes"] = [
        {
            "type": "line",
            "x0": factor,
            "x1": factor,
            "y0": -0.55,
            "y1": 0.55,
            "line": {"color": theme.text, "width": 2, "dash": "dot"},
        }
    ]
    return {"data": traces, "layout": layout}


def points_figure(certified: int, jointly: int, total: int, theme: Theme) -> Figure:
    """Segmentation: how many points keep their part, each by itself and all of them together."""
    traces = [
        _bar(0.0, jointly, STATES["passed"], "certified jointly"),
        _bar(jointly, certified, _ALONE, "certified one by one"),
        _bar(certified, total, OPEN, "open"),
    ]
    layout = base_layout(theme, hovermode="closest", barmode="stack")
    layout["margin"] = {"l": 14, "r": 14, "t": 2, "b": 36}
    title = f"points: {jointly} certified jointly, {certified} one by one, {total - certified} open"
    layout["xaxis"] = axis(theme, title, range=[0, 1.03 * total], fixedrange=True, nticks=9)
    layout["yaxis"] = {"visible": False, "range": [-0.55, 0.55], "fixedrange": True}
    return {"data": traces, "layout": layout}


def _bar(low: float, high: float, colour: str, name: str) -> Figure:
    return {
        "type": "bar",
        "orientation": "h",
        "base": [low],
        "x": [max(high - low, 0.0)],
        "y": [0],
        "width": [0.8],
        "marker": {"color": colour, "opacity": 0.85},
        "hovertemplate": f"{name}: {low:.4g} to {high:.4g}<extra></extra>",
    }


def _note(x: float, text: str, theme: Theme, *, dark: bool = False) -> Figure:
    return {
        "x": x,
        "y": 0,
        "text": text,
        "showarrow": False,
        "font": {"size": 12, "color": "#1b2433" if dark else "#ffffff"},
    }


def classes_on(path: Sequence[PathStep], target: str, shown: int = 4) -> list[str]:
    """The classes that get the most votes on the way, the claimed one first."""
    totals: dict[str, float] = {}
    for step in path:
        for name in step.votes:
            totals[name] = totals.get(name, 0.0) + step.share(name)
    return sorted(totals, key=lambda name: (name != target, -totals[name]))[:shown]


def path_figure(
    path: Sequence[PathStep], target: str, certified: float | None, theme: Theme, *, shown: int = 4
) -> Figure:
    """Shares of votes on the way from the identity (0) to the attack (1)."""
    names = classes_on(path, target, shown)
    colours = [RIGHT, WRONG, KINDS[0], KINDS[1]]
    traces: list[Figure] = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": name.replace("_", " "),
            "x": [100 * step.part for step in path],
            "y": [100 * step.share(name) for step in path],
            "line": {"color": colour, "width": 3 if name == target else 2.2, "dash": dash},
            "marker": {"size": 5},
            "hovertemplate": "%{y:.0f} % of votes<extra>" + name + "</extra>",
        }
        for name, colour, dash in zip(names, colours, ("solid", "solid", "dash", "dot"), strict=False)
    ]
    layout = base_layout(theme, showlegend=True, hovermode="x unified")
    layout["margin"] = {"l": 52, "r": 12, "t": 30, "b": 42}
    layout["legend"] = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}}
    layout["xaxis"] = axis(theme, "way from the object to the attack", range=[-1, 101], ticksuffix=" %")
    layout["yaxis"] = axis(theme, "votes", range=[-2, 102], ticksuffix=" %")
    if certified is not None and certified > 0:
        layout["shapes"] = [
            {
                "type": "rect",
                "x0": 0,
                "x1": min(100.0, 100 * certified),
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "layer": "below",
                "fillcolor": STATES["passed"],
                "opacity": 0.12,
                "line": {"width": 0},
            }
        ]
    return {"data": traces, "layout": layout}
