"""The map of a certificate on the Debug page: every cell can be clicked, the chosen one is framed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from app.figures.arrays import packed, xyz
from app.figures.axes import parameter_axes
from app.figures.region_map import MapScene, Piece, line_map, plane_map, space_map
from app.figures.region_map.cell_colours import Mode, cell_text, piece_of, scale_of
from app.figures.theme import STATES, Figure, Theme
from app.server.jobs import CellView
from tpc_core.case_view import CaseView, is_short
from tpc_core.landscape import Chart, ChartAxis
from tpc_core.proofs import CellStanding

_MOST_MARKS = 120
_ON_GREY = "#47505F"
"""Words on cells without votes, which are light grey in both themes."""


def cell_colour(facts: CellStanding) -> str:
    """The colour of a cell: passed, beyond hope, or still open."""
    return STATES["passed" if facts.state == "passed" else "failed" if is_short(facts) else "testing"]


def cell_views(cells: Sequence[CellStanding]) -> list[CellView]:
    """The cells as the live map draws them; one whose p_A is too small beyond doubt has failed, others are open."""
    return [
        CellView.of(cell, "failed" if is_short(cell) else "testing")
        for cell in cells
        if cell.cell is not None
    ]


def case_scene(case: CaseView, cells: Sequence[CellView], mode: Mode | None) -> MapScene:
    """A certificate as a map: its cells, in the colours of a mode or as they stand, and its attack."""
    assert case.region is not None
    chart, half = Chart(case.transform, parameter_axes(case.transform)), case.region.half_widths
    return MapScene(
        chart,
        half,
        half,
        pieces=[piece_of(view, chart.axes, mode) for view in cells],
        attack=None if case.attack is None else tuple(case.attack.parameter),
        scale=None if mode is None else scale_of(mode),
    )


def curve(case: CaseView, chosen: str | None, theme: Theme) -> Figure:
    """1-D: bars up to the bound; a column over each cell takes the clicks, however low its bar is."""
    views = cell_views(case.leaves)
    (along,) = parameter_axes(case.transform)
    figure = line_map(case_scene(case, views, None), theme)
    floor, top = figure["layout"]["yaxis"]["range"]
    for trace in figure["data"]:
        if trace["type"] == "bar":
            trace["hoverinfo"] = "skip"
    figure["data"].append(_columns(views, along, floor, top))
    picked = case.by_path.get(chosen or "")
    if picked is not None and picked.cell is not None:
        low, high = along.shown(picked.cell.low[0]), along.shown(picked.cell.high[0])
        line = {"color": theme.text, "width": 2.5}
        figure["layout"]["shapes"].append(
            {"type": "rect", "x0": low, "x1": high, "y0": floor, "y1": top, "line": line, "layer": "above"}
        )
    return figure


def _columns(views: Sequence[CellView], along: ChartAxis, floor: float, top: float) -> Figure:
    low = np.array([along.shown(view.cell.low[0]) for view in views])
    high = np.array([along.shown(view.cell.high[0]) for view in views])
    return {
        "type": "bar",
        "x": packed((low + high) / 2, "f8"),
        "width": packed(high - low, "f8"),
        "base": floor,
        "y": packed(np.full(len(views), top - floor), "f8"),
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
    figure = plane_map(case_scene(case, cell_views(case.leaves), mode), theme, sides=sides, at=at)
    axes = parameter_axes(case.transform)
    picked = case.by_path.get(chosen or "")
    if picked is not None and picked.cell is not None:
        low = [axes[side].shown(picked.cell.low[side]) for side in sides]
        high = [axes[side].shown(picked.cell.high[side]) for side in sides]
        for colour, width in ((theme.paper, 6), (theme.text, 3)):
            figure["data"].append(_frame(low, high, colour, width))
    figure["data"].append(_unknown(case, sides, at))
    return figure


def _unknown(case: CaseView, sides: tuple[int, int], at: float) -> Figure:
    """A question mark in every part of the region that has no vote, unless there are too many."""
    axes = parameter_axes(case.transform)
    across = [side for side in range(len(axes)) if side not in sides]
    blank = [
        view.cell
        for view in cell_views(case.untested)
        if all(view.cell.low[side] <= at <= view.cell.high[side] for side in across)
    ]
    if len(blank) > _MOST_MARKS:
        blank = []  # they would hide the cells
    x, y = ([axes[side].shown((cell.low[side] + cell.high[side]) / 2) for cell in blank] for side in sides)
    return {
        "type": "scatter",
        "mode": "text",
        "hoverinfo": "skip",
        "x": x,
        "y": y,
        "text": ["?"] * len(blank),
        "textfont": {"size": 13, "color": _ON_GREY},
    }


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
    """3-D: the cells as boxes, with a dot in each that can be clicked."""
    scene = case_scene(case, cell_views(case.leaves), mode)
    if case.is_polar:
        scene = replace(scene, pieces=_at_rotations(case, scene))
    figure = space_map(scene, theme, with_slice=False)
    picked = case.by_path.get(chosen or "")
    if picked is not None and picked.tested:
        factor = np.array([axis.factor for axis in scene.chart.axes])
        figure["data"].append(
            {
                "type": "scatter3d",
                "mode": "markers",
                **xyz((picked.z * factor)[None]),
                "name": "chosen",
                "hovertemplate": "chosen<extra></extra>",
                "marker": {
                    "size": 11,
                    "color": theme.text,
                    "symbol": "circle-open",
                    "line": {"color": theme.text, "width": 3},
                },
            }
        )
    return figure


def _at_rotations(case: CaseView, scene: MapScene) -> list[Piece]:
    """Cells in polar coordinates: small boxes at the rotation vectors that were tested."""
    sliver = 0.05 * scene.region
    places = [facts.z for facts in case.leaves if facts.cell is not None]
    return [
        replace(piece, low=tuple(place - sliver), high=tuple(place + sliver))
        for piece, place in zip(scene.pieces, places, strict=True)
    ]
