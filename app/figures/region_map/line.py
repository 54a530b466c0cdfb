"""The map of one parameter: p_A along it, the cells as bars up to what they prove."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.figures.arrays import packed
from app.figures.region_map.layers import (
    ATTACK,
    STATE_WORDS,
    WEAKEST,
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
)
from app.figures.theme import STATES, Figure, Theme
from tpc_core.landscape import Landscape

_FILL = {"passed": 0.34, "open": 0.3, "failed": 0.3, "waiting": 0.12}
_SLIVER = 0.025
"""The least height of a bar, as a share of the axis: a cell of which nothing is proved is still seen."""


def line_map(scene: MapScene, theme: Theme, look: MapLook = "colour") -> Figure:
    """p_A over the parameter: dots are sampled, bars are proved bounds, dotted lines what is needed."""
    along = scene.chart.axes[0]
    edge, wide = along.shown(scene.region[0]), along.shown(scene.half[0])
    floor = _floor(scene)
    layout = plane_layout(
        theme,
        {"title": along.title, "range": [-1.02 * wide, 1.02 * wide]},
        {"title": scene.ordinate, "range": [floor, 1.02]},
    )
    shapes: list[Figure] = [_upright(x, theme, "solid") for x in (-edge, edge)] + [_upright(0, theme, "dot")]
    traces: list[Figure] = []
    for state in STATE_WORDS:
        cells = [piece for piece in scene.drawn if piece.state == state]
        if cells:
            traces.append(_bars(cells, state, along.factor, floor, theme, look))
    if scene.drawn and any(piece.needed is not None for piece in scene.drawn):
        traces.append(_needed(scene.drawn, along.factor, theme))
    elif scene.needed > 0.5 and scene.by_votes:
        shapes.append(_level(scene.needed, theme))
    if scene.landscape is not None:
        traces += _sampled(scene, scene.landscape, theme, look)
        shapes += _territories(scene.landscape, along.factor, look)
        for index, colour in rival_colours(scene.landscape, look).items():
            traces.append(legend_box(f"{scene.landscape.name(index)} wins", colour, theme))
    elif any(piece.share is not None for piece in scene.drawn):
        traces.append(_shares(scene.drawn, along.factor, theme))
    if scene.certified > 0:
        shapes.append(_certified(scene.certified * edge, floor, theme))
        traces.append(
            legend_box(f"certified: ± {scene.certified * edge:.4g}{along.unit}", theme.agree, theme)
        )
    level = floor + 0.03 * (1.02 - floor)
    if scene.worst is not None:
        at = along.shown(float(scene.chart.place(scene.worst)[0]))
        traces.append(marker(at, level, "triangle-down", WEAKEST, "weakest cell", theme))
    if scene.attack is not None:
        at = along.shown(float(scene.chart.place(scene.attack)[0]))
        traces.append(marker(at, level, "star", ATTACK, "attack", theme, 17))
    layout["shapes"] = shapes
    return {"data": traces, "layout": layout}


def _floor(scene: MapScene) -> float:
    """Where the axis begins: low enough to show every bar and every dot."""
    values = [value for piece in scene.drawn for value in (piece.bound, piece.needed) if value is not None]
    values.append(scene.needed)
    if scene.landscape is not None and scene.landscape.asked.any():
        values.append(float(np.nanmin(scene.landscape.share)))
    return float(np.clip(min(values) - 0.06, 0.0, 0.9))


def _bars(cells: list[Piece], state: str, factor: float, floor: float, theme: Theme, look: MapLook) -> Figure:
    low = np.array([piece.low[0] for piece in cells]) * factor
    high = np.array([piece.high[0] for piece in cells]) * factor
    names = {"passed": "passed", "open": "testing", "failed": "failed", "waiting": "waiting"}
    style = outline_style(state, theme, look)  # type: ignore[arg-type]
    heights = [_height(piece) - floor for piece in cells]
    return {
        "type": "bar",
        "x": packed((low + high) / 2, "f8"),
        "width": packed(high - low, "f8"),
        "base": floor,
        "y": packed(np.maximum(heights, _SLIVER * (1.02 - floor)), "f8"),
        "name": STATE_WORDS[state],  # type: ignore[index]
        "marker": {
            "color": theme.muted if look == "print" else STATES[names[state]],
            "opacity": _FILL[state],
            "line": {"color": style["color"], "width": min(style["width"], 2)},
        },
        "hovertext": [piece.text for piece in cells],
        "hoverinfo": "text",
        "customdata": [piece.path for piece in cells],
    }


def _height(piece: Piece) -> float:
    """A proof without votes is as high as can be."""
    if piece.bound is None:
        return 1.0 if piece.state == "passed" else 0.0
    return piece.bound


def _needed(cells: list[Piece], factor: float, theme: Theme) -> Figure:
    ordered = sorted(cells, key=lambda piece: piece.low[0])
    x = np.array([[piece.low[0] * factor, piece.high[0] * factor, np.nan] for piece in ordered])
    y = np.repeat([piece.needed if piece.needed is not None else np.nan for piece in ordered], 3)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "needed",
        "hoverinfo": "skip",
        "x": packed(x.ravel(), "f8"),
        "y": packed(np.asarray(y, dtype=np.float64), "f8"),
        "line": {"color": theme.text, "width": 2, "dash": "dot"},
    }


def _shares(cells: Sequence[Piece], factor: float, theme: Theme) -> Figure:
    """Of each cell's votes, those for the class."""
    voted = [(piece, piece.share) for piece in cells if piece.share is not None]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "votes n<sub>A</sub> / n",
        "hoverinfo": "skip",
        "x": packed([(piece.low[0] + piece.high[0]) / 2 * factor for piece, _ in voted], "f8"),
        "y": packed([share for _, share in voted], "f8"),
        "marker": {"color": theme.text, "size": 7, "line": {"color": theme.paper, "width": 1}},
    }


