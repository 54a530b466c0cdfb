"""The map of a certificate on the Debug page: every cell can be clicked, the chosen one is framed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from app.figures.arrays import packed, xyz
from app.figures.axes import parameter_axes
from app.figures.cells import Mode, cell_text, curve_figure, heatmap_figure, slice_cells, star, volume_figure
from app.figures.theme import OKABE_ITO, STATES, Figure, Theme
from app.server.jobs import CellView
from tpc_core.case_view import CaseView, is_short
from tpc_core.landscape import ChartAxis
from tpc_core.proofs import CellStanding

_FLOOR = 0.4
"""Where the bars of a curve begin."""
_MOST_MARKS = 120
_ON_GREY = "#47505F"
"""Words on cells without votes, which are light grey in both themes."""


def cell_views(cells: Sequence[CellStanding]) -> list[CellView]:
    """The cells as the live map draws them; one whose p_A is too small beyond doubt has failed, others are open."""
    return [
        CellView.of(cell, "failed" if is_short(cell) else "testing")
        for cell in cells
        if cell.cell is not None
    ]


def _in_words(figure: Figure) -> Figure:
    """The names of the states after a run: what is not being tested any more is open."""
    names = {"testing": "open", "waiting": "no votes"}
    bar = figure["data"][0].get("colorbar") or figure["data"][0].get("marker", {}).get("colorbar", {})
    if "ticktext" in bar:
        bar["ticktext"] = [names.get(name, name) for name in bar["ticktext"]]
    return figure


def curve(case: CaseView, chosen: str | None, theme: Theme) -> Figure:
    """1-D: bars up to the bound; a column over each cell takes the clicks, however low its bar is."""
    views = cell_views(case.leaves)
    (along,) = parameter_axes(case.transform)
    figure = curve_figure(views, case.transform, float(case.radii[0]), theme)
    figure["data"][0] |= {"hoverinfo": "skip"}
    figure["data"].append(_columns(views, along))
    picked = case.by_path.get(chosen or "")
    shapes = figure["layout"]["shapes"]
    if picked is not None and picked.cell is not None:
        low, high = along.shown(picked.cell.low[0]), along.shown(picked.cell.high[0])
        line = {"color": theme.text, "width": 2.5}
        shapes.append(
            {"type": "rect", "x0": low, "x1": high, "y0": _FLOOR, "y1": 1.02, "line": line, "layer": "above"}
        )
    attack = case.attack
    if attack is not None:
        figure["data"].append(star([along.shown(attack.parameter[0])], [_FLOOR + 0.03], theme))
    return figure


def _columns(views: Sequence[CellView], along: ChartAxis) -> Figure:
    low = np.array([along.shown(view.cell.low[0]) for view in views])
    high = np.array([along.shown(view.cell.high[0]) for view in views])
    return {
        "type": "bar",
        "x": packed((low + high) / 2, "f8"),
        "width": packed(high - low, "f8"),
        "base": _FLOOR,
        "y": packed(np.full(len(views), 0.62), "f8"),
        "marker": {"color": [STATES[view.state] for view in views], "opacity": 0.07},
        "hovertext": [cell_text(view, (along,)) for view in views],
        "hoverinfo": "text",
        "customdata": [view.cell.path for view in views],
        "showlegend": False,
        "name": "cells",
    }


def heatmap(
    case: CaseView,
    chosen: str | None,
    mode: Mode,
    theme: Theme,
    *,
    sides: tuple[int, int] = (0, 1),
    at: float = 0.0,
) -> Figure:
    """2-D, or a slice of 3-D."""
    assert case.region is not None
    half = case.region.half_widths
    figure = _in_words(
        heatmap_figure(cell_views(case.leaves), case.transform, half, mode, theme, sides=sides, at=at)
    )
    axes = parameter_axes(case.transform)
    picked = case.by_path.get(chosen or "")
    if picked is not None and picked.cell is not None:
        low = [axes[side].shown(picked.cell.low[side]) for side in sides]
        high = [axes[side].shown(picked.cell.high[side]) for side in sides]
        for colour, width in ((theme.paper, 6), (theme.text, 3)):
            figure["data"].append(_frame(low, high, colour, width))
    figure["data"].append(_unknown(case, sides, at, theme))
    attack = case.attack
    if attack is not None:
        places = [[axes[side].shown(attack.parameter[side])] for side in sides]
        figure["data"].append(star(places[0], places[1], theme))
    return figure


def _unknown(case: CaseView, sides: tuple[int, int], at: float, theme: Theme) -> Figure:
    """A question mark in every part of the region that has no vote, unless there are too many."""
    axes = parameter_axes(case.transform)
    blank = slice_cells(cell_views(case.untested), sides, at)
    if len(blank) > _MOST_MARKS:
        blank = []  # they would hide the cells
    return {
        "type": "scatter",
        "mode": "text",
        "hoverinfo": "skip",
        "x": [axes[sides[0]].shown(_middle(view, sides[0])) for view in blank],
        "y": [axes[sides[1]].shown(_middle(view, sides[1])) for view in blank],
        "text": ["?"] * len(blank),
        "textfont": {"size": 13, "color": _ON_GREY},
    }


def _middle(view: CellView, side: int) -> float:
    return (view.cell.low[side] + view.cell.high[side]) / 2


def _frame(low: Sequence[float], high: Sequence[float], colour: str, width: float) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "hoverinfo": "skip",
        "x": [low[0], high[0], high[0], low[0], low[0]],
        "y": [low[1], low[1], high[1], high[1], low[1]],
        "line": {"color": colour, "width": width},
    }


def volume(case: CaseView, chosen: str | None, mode: Mode, theme: Theme) -> Figure:
    """3-D: the tested points of all cells."""
    assert case.region is not None
    leaves = list(case.leaves)
    views = cell_views(leaves)
    if case.is_polar:
        # Polar cells are drawn at their tested rotation vectors, as small marks.
        sliver = 0.05 * np.asarray(case.region.half_widths)
        places = [facts.z for facts in leaves if facts.cell is not None]
        views = [
            replace(view, cell=replace(view.cell, low=tuple(place - sliver), high=tuple(place + sliver)))
            for view, place in zip(views, places, strict=True)
        ]
    figure = _in_words(volume_figure(views, case.transform, case.region.half_widths, mode, theme))
    factor = np.array([axis.factor for axis in parameter_axes(case.transform)])
    picked = case.by_path.get(chosen or "")
    marks: list[tuple[str, NDArray[np.float64], str]] = []
    if picked is not None and picked.tested:
        marks.append(("chosen", picked.z * factor, theme.text))
    if case.attack is not None:
        marks.append(("attack", np.array(case.attack.parameter) * factor, OKABE_ITO[5]))
    for name, place, colour in marks:
        figure["data"].append(
            {
                "type": "scatter3d",
                "mode": "markers",
                **xyz(place[None]),
                "name": name,
                "hovertemplate": f"{name}<extra></extra>",
                "customdata": [name],
                "marker": {
                    "size": 9,
                    "color": colour,
                    "symbol": "diamond" if name == "attack" else "circle-open",
                    "line": {"color": colour, "width": 3},
                },
            }
        )
    return figure
