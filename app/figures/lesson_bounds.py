"""Lesson 3: many experiments with a known truth, and what becomes of the error of those who peek."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from app.figures.arrays import packed
from app.figures.theme import KINDS, WRONG, Figure, Theme, axis, base_layout
from app.words import words
from tpc_core.teaching import Method, PeekingStudy, Repeated

SHOWN = 100
_METHODS: dict[Method, tuple[str, str]] = {
    "peek": (WRONG, "solid"),
    "staged": (KINDS[0], "solid"),
    "anytime": (KINDS[2], "solid"),
    "once": (KINDS[1], "dot"),
}


def experiments_figure(repeated: Repeated, colours: Mapping[str, str], theme: Theme) -> Figure:
    """The last 100 experiments: the share of votes, and the bound below it; wrong where it is above the truth."""
    last = slice(max(0, len(repeated.bounds) - SHOWN), None)
    bounds, shares = repeated.bounds[last], repeated.counts[last] / repeated.n
    wrong = repeated.wrong[last]
    number = np.arange(len(repeated.bounds))[last] + 1
    gap = np.full(len(number), np.nan)
    stems: Figure = {
        "type": "scatter", "mode": "lines", "hoverinfo": "skip", "showlegend": False,
        "x": packed(np.stack([number, number, gap], axis=1).ravel(), "f8"),
        "y": packed(np.stack([bounds, shares, gap], axis=1).ravel(), "f8"),
        "line": {"color": theme.ghost, "width": 1.5},
    }  # fmt: skip
    traces = [stems]
    for bad, name, colour, symbol in (
        (False, words("lesson3.fig_holds"), theme.agree, "circle"),
        (True, words("lesson3.fig_fails"), theme.differ, "x"),
    ):
        rows = wrong == bad
        traces.append(
            {
                "type": "scatter", "mode": "markers", "name": name, "x": packed(number[rows], "f8"),
                "y": packed(bounds[rows], "f8"),
                "marker": {"size": 10 if bad else 6, "color": colour, "symbol": symbol},
                "hovertemplate": words("lesson3.fig_one") + "<extra></extra>",
            }
        )  # fmt: skip
    layout = _layout(theme)
    low = max(0.0, float(bounds.min(initial=1.0)) - 0.03)
    layout["xaxis"] = axis(
        theme,
        words("lesson3.fig_experiment"),
        range=[float(number[0]) - 1, float(number[-1]) + 1],
        fixedrange=True,
    )
    layout["yaxis"] = axis(theme, words("lesson3.fig_bound"), range=[low, 1.01], fixedrange=True)
    layout["shapes"] = [_level(repeated.p, colours["p"], "solid")]
    layout["annotations"] = [_note(repeated.p, words("lesson3.fig_truth"), colours["p"])]
    return {"data": traces, "layout": layout}


def peeking_figure(study: PeekingStudy, colours: Mapping[str, str], theme: Theme) -> Figure:
    """The share of people who have claimed too much by each look, for four ways of looking."""
    looks = np.arange(len(study.sizes)) + 1
    traces: list[Figure] = []
    names: dict[Method, str] = {
        "peek": words("lesson3.fig_peek"),
        "staged": words("lesson3.fig_staged"),
        "anytime": words("lesson3.fig_anytime"),
        "once": words("lesson3.fig_once"),
    }
    for method, (colour, dash) in _METHODS.items():
        name = names[method]
        once = method == "once"
        traces.append(
            {
                "type": "scatter", "mode": "markers" if once else "lines", "name": name,
                "x": packed(looks[-1:] if once else looks, "f8"),
                "y": packed(100 * (study.wrong[method][-1:] if once else study.wrong[method]), "f8"),
                "line": {"color": colour, "width": 3, "dash": dash, "shape": "hv"},
                "marker": {"size": 12, "color": colour, "symbol": "diamond"},
                "hovertemplate": words("lesson3.fig_look") + "<extra>" + name + "</extra>",
            }
        )  # fmt: skip
    layout = _layout(theme)
    top = 100 * max(1.8 * study.alpha, *(float(wrong.max()) * 1.15 for wrong in study.wrong.values()))
    layout["xaxis"] = axis(
        theme, words("lesson3.fig_looks"), range=[0.5, float(looks[-1]) + 0.5], fixedrange=True
    )
    layout["yaxis"] = axis(
        theme, words("lesson3.fig_claimed"), range=[0, top], ticksuffix=" %", fixedrange=True
    )
    layout["shapes"] = [_level(100 * study.alpha, colours["count"], "dash")]
    layout["annotations"] = [_note(100 * study.alpha, words("lesson3.fig_allowed"), colours["count"])]
    return {"data": traces, "layout": layout}


def _layout(theme: Theme) -> Figure:
    layout = base_layout(theme, showlegend=True, hovermode="closest")
    layout["margin"] = {"l": 56, "r": 14, "t": 30, "b": 40}
    layout["legend"] = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}}
    return layout


def _level(y: float, colour: str, dash: str) -> Figure:
    line = {"color": colour, "width": 2, "dash": dash}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y, "line": line}


def _note(y: float, text: str, colour: str) -> Figure:
    return {
        "xref": "paper", "x": 0.995, "xanchor": "right", "y": y, "yanchor": "bottom", "showarrow": False,
        "text": text, "font": {"size": 12, "color": colour},
    }  # fmt: skip