def _sampled(scene: MapScene, landscape: Landscape, theme: Theme, look: MapLook) -> list[Figure]:
    order = np.argsort(landscape.nodes.places[:, 0])
    order = order[landscape.asked[order]]
    x = landscape.nodes.places[order, 0] * scene.chart.axes[0].factor
    texts = node_texts(landscape)
    dots: Figure = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "sampled p<sub>A</sub>" if scene.by_votes else "confidence",
        "x": packed(x, "f8"),
        "y": packed(landscape.share[order], "f8"),
        "line": {"color": theme.muted, "width": 1.5},
        "marker": {
            "size": 7,
            "color": packed(landscape.share[order], "f8"),
            "cmin": 0.5,
            "cmax": 1.0,
            "colorscale": p_scale(scene.needed, theme, look),
            "line": {"color": theme.text, "width": 0.8},
        },
        "text": [texts[i] for i in order],
        "hovertemplate": "%{text}<extra></extra>",
    }
    return [dots]


def _territories(landscape: Landscape, factor: float, look: MapLook) -> list[Figure]:
    """Where another class wins: its colour behind the curve, half a mesh to either side of a node."""
    order = np.argsort(landscape.nodes.places[:, 0])
    order = order[landscape.asked[order]]
    x = landscape.nodes.places[order, 0] * factor
    if not len(x):
        return []
    edges = np.concatenate([[x[0]], (x[:-1] + x[1:]) / 2, [x[-1]]])
    colours = rival_colours(landscape, look)
    return [
        {
            "type": "rect",
            "x0": float(edges[i]),
            "x1": float(edges[i + 1]),
            "yref": "paper",
            "y0": 0,
            "y1": 1,
            "layer": "below",
            "fillcolor": colours[winner],
            "opacity": 0.28,
            "line": {"width": 0},
        }
        for i, winner in enumerate(landscape.winner[order].tolist())
        if winner in colours
    ]


def _upright(x: float, theme: Theme, dash: str) -> Figure:
    return {
        "type": "line",
        "x0": x,
        "x1": x,
        "yref": "paper",
        "y0": 0,
        "y1": 1,
        "layer": "below",
        "line": {"color": theme.muted, "width": 1.2, "dash": dash},
    }


def _level(y: float, theme: Theme) -> Figure:
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": y,
        "y1": y,
        "line": {"color": theme.text, "width": 2, "dash": "dot"},
        "label": {
            "text": f"needed {y:.3g}",
            "textposition": "start",
            "font": {"size": 12, "color": theme.muted},
        },
    }


def _certified(edge: float, floor: float, theme: Theme) -> Figure:
    """A band at the foot of the plot: what is proved lies between its ends."""
    return {
        "type": "rect",
        "x0": -edge,
        "x1": edge,
        "y0": floor,
        "y1": floor + 0.03 * (1.02 - floor),
        "fillcolor": theme.agree,
        "line": {"width": 0},
    }
