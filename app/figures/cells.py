"""The live map of p_A over the cells of a cover: a curve in 1-D, a heatmap in 2-D, slices and a 3D map in 3-D."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from app.figures.arrays import packed, xyz
from app.figures.axes import parameter_axes
from app.figures.cloud import CAMERA
from app.figures.theme import (
    DIVERGING,
    OKABE_ITO,
    SEQUENTIAL,
    STATES,
    Figure,
    Theme,
    axis,
    base_layout,
    colour_bar,
)
from app.server.jobs import CellView
from tpc_core import Transform
from tpc_core.landscape import ChartAxis

Mode = Literal["bound", "margin", "samples", "state", "coverage"]
MODES: dict[Mode, str] = {
    "bound": "Lower bound",
    "margin": "Margin",
    "samples": "Samples",
    "state": "State",
    "coverage": "Coverage",
}
_ORDER = tuple(STATES)


@dataclass(frozen=True)
class Scale:
    """How a mode becomes colour: the range is fixed, so a colour means the same all through a run."""

    low: float
    high: float
    colours: str | list[list[Any]]
    title: str
    ticks: tuple[tuple[float, str], ...] = ()

    def bar(self, theme: Theme) -> Figure:
        more = {}
        if self.ticks:
            more = {"tickvals": [t for t, _ in self.ticks], "ticktext": [name for _, name in self.ticks]}
        return colour_bar(theme, self.title, **more)


def scale_of(mode: Mode) -> Scale:
    """The fixed colour scale of a mode."""
    if mode == "margin":
        return Scale(-0.1, 0.1, DIVERGING, "bound minus needed")
    if mode == "samples":
        ticks = tuple((float(np.log10(n)), f"{n:,}") for n in (32, 128, 512, 2048, 8192))
        return Scale(np.log10(32), np.log10(8192), SEQUENTIAL, "votes", ticks)
    if mode == "state":
        ticks = tuple((float(i), name) for i, name in enumerate(_ORDER))
        return Scale(-0.5, len(_ORDER) - 0.5, _steps([STATES[name] for name in _ORDER]), "", ticks)
    if mode == "coverage":
        return Scale(
            -0.5, 1.5, _steps([STATES["waiting"], STATES["passed"]]), "", ((0, "open"), (1, "covered"))
        )
    return Scale(0.5, 1.0, SEQUENTIAL, "p<sub>A</sub> at least")


def _steps(colours: Sequence[str]) -> list[list[Any]]:
    edges = np.linspace(0, 1, len(colours) + 1)
    pairs = zip(edges[:-1], edges[1:], colours, strict=True)
    return [[float(edge), colour] for low, high, colour in pairs for edge in (low, high)]


def value_of(view: CellView, mode: Mode) -> float:
    """The number that a mode shows of a cell; NaN where it is not known yet."""
    if mode == "state":
        return float(_ORDER.index(view.state))
    if mode == "coverage":
        return float(view.state == "passed")
    if mode == "samples":
        return float(np.log10(view.n)) if view.n else float("nan")
    value = view.lower_bound if mode == "bound" else view.margin
    return float("nan") if value is None else value


def cell_text(view: CellView, axes: Sequence[ChartAxis]) -> str:
    """All that hovering over a cell says."""
    spans = [
        f"{a.name} {a.shown(low):.3g} to {a.shown(high):.3g}{a.unit}"
        for a, low, high in zip(axes, view.cell.low, view.cell.high, strict=True)
    ]
    votes = f"n<sub>A</sub> / n = {view.n_a:,} / {view.n:,}" if view.n else "no votes yet"
    bound = "" if view.lower_bound is None else f"p<sub>A</sub> at least {view.lower_bound:.4f}, "
    return "<br>".join([*spans, votes, f"{bound}needed {view.cell.needed:.4f}", f"<b>{view.state}</b>"])


# -- one dimension ---------------------------------------------------------------------------------------------


def curve_figure(cells: Sequence[CellView], transform: Transform, radius: float, theme: Theme) -> Figure:
    """1-D: each cell a bar up to its lower bound, the bound it needs as a dashed line, p_A itself as dots."""
    (along,) = parameter_axes(transform)
    edge = along.shown(radius)
    ordered = sorted(cells, key=lambda view: view.cell.low[0])
    low = np.array([along.shown(view.cell.low[0]) for view in ordered])
    high = np.array([along.shown(view.cell.high[0]) for view in ordered])
    text = [cell_text(view, (along,)) for view in ordered]
    floor = 0.4
    heights = [max((view.lower_bound or 0.0) - floor, 0.0) for view in ordered]
    bars: Figure = {
        "type": "bar",
        "x": packed((low + high) / 2, "f8"),
        "width": packed(high - low, "f8"),
        "base": floor,
        "y": packed(heights, "f8"),
        "name": "lower bound",
        "marker": {
            "color": [STATES[view.state] for view in ordered],
            "opacity": 0.55,
            "line": {"color": theme.paper, "width": 1.5},
        },
        "hovertext": text,
        "hoverinfo": "text",
        "customdata": [view.cell.path for view in ordered],
    }
    needed: Figure = {
        "type": "scatter",
        "mode": "lines",
        "name": "needed",
        "hoverinfo": "skip",
        "x": packed(np.stack([low, high, np.full(len(low), np.nan)], axis=1).ravel(), "f8")
        if ordered
        else [],
        "y": packed(np.repeat([view.cell.needed for view in ordered], 3), "f8") if ordered else [],
        "line": {"color": theme.text, "width": 2, "dash": "dot"},
    }
    voted = np.array([i for i, view in enumerate(ordered) if view.n], dtype=np.int64)
    dots: Figure = {
        "type": "scatter",
        "mode": "markers",
        "name": "votes n<sub>A</sub> / n",
        "hoverinfo": "skip",
        "x": packed((low + high)[voted] / 2, "f8"),
        "y": packed([ordered[i].n_a / ordered[i].n for i in voted], "f8"),
        "marker": {"color": theme.text, "size": 7, "line": {"color": theme.paper, "width": 1}},
    }
    layout = base_layout(theme, showlegend=True, bargap=0, hovermode="closest")
    layout["margin"] = {"l": 56, "r": 16, "t": 34, "b": 44}
    layout["legend"] = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}}
    layout["xaxis"] = axis(theme, along.title, range=[-1.04 * edge, 1.04 * edge])
    layout["yaxis"] = axis(theme, "p<sub>A</sub>", range=[floor, 1.02])
    layout["shapes"] = [_line(0.0, theme, "dot"), _line(-edge, theme, "solid"), _line(edge, theme, "solid")]
    return {"data": [bars, needed, dots], "layout": layout}


def _line(x: float, theme: Theme, dash: str) -> Figure:
    style = {"color": theme.muted, "width": 1, "dash": dash}
    return {
        "type": "line",
        "x0": x,
        "x1": x,
        "yref": "paper",
        "y0": 0,
        "y1": 1,
        "line": style,
        "layer": "below",
    }


# -- two dimensions --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Raster:
    """Boxes laid out on the grid of all their edges: exact, whatever the sizes of the cells."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    index: NDArray[np.int64]
    """(rows, columns): the number of the cell at each place, -1 where there is none."""


