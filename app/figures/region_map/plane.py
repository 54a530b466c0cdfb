"""The map of two parameters, or a slice of three: sampled p_A as colour, the cells as outlines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.figures.arrays import packed
from app.figures.region_map.cell_sheet import box_lines, cell_sheet
from app.figures.region_map.layers import (
    ATTACK,
    STATE_WORDS,
    WEAKEST,
    Array,
    MapLook,
    MapScene,
    Piece,
    legend_box,
    marker,
    node_texts,
    outline_style,
    p_scale,
    plane_layout,
    rival_colours,
    scale_bar,
)
from app.figures.theme import Figure, Theme
from tpc_core.landscape import Landscape

_MOST_OUTLINES = 6000


def plane_map(
    scene: MapScene,
    theme: Theme,
    look: MapLook = "colour",
    sides: tuple[int, int] = (0, 1),
    at: float = 0.0,
) -> Figure:
    """p_A over two axes of the map; of three, the third is held at `at` (internal units)."""
    axes = scene.chart.axes
    factor = np.array([axes[side].factor for side in sides])
    across = next((side for side in range(len(axes)) if side not in sides), None)
    traces: list[Figure] = []
    if scene.landscape is not None:
        traces += _sampled(scene, scene.landscape, theme, look, sides, across, at)
    cells = [
        piece for piece in scene.drawn if across is None or piece.low[across] <= at <= piece.high[across]
    ]
    if scene.scale is not None:
        traces += cell_sheet(cells, *_corners(cells, sides, factor), scene.scale, theme)
    else:
        traces += _outlined(cells, sides, factor, theme, look)
    if scene.landscape is not None:
        for index, colour in rival_colours(scene.landscape, look).items():
            traces.append(legend_box(f"{scene.landscape.name(index)} wins", colour, theme))
    traces.append(marker(0.0, 0.0, "cross-thin-open", theme.text, "the object", theme, 11))
    traces += _marked(scene, sides, factor, theme)
    wide = scene.half[list(sides)] * factor
    first, second = (
        {"title": axes[side].title, "range": [-1.02 * edge, 1.02 * edge], "showgrid": False}
        for side, edge in zip(sides, wide.tolist(), strict=True)
    )
    layout = plane_layout(theme, first, second, with_legend=scene.scale is None)
    if scene.chart.is_round:
        layout["xaxis"] |= {"constrain": "domain"}
        layout["yaxis"] |= {"constrain": "domain", "scaleanchor": "x"}  # a ball is round
    layout["shapes"] = _regions(scene, sides, factor, across, at, theme)
    return {"data": traces, "layout": layout}


def _sampled(
    scene: MapScene,
    landscape: Landscape,
    theme: Theme,
    look: MapLook,
    sides: tuple[int, int],
    across: int | None,
    at: float,
) -> list[Figure]:
    ticks = landscape.nodes.ticks(landscape.rank)
    x, y = (ticks[side] * scene.chart.axes[side].factor for side in sides)

    def sheet(values: Array) -> Array:
        """Values on the plane that is drawn, rows along y."""
        cut = values
        if across is not None:
            cut = np.take(values, int(np.argmin(np.abs(ticks[across] - at))), axis=across)
        return np.asarray(cut.T if sides[0] < sides[1] else cut)

    field = sheet(landscape.field())
    texts = np.array([*node_texts(landscape), ""], dtype=object)
    numbers = landscape.nodes.spread(
        np.arange(len(landscape.share), dtype=np.float64), landscape.asked, landscape.rank
    )
    whole = np.where(np.isnan(numbers) | (numbers % 1 != 0), -1, numbers).astype(int)
    asked = sheet(whole.astype(np.float64)).astype(int)
    heat: Figure = {
        "type": "heatmap",
        "x": packed(x, "f8"),
        "y": packed(y, "f8"),
        "z": packed(field, "f8"),
        "zmin": 0.5,
        "zmax": 1.0,
        "zsmooth": False,
        "colorscale": p_scale(scene.needed, theme, look),
        "colorbar": scale_bar(scene, theme),
        "text": texts[asked].tolist(),
        "hovertemplate": "%{text}<extra></extra>",
        "hoverongaps": False,
        "showlegend": False,
    }
    traces = [heat, *_territories(landscape, sheet, x, y, look)]
    if scene.needed > 0.5 and np.isfinite(field).any():
        traces.append(_contour(x, y, field, scene.needed, theme))
    return traces


def _territories(landscape: Landscape, sheet: object, x: Array, y: Array, look: MapLook) -> list[Figure]:
    """Where another class wins: a colour of its own over the map."""
    colours = rival_colours(landscape, look)
    assert callable(sheet)
    if not colours:
        return []
    wins = np.full(len(landscape.share), np.nan)
    places = {index: place for place, index in enumerate(colours)}
    for index, place in places.items():
        wins[landscape.winner == index] = place
    shown = landscape.nodes.spread(np.nan_to_num(wins, nan=-1.0), landscape.asked, landscape.rank)
    won = np.where(np.isnan(shown) | (shown < 0) | (shown % 1 != 0), np.nan, shown)
    steps = len(colours)
    scale = [
        [edge, colour]
        for place, colour in enumerate(colours.values())
        for edge in (place / steps, (place + 1) / steps)
    ]
    return [
        {
            "type": "heatmap",
            "x": packed(x, "f8"),
            "y": packed(y, "f8"),
            "z": packed(sheet(won), "f8"),
            "zmin": -0.5,
            "zmax": steps - 0.5,
            "colorscale": scale,
            "showscale": False,
            "opacity": 0.8,
            "hoverinfo": "skip",
            "showlegend": False,
        }
    ]


def _contour(x: Array, y: Array, field: Array, needed: float, theme: Theme) -> Figure:
    return {
        "type": "contour",
        "x": packed(x, "f8"),
        "y": packed(y, "f8"),
        "z": packed(field, "f8"),
        "contours": {"start": needed, "end": needed, "size": 1, "coloring": "none"},
        "line": {"color": theme.text, "width": 1.6, "dash": "dot", "smoothing": 0.6},
        "showscale": False,
        "hoverinfo": "skip",
        "name": f"needed: {needed:.3g}",
        "showlegend": True,
    }


def _outlined(
    cells: list[Piece], sides: tuple[int, int], factor: Array, theme: Theme, look: MapLook
) -> list[Figure]:
    """Cells as outlines, one trace for each state; hovering over their middles says more."""
    traces = []
    for state, words in STATE_WORDS.items():
        mine = [piece for piece in cells if piece.state == state][:_MOST_OUTLINES]
        if mine:
            style = {"name": words, "line": outline_style(state, theme, look)}
            traces.append(box_lines(*_corners(mine, sides, factor)) | style)
    if cells:
        traces.append(_hover(cells, sides, factor))
    return traces


def _corners(cells: list[Piece], sides: tuple[int, int], factor: Array) -> tuple[Array, Array]:
    low = np.array([[piece.low[side] for side in sides] for piece in cells]).reshape(-1, 2) * factor
    high = np.array([[piece.high[side] for side in sides] for piece in cells]).reshape(-1, 2) * factor
    return low, high


def _hover(cells: list[Piece], sides: tuple[int, int], factor: Array) -> Figure:
    """What each cell says, at its middle."""
    low, high = _corners(cells, sides, factor)
    middle: NDArray[np.float64] = (low + high) / 2
    return {
        "type": "scatter",
        "mode": "markers",
        "x": packed(middle[:, 0], "f8"),
        "y": packed(middle[:, 1], "f8"),
        "marker": {"size": 14, "opacity": 0},
        "text": [piece.text for piece in cells],
        "hovertemplate": "%{text}<extra></extra>",
        "showlegend": False,
    }


def _marked(scene: MapScene, sides: tuple[int, int], factor: Array, theme: Theme) -> list[Figure]:
    traces = []
    if scene.worst is not None:
        x, y = scene.chart.place(scene.worst)[list(sides)] * factor
        traces.append(marker(float(x), float(y), "triangle-down", WEAKEST, "weakest cell", theme))
    if scene.attack is not None:
        x, y = scene.chart.place(scene.attack)[list(sides)] * factor
        traces.append(marker(float(x), float(y), "star", ATTACK, "attack", theme, 17))
    return traces


def _regions(
    scene: MapScene, sides: tuple[int, int], factor: Array, across: int | None, at: float, theme: Theme
) -> list[Figure]:
    """The region of the question, thin; what is certified of it, heavy."""
    kind = "circle" if scene.chart.is_round else "rect"

    def outline(part: float) -> Figure | None:
        half = scene.region[list(sides)] * part
        if across is not None:
            away = abs(at) / max(scene.region[across] * part, 1e-300)
            if away > 1:
                return None
            if scene.chart.is_round:
                half = half * np.sqrt(1 - away**2)
        x, y = half * factor
        return {"type": kind, "x0": -x, "x1": x, "y0": -y, "y1": y, "layer": "above"}

    shapes = []
    asked = outline(1.0)
    if asked is not None:
        shapes.append(asked | {"line": {"color": theme.text, "width": 1.4, "dash": "dash"}})
    proved = outline(scene.certified) if scene.certified > 0 else None
    if proved is not None:
        shapes.append(proved | {"line": {"color": theme.paper, "width": 5}})
        shapes.append(proved | {"line": {"color": theme.agree, "width": 3}})
    return shapes
