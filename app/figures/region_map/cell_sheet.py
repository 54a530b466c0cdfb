"""Cells of any size as a heatmap, each in the colour of its own number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.figures.arrays import packed
from app.figures.region_map.layers import Array, Piece, Scale
from app.figures.theme import WRONG, Figure, Theme


@dataclass(frozen=True)
class Raster:
    """Boxes laid out on the grid of all their edges: exact, whatever the sizes of the cells."""

    x: Array
    y: Array
    index: NDArray[np.int64]
    """(rows, columns): the number of the cell at each place, -1 where there is none."""


def rasterise(low: Array, high: Array) -> Raster:
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


def _edges(values: Array) -> Array:
    ordered = np.unique(values)
    span = ordered[-1] - ordered[0]
    keep = np.concatenate([[True], np.diff(ordered) > 1e-9 * max(span, 1e-300)])
    return np.asarray(ordered[keep])


def _places(edges: Array, low: float, high: float) -> tuple[int, int]:
    return int(np.argmin(np.abs(edges - low))), int(np.argmin(np.abs(edges - high)))


def cell_sheet(cells: Sequence[Piece], low: Array, high: Array, scale: Scale, theme: Theme) -> list[Figure]:
    """The colours, the borders where splits show, and a heavy line around all that falls short of what it needs."""
    raster = rasterise(low, high)
    values = np.array([cell.value for cell in cells] + [np.nan])
    texts = np.array([cell.text for cell in cells] + [""], dtype=object)
    paths = np.array([cell.path for cell in cells] + [""], dtype=object)
    heat: Figure = {
        "type": "heatmap",
        "x": packed(raster.x, "f8"),
        "y": packed(raster.y, "f8"),
        "z": packed(values[raster.index], "f8") if raster.index.size else [],
        "zmin": scale.low,
        "zmax": scale.end([cell.value for cell in cells]),
        "colorscale": scale.colours,
        "colorbar": scale.bar(theme),
        "text": texts[raster.index].tolist(),
        "customdata": paths[raster.index].tolist(),
        "hovertemplate": "%{text}<extra></extra>",
        "hoverongaps": False,
        "showlegend": False,
    }
    borders = {"line": {"color": theme.paper, "width": 1}, "opacity": 0.8, "showlegend": False}
    traces = [heat, box_lines(low, high) | borders]
    if scale.of_bounds:
        short = np.array([cell.is_short for cell in cells] + [False])
        traces.append(_threshold(raster, short[raster.index]))
    return traces


def box_lines(low: Array, high: Array) -> Figure:
    """The borders of boxes [low, high], each (M, 2), as one line with gaps."""
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


def _threshold(raster: Raster, short: NDArray[np.bool_]) -> Figure:
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
        "line": {"color": WRONG, "width": 3},
        "hoverinfo": "skip",
        "showlegend": False,
    }
