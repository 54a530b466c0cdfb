"""Lesson 7: the form of one neuron, and the margins of the network with what is proved of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from app.figures.arrays import packed
from app.figures.theme import Figure, Theme, axis, base_layout
from app.words import words
from tpc_core.teaching import MarginForms, NeuronForm


def neuron_figure(neuron: NeuronForm, at: float, colours: Mapping[str, str], theme: Theme) -> Figure:
    """The neuron over its cell, inside of the band that its form leaves."""
    band_x = np.concatenate([neuron.places, neuron.places[::-1]])
    band_y = np.concatenate([neuron.middle + neuron.error, (neuron.middle - neuron.error)[::-1]])
    inside = float(np.clip(at, neuron.low, neuron.high))
    traces: list[Figure] = [
        {
            "type": "scatter", "mode": "lines", "name": words("lesson7.fig_form"), "fill": "toself",
            "x": packed(band_x, "f8"), "y": packed(band_y, "f8"), "hoverinfo": "skip",
            "line": {"color": colours["p"], "width": 1}, "fillcolor": _faint(colours["p"]),
        },
        {
            "type": "scatter", "mode": "lines", "name": words("lesson7.fig_before"), "hoverinfo": "skip",
            "x": packed(neuron.places, "f8"), "y": packed(neuron.before, "f8"),
            "line": {"color": theme.muted, "width": 1.5, "dash": "dot"},
        },
        {
            "type": "scatter", "mode": "lines", "name": "ReLU(x)", "hoverinfo": "skip",
            "x": packed(neuron.places, "f8"), "y": packed(neuron.after, "f8"),
            "line": {"color": theme.text, "width": 3},
        },
        {
            "type": "scatter", "mode": "markers", "showlegend": False, "hoverinfo": "skip", "x": [inside],
            "y": [float(np.interp(inside, neuron.places, neuron.after))],
            "marker": {"size": 12, "color": colours["attack"], "line": {"color": theme.paper, "width": 2}},
        },
    ]  # fmt: skip
    layout = _layout(theme)
    span = neuron.high - neuron.low
    layout["xaxis"] = axis(
        theme, words("lesson7.fig_within"), range=[neuron.low - 0.03 * span, neuron.high + 0.03 * span],
        fixedrange=True,
    )  # fmt: skip
    layout["yaxis"] = axis(theme, words("lesson7.fig_neuron"), fixedrange=True)
    return {"data": traces, "layout": layout}


def margins_figure(forms: MarginForms, at: float, colours: Mapping[str, str], theme: Theme) -> Figure:
    """The margin at every taper, above the level that is proved of each cell; below zero a cell is open."""
    edge = float(forms.edges[-1])
    shown = np.maximum(forms.bounds, _floor(forms))
    gap = np.nan
    traces: list[Figure] = []
    for proved, name, colour in (
        (True, words("lesson7.fig_proved"), colours["p"]),
        (False, words("lesson7.fig_open"), theme.differ),
    ):
        some = np.flatnonzero(forms.proved == proved)
        x = np.array([[forms.edges[k], forms.edges[k + 1], gap] for k in some]).ravel()
        y = np.array([[shown[k], shown[k], gap] for k in some]).ravel()
        traces.append(
            {
                "type": "scatter", "mode": "lines", "name": name, "showlegend": bool(len(some)),
                "x": packed(x, "f8"), "y": packed(y, "f8"), "hoverinfo": "skip",
                "line": {"color": colour, "width": 4, "dash": "solid" if proved else "dot"},
            }
        )  # fmt: skip
    traces.append(
        {
            "type": "scatter", "mode": "lines", "name": words("lesson7.fig_own"), "x": packed(forms.places, "f8"),
            "y": packed(forms.margins, "f8"), "line": {"color": theme.text, "width": 2.5},
            "hovertemplate": words("lesson7.fig_at") + "<extra></extra>",
        }
    )  # fmt: skip
    traces.append(
        {
            "type": "scatter", "mode": "markers", "showlegend": False, "hoverinfo": "skip", "x": [at],
            "y": [float(np.interp(at, forms.places, forms.margins))],
            "marker": {"size": 12, "color": colours["attack"], "line": {"color": theme.paper, "width": 2}},
        }
    )  # fmt: skip
    layout = _layout(theme)
    layout["xaxis"] = axis(
        theme, words("lesson5.fig_taper"), range=[-1.03 * edge, 1.03 * edge], fixedrange=True
    )
    top = 1.15 * float(forms.margins.max(initial=1.0))
    layout["yaxis"] = axis(
        theme, words("lesson7.fig_margin"), range=[1.1 * _floor(forms), top], fixedrange=True
    )
    mine = forms.cell_of(at)
    layout["shapes"] = [
        {
            "type": "rect", "x0": float(forms.edges[k]), "x1": float(forms.edges[k + 1]), "yref": "paper", "y0": 0,
            "y1": 1, "layer": "below", "fillcolor": colours["p"] if forms.proved[k] else theme.muted,
            "opacity": 0.2 if k == mine else 0.07, "line": {"color": theme.grid, "width": 1},
        }
        for k in range(len(forms.bounds))
    ] + [
        {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 0, "y1": 0,
         "line": {"color": theme.text, "width": 1}}
    ]  # fmt: skip
    return {"data": traces, "layout": layout}


def _floor(forms: MarginForms) -> float:
    """A bound far below zero says no more than one a little below: the axis ends here."""
    return -0.6 * max(1.0, float(forms.margins.max(initial=1.0)))


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.18)"


def _layout(theme: Theme) -> Figure:
    layout = base_layout(theme, showlegend=True, hovermode="closest")
    layout["margin"] = {"l": 52, "r": 14, "t": 30, "b": 40}
    layout["legend"] = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}}
    return layout