def rasterise(low: NDArray[np.float64], high: NDArray[np.float64]) -> Raster:
    """The grid of boxes [low, high], each (M, 2)."""
    if not len(low):
        return Raster(np.zeros(0), np.zeros(0), np.zeros((0, 0), dtype=np.int64))
    edges = [_edges(np.concatenate([low[:, side], high[:, side]])) for side in (0, 1)]
    index = np.full((len(edges[1]) - 1, len(edges[0]) - 1), -1, dtype=np.int64)
    for number in range(len(low)):
        columns = slice(*_places(edges[0], low[number, 0], high[number, 0]))
        rows = slice(*_places(edges[1], low[number, 1], high[number, 1]))
        index[rows, columns] = number
    return Raster(edges[0], edges[1], index)


def _edges(values: NDArray[np.float64]) -> NDArray[np.float64]:
    ordered = np.unique(values)
    span = ordered[-1] - ordered[0]
    keep = np.concatenate([[True], np.diff(ordered) > 1e-9 * max(span, 1e-300)])
    return np.asarray(ordered[keep])


def _places(edges: NDArray[np.float64], low: float, high: float) -> tuple[int, int]:
    return int(np.argmin(np.abs(edges - low))), int(np.argmin(np.abs(edges - high)))


def heatmap_figure(
    cells: Sequence[CellView],
    transform: Transform,
    half_widths: NDArray[np.float64],
    mode: Mode,
    theme: Theme,
    *,
    sides: tuple[int, int] = (0, 1),
    at: float = 0.0,
) -> Figure:
    """2-D, or a slice of 3-D through `at` (internal units) of the side that is not shown."""
    axes = parameter_axes(transform)
    shown = slice_cells(cells, sides, at)
    factor = np.array([axes[side].factor for side in sides])
    low = np.array([[view.cell.low[side] for side in sides] for view in shown]).reshape(-1, 2) * factor
    high = np.array([[view.cell.high[side] for side in sides] for view in shown]).reshape(-1, 2) * factor
    raster = rasterise(low, high)
    scale = scale_of(mode)
    values = np.array([value_of(view, mode) for view in shown] + [np.nan])
    texts = np.array([cell_text(view, axes) for view in shown] + [""], dtype=object)
    paths = np.array([view.cell.path for view in shown] + [""], dtype=object)
    heat: Figure = {
        "type": "heatmap",
        "x": packed(raster.x, "f8"),
        "y": packed(raster.y, "f8"),
        "z": packed(values[raster.index], "f8") if raster.index.size else [],
        "zmin": scale.low,
        "zmax": scale.high,
        "colorscale": scale.colours,
        "colorbar": scale.bar(theme),
        "text": texts[raster.index].tolist(),
        "customdata": paths[raster.index].tolist(),
        "hovertemplate": "%{text}<extra></extra>",
        "hoverongaps": False,
    }
    traces = [heat, outlines(low, high, theme)]
    if mode in ("bound", "margin"):
        short = np.array([view.margin is not None and view.margin <= 0 for view in shown] + [False])
        traces.append(_contour(raster, short[raster.index]))
    edge = [axes[side].shown(half_widths[side]) for side in sides]
    layout = base_layout(theme, hovermode="closest")
    layout["margin"] = {"l": 56, "r": 12, "t": 38, "b": 44}
    layout["xaxis"] = axis(
        theme, axes[sides[0]].title, range=[-1.02 * edge[0], 1.02 * edge[0]], showgrid=False
    )
    layout["yaxis"] = axis(
        theme, axes[sides[1]].title, range=[-1.02 * edge[1], 1.02 * edge[1]], showgrid=False
    )
    layout["shapes"] = [
        {
            "type": "rect",
            "x0": -edge[0],
            "x1": edge[0],
            "y0": -edge[1],
            "y1": edge[1],
            "line": {"color": theme.muted, "width": 1},
            "fillcolor": theme.grid,
            "opacity": 0.5,
            "layer": "below",
        }
    ]
    return {"data": traces, "layout": layout}


