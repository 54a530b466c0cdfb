"""Lessons 1, 2 and 4: what a classifier says along the line of twists, its average, and what is guaranteed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

from app.figures.arrays import packed
from app.figures.theme import Figure, Theme, axis, base_layout
from app.words import words

Array = NDArray[np.float64]


def trail_figure(
    tried: Mapping[float, str],
    at: float,
    right: str,
    known: Sequence[tuple[float, str]] | None,
    attack_colour: str,
    theme: Theme,
) -> Figure:
    """Lesson 1: the twists that were tried and what the classifier said; all of them once `known` is shown."""
    traces: list[Figure] = []
    for good, colour, symbol in ((True, theme.agree, "circle"), (False, theme.differ, "x")):
        places = [angle for angle, name in tried.items() if (name == right) == good]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": words("lesson1.fig_right") if good else words("lesson1.fig_wrong"),
                "x": places,
                "y": [0.5] * len(places),
                "text": [tried[place] for place in places],
                "hovertemplate": "%{x:.0f}°: %{text}<extra></extra>",
                "marker": {"size": 11, "color": colour, "symbol": symbol},
            }
        )
    layout = base_layout(theme, hovermode="closest")
    layout["margin"] = {"l": 14, "r": 14, "t": 22, "b": 40}
    layout["xaxis"] = axis(
        theme,
        words("lesson1.fig_twist"),
        range=[-186, 186],
        tickvals=list(range(-180, 181, 45)),
        fixedrange=True,
    )
    layout["yaxis"] = {"visible": False, "range": [0, 1], "fixedrange": True}
    layout["shapes"] = [_upright(at, attack_colour)]
    layout["annotations"] = []
    if known:
        stretches = _stretches(known)
        layout["shapes"] += [
            {
                "type": "rect",
                "x0": low,
                "x1": high,
                "y0": 0.12,
                "y1": 0.88,
                "layer": "below",
                "line": {"width": 0},
                "fillcolor": theme.agree if name == right else theme.differ,
                "opacity": 0.28,
            }
            for low, high, name in stretches
        ]
        layout["annotations"] = [
            {"x": (low + high) / 2, "y": 1.0, "yref": "paper", "yanchor": "bottom", "text": name,
             "showarrow": False, "font": {"size": 12, "color": theme.agree if name == right else theme.differ}}
            for low, high, name in stretches if high - low > 18
        ]  # fmt: skip
    return {"data": traces, "layout": layout}


def _stretches(known: Sequence[tuple[float, str]]) -> list[tuple[float, float, str]]:
    """Neighbouring places of one answer, joined."""
    step = known[1][0] - known[0][0]
    joined: list[tuple[float, float, str]] = []
    for place, name in known:
        if joined and joined[-1][2] == name:
            joined[-1] = (joined[-1][0], place + step / 2, name)
        else:
            joined.append((place - step / 2, place + step / 2, name))
    return joined


def voting_figure(
    places: Array,
    right: NDArray[np.bool_],
    share: Array,
    *,
    at: float,
    sigma: float,
    draws: Array,
    agree: NDArray[np.bool_],
    colours: Mapping[str, str],
    theme: Theme,
) -> Figure:
    """Lesson 2: the base answer (0 or 1), its Gaussian average, and the votes that estimate it at one place."""
    bell = np.exp(-0.5 * ((places - at) / sigma) ** 2)
    traces: list[Figure] = [
        {
            "type": "scatter", "mode": "lines", "name": words("lesson2.fig_noise"), "x": packed(places, "f8"),
            "y": packed(0.42 * bell, "f8"), "fill": "tozeroy", "fillcolor": _faint(colours["sigma"], 0.16),
            "line": {"color": colours["sigma"], "width": 1.5}, "hoverinfo": "skip",
        },
        {
            "type": "scatter", "mode": "lines", "name": words("lesson2.fig_base"), "x": packed(places, "f8"),
            "y": packed(right.astype(float), "f8"), "line": {"color": theme.muted, "width": 1.5, "shape": "hvh"},
            "hoverinfo": "skip",
        },
        {
            "type": "scatter", "mode": "lines", "name": words("lesson2.fig_smoothed"), "x": packed(places, "f8"),
            "y": packed(share, "f8"), "line": {"color": colours["p"], "width": 3},
            "hovertemplate": "θ = %{x:.0f}°: q = %{y:.3f}<extra></extra>",
        },
    ]  # fmt: skip
    for good, colour in ((True, theme.agree), (False, theme.differ)):
        landed = at + draws[agree == good]
        traces.append(
            {
                "type": "scatter", "mode": "markers", "name": "votes", "showlegend": False,
                "x": packed(landed, "f8"), "y": packed(np.full(len(landed), 0.04), "f8"), "hoverinfo": "skip",
                "marker": {"symbol": "line-ns-open", "size": 13, "color": colour, "line": {"width": 1.5}},
            }
        )  # fmt: skip
    traces.append(
        {
            "type": "scatter", "mode": "markers", "name": "n_A / n", "showlegend": False, "x": [at],
            "y": [float(np.mean(agree))], "hovertemplate": words("lesson2.fig_votes") + "<extra></extra>",
            "marker": {"size": 13, "color": colours["p"], "line": {"color": theme.paper, "width": 2}},
        }
    )  # fmt: skip
    layout = _line_layout(theme)
    layout["shapes"] = [_upright(at, colours["attack"]), _half(theme)]
    return {"data": traces, "layout": layout}


def guarantee_figure(
    places: Array,
    share: Array,
    guaranteed: Array,
    *,
    at: float,
    radius: float,
    colours: Mapping[str, str],
    theme: Theme,
) -> Figure:
    """Lesson 4: q along the attacks, and the least that any classifier with this p_A could have."""
    traces: list[Figure] = [
        {
            "type": "scatter", "mode": "lines", "name": words("lesson4.fig_model"), "x": packed(places, "f8"),
            "y": packed(share, "f8"), "line": {"color": colours["p"], "width": 3},
            "hovertemplate": "θ = %{x:.0f}°: q = %{y:.3f}<extra></extra>",
        },
        {
            "type": "scatter", "mode": "lines", "name": words("lesson4.fig_guaranteed"), "x": packed(places, "f8"),
            "y": packed(guaranteed, "f8"), "line": {"color": theme.text, "width": 2, "dash": "dash"},
            "hovertemplate": words("lesson4.fig_least") + "<extra></extra>",
        },
        {
            "type": "scatter", "mode": "markers", "name": "here", "showlegend": False, "x": [at],
            "y": [float(np.interp(at, places, guaranteed))], "hoverinfo": "skip",
            "marker": {"size": 12, "color": colours["attack"], "line": {"color": theme.paper, "width": 2}},
        },
    ]  # fmt: skip
    layout = _line_layout(theme)
    layout["shapes"] = [_upright(at, colours["attack"]), _half(theme)]
    if radius > 0:
        layout["shapes"].append(
            {
                "type": "rect", "x0": -radius, "x1": radius, "yref": "paper", "y0": 0, "y1": 1, "layer": "below",
                "fillcolor": colours["radius"], "opacity": 0.14, "line": {"width": 0},
            }
        )  # fmt: skip
        layout["annotations"] = [
            {
                "x": 0, "y": 0.04, "yref": "paper", "yanchor": "bottom", "showarrow": False,
                "text": words("lesson4.fig_certified", radius=radius), "font": {"size": 13, "color": colours["radius"]},
            }
        ]  # fmt: skip
    return {"data": traces, "layout": layout}


def bells_figure(
    at: float, sigma: float, p_a: float, colours: Mapping[str, str], theme: Theme, reach: float = 330.0
) -> Figure:
    """Lesson 4: the noise before and after the attack, and the worst set of draws that holds p_A of it before."""
    x = np.linspace(-reach, reach, 661)
    before, after = (np.exp(-0.5 * ((x - centre) / sigma) ** 2) for centre in (0.0, at))
    edge = float(special.ndtri(p_a)) * sigma
    inside = x <= edge if at >= 0 else x >= -edge
    kept = float(special.ndtr((edge - abs(at)) / sigma))
    traces: list[Figure] = []
    for name, bell, colour in (
        (words("lesson4.fig_before", share=p_a), before, colours["p"]),
        (words("lesson4.fig_after", share=kept), after, colours["attack"]),
    ):
        traces.append(
            {
                "type": "scatter", "mode": "lines", "showlegend": False, "x": packed(x[inside], "f8"),
                "y": packed(bell[inside], "f8"), "fill": "tozeroy", "fillcolor": _faint(colour, 0.22),
                "line": {"width": 0}, "hoverinfo": "skip",
            }
        )  # fmt: skip
        traces.append(
            {
                "type": "scatter", "mode": "lines", "name": name, "x": packed(x, "f8"), "y": packed(bell, "f8"),
                "line": {"color": colour, "width": 2.5}, "hoverinfo": "skip",
            }
        )  # fmt: skip
    layout = base_layout(theme, showlegend=True)
    layout["margin"] = {"l": 48, "r": 14, "t": 30, "b": 40}
    layout["legend"] = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}}
    layout["xaxis"] = axis(theme, words("lesson4.fig_seen"), range=[-reach, reach], fixedrange=True)
    layout["yaxis"] = {"visible": False, "range": [0, 1.08], "fixedrange": True}
    place = edge if at >= 0 else -edge
    layout["shapes"] = [
        {**_upright(place, theme.text), "line": {"color": theme.text, "width": 2, "dash": "dash"}}
    ]
    return {"data": traces, "layout": layout}


def _line_layout(theme: Theme) -> Figure:
    layout = base_layout(theme, showlegend=True, hovermode="closest")
    layout["margin"] = {"l": 48, "r": 14, "t": 30, "b": 40}
    layout["legend"] = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}}
    layout["xaxis"] = axis(
        theme,
        words("lesson1.fig_twist"),
        range=[-182, 182],
        tickvals=list(range(-180, 181, 45)),
        fixedrange=True,
    )
    layout["yaxis"] = axis(theme, range=[-0.02, 1.05], tickvals=[0, 0.5, 1], fixedrange=True)
    return layout


def _upright(x: float, colour: str) -> Figure:
    return {
        "type": "line", "x0": x, "x1": x, "yref": "paper", "y0": 0, "y1": 1, "line": {"color": colour, "width": 2.5},
    }  # fmt: skip


def _half(theme: Theme) -> Figure:
    return {
        "type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 0.5, "y1": 0.5, "layer": "below",
        "line": {"color": theme.muted, "width": 1, "dash": "dot"},
    }  # fmt: skip


def _faint(colour: str, opacity: float) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"