def slice_cells(cells: Sequence[CellView], sides: tuple[int, int], at: float) -> list[CellView]:
    """The cells that a slice meets: all of them in 2-D."""
    if not cells or len(cells[0].cell.low) == 2:
        return list(cells)
    across = next(side for side in range(3) if side not in sides)
    return [view for view in cells if view.cell.low[across] <= at <= view.cell.high[across]]


def _box_lines(low: NDArray[np.float64], high: NDArray[np.float64]) -> Figure:
    gap = np.full(len(low), np.nan)
    x = np.stack([low[:, 0], high[:, 0], high[:, 0], low[:, 0], low[:, 0], gap], axis=1).ravel()
    y = np.stack([low[:, 1], low[:, 1], high[:, 1], high[:, 1], low[:, 1], gap], axis=1).ravel()
    return {
        "type": "scatter",
        "mode": "lines",
        "x": packed(x, "f8"),
        "y": packed(y, "f8"),
        "hoverinfo": "skip",
    }


def outlines(low: NDArray[np.float64], high: NDArray[np.float64], theme: Theme) -> Figure:
    """The borders of the cells, where splits show."""
    return {**_box_lines(low, high), "line": {"color": theme.paper, "width": 1}, "opacity": 0.8}


def _contour(raster: Raster, short: NDArray[np.bool_]) -> Figure:
    """The threshold: a heavy line around the part of the region whose cells do not reach what they need."""
    inside = np.pad(short, 1) if short.size else np.zeros((2, 2), dtype=bool)
    row, column = np.nonzero(inside[1:-1, 1:] != inside[1:-1, :-1])  # upright edges
    x = [np.stack([raster.x[column], raster.x[column], np.full(len(row), np.nan)], axis=1)]
    y = [np.stack([raster.y[row], raster.y[row + 1], np.full(len(row), np.nan)], axis=1)]
    row, column = np.nonzero(inside[1:, 1:-1] != inside[:-1, 1:-1])  # level edges
    x.append(np.stack([raster.x[column], raster.x[column + 1], np.full(len(row), np.nan)], axis=1))
    y.append(np.stack([raster.y[row], raster.y[row], np.full(len(row), np.nan)], axis=1))
    return {
        "type": "scatter",
        "mode": "lines",
        "x": packed(np.concatenate(x).ravel(), "f8"),
        "y": packed(np.concatenate(y).ravel(), "f8"),
        "line": {"color": STATES["failed"], "width": 3},
        "hoverinfo": "skip",
    }


def star(x: Sequence[float], y: Sequence[float], theme: Theme) -> Figure:
    """Where the attack is."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": list(x),
        "y": list(y),
        "name": "attack",
        "cliponaxis": False,
        "customdata": ["attack"],
        "hovertemplate": "the attack<extra></extra>",
        "marker": {
            "symbol": "star",
            "size": 17,
            "color": OKABE_ITO[5],
            "line": {"color": theme.paper, "width": 1.5},
        },
    }


# -- three dimensions ------------------------------------------------------------------------------------------


def volume_figure(
    cells: Sequence[CellView],
    transform: Transform,
    half_widths: NDArray[np.float64],
    mode: Mode,
    theme: Theme,
) -> Figure:
    """3-D: the centres of all cells in the parameter box (or rotation ball), as large as their cells."""
    axes = parameter_axes(transform)
    factor = np.array([a.factor for a in axes])
    known = [view for view in cells if not np.isnan(value_of(view, mode))]
    # The tested point of a cell at the border may lie outside of the region: mark the middle of what lies inside.
    centres = np.array([np.add(view.cell.low, view.cell.high) / 2 * factor for view in known]).reshape(-1, 3)
    widths = np.array([np.subtract(view.cell.high, view.cell.low) for view in known]).reshape(-1, 3)
    size = 40 * (widths / (2 * np.asarray(half_widths))).max(axis=1, initial=0.05)
    scale = scale_of(mode)
    trace: Figure = {
        "type": "scatter3d",
        "mode": "markers",
        **xyz(centres),
        "marker": {
            "size": packed(np.clip(size, 4, 26)),
            "symbol": "square",
            "opacity": 0.75,
            "color": packed([value_of(view, mode) for view in known]),
            "cmin": scale.low,
            "cmax": scale.high,
            "colorscale": scale.colours,
            "colorbar": scale.bar(theme),
            "showscale": True,
        },
        "hovertext": [cell_text(view, axes) for view in known],
        "hoverinfo": "text",
        "customdata": [view.cell.path for view in known],
    }
    layout = base_layout(theme, margin={"l": 0, "r": 0, "t": 0, "b": 0})
    quiet = {
        "showbackground": False,
        "gridcolor": theme.grid,
        "zerolinecolor": theme.grid,
        "tickfont": {"size": 10, "color": theme.muted},
    }
    scene: Figure = {
        "aspectmode": "cube",
        "camera": {**CAMERA, "eye": {"x": 1.35, "y": -1.5, "z": 0.8}},
        "uirevision": "keep",
    }
    for letter, a, half in zip("xyz", axes, half_widths, strict=True):
        edge = 1.05 * a.shown(half)
        title = {"text": a.title, "font": {"size": 11, "color": theme.muted}}
        scene[f"{letter}axis"] = {**quiet, "range": [-edge, edge], "title": title}
    layout["scene"] = scene
    return {"data": [trace], "layout": layout}
