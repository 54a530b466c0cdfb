"""The map of three parameters: real boxes for the cells, the nodes as points, a surface where p_A falls short."""

from __future__ import annotations

import numpy as np

from app.figures.arrays import packed, xyz
from app.figures.cloud import CAMERA
from app.figures.region_map.layers import (
    ATTACK,
    STATE_WORDS,
    WEAKEST,
    Array,
    MapLook,
    MapScene,
    Piece,
    Scale,
    legend,
    node_texts,
    outline_style,
    p_scale,
    rival_colours,
    scale_bar,
)
from app.figures.theme import STATES, Figure, Theme, base_layout
from tpc_core.landscape import Landscape

_MOST_BOXES = 700
_CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=np.float64)
_FACES = np.array(
    [
        [0, 1, 3],
        [0, 3, 2],
        [4, 6, 7],
        [4, 7, 5],
        [0, 4, 5],
        [0, 5, 1],
        [2, 3, 7],
        [2, 7, 6],
        [0, 2, 6],
        [0, 6, 4],
        [1, 5, 7],
        [1, 7, 3],
    ]
)
_EDGES = np.array(
    [
        [0, 1],
        [0, 2],
        [0, 4],
        [1, 3],
        [1, 5],
        [2, 3],
        [2, 6],
        [3, 7],
        [4, 5],
        [4, 6],
        [5, 7],
        [6, 7],
    ]
)
_FILL = {"passed": 0.14, "open": 0.22, "failed": 0.3, "waiting": 0.0}


def space_map(
    scene: MapScene,
    theme: Theme,
    look: MapLook = "colour",
    across: int = 2,
    at: float = 0.0,
    *,
    with_slice: bool = True,
) -> Figure:
    """All three parameters; the plane at `at` of one axis is the slice that is shown beside it."""
    axes = scene.chart.axes
    factor = np.array([a.factor for a in axes])
    traces: list[Figure] = [_border(scene, factor, theme)]
    if scene.scale is not None:
        traces += _valued(scene.drawn, factor, scene.scale, theme)
    else:
        traces += _by_state(scene.drawn, factor, theme, look)
    if scene.landscape is not None:
        traces += _sampled(scene, scene.landscape, theme, look, factor)
    if with_slice:
        traces.append(_plane(scene, factor, across, at, theme))
    traces += [
        _dot(z, colour, words, factor)
        for z, colour, words in (
            ((0.0, 0.0, 0.0), theme.text, "the object"),
            (scene.worst, WEAKEST, "weakest cell"),
            (scene.attack, ATTACK, "attack"),
        )
        if z is not None
    ]
    layout = base_layout(theme, margin={"l": 0, "r": 0, "t": 0, "b": 0}, showlegend=scene.scale is None)
    layout["legend"] = legend(theme)
    quiet = {
        "showbackground": False,
        "gridcolor": theme.grid,
        "zerolinecolor": theme.grid,
        "tickfont": {"size": 10, "color": theme.muted},
    }
    view: Figure = {
        "aspectmode": "cube",
        "camera": {**CAMERA, "eye": {"x": 1.35, "y": -1.5, "z": 0.8}},
        "uirevision": "keep",
    }
    for letter, a, half in zip("xyz", axes, scene.half, strict=True):
        edge = 1.05 * a.shown(half)
        title = {"text": a.title, "font": {"size": 11, "color": theme.muted}}
        view[f"{letter}axis"] = {**quiet, "range": [-edge, edge], "title": title}
    layout["scene"] = view
    return {"data": traces, "layout": layout}


def _sampled(
    scene: MapScene, landscape: Landscape, theme: Theme, look: MapLook, factor: Array
) -> list[Figure]:
    asked = np.flatnonzero(landscape.asked)
    texts = node_texts(landscape)
    colours = rival_colours(landscape, look)
    rivals = np.isin(landscape.winner, list(colours)) & landscape.asked
    kept = asked[~rivals[asked]]
    nodes: Figure = {
        "type": "scatter3d",
        "mode": "markers",
        **xyz(landscape.nodes.places[kept] * factor),
        "name": "sampled p<sub>A</sub>" if scene.by_votes else "confidence",
        "text": [texts[i] for i in kept],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {
            "size": 2.6,
            "opacity": 0.85,
            "color": packed(landscape.share[kept]),
            "cmin": 0.5,
            "cmax": 1.0,
            "colorscale": p_scale(scene.needed, theme, look),
            "colorbar": scale_bar(scene, theme),
            "line": {"width": 0},
        },
    }
    traces = [nodes]
    for index, colour in colours.items():
        mine = asked[landscape.winner[asked] == index]
        traces.append(
            {
                "type": "scatter3d",
                "mode": "markers",
                **xyz(landscape.nodes.places[mine] * factor),
                "name": f"{landscape.name(index)} wins",
                "text": [texts[i] for i in mine],
                "hovertemplate": "%{text}<extra></extra>",
                "marker": {"size": 4, "symbol": "diamond", "color": colour, "opacity": 0.9},
            }
        )
    field = landscape.field()
    known = field[np.isfinite(field)]
    if scene.needed > 0.5 and known.size and known.min() < scene.needed < known.max():
        grid = np.stack(np.meshgrid(*landscape.nodes.ticks(landscape.rank), indexing="ij"), axis=-1)
        traces.append(
            {
                "type": "isosurface",
                **xyz((grid * factor).reshape(-1, 3)),
                "value": packed(np.nan_to_num(field, nan=1.0).ravel()),
                "isomin": scene.needed,
                "isomax": scene.needed,
                "surface": {"count": 1},
                "caps": {"x": {"show": False}, "y": {"show": False}, "z": {"show": False}},
                "opacity": 0.35,
                "showscale": False,
                "colorscale": [[0, theme.differ], [1, theme.differ]],
                "hoverinfo": "skip",
                "name": "p<sub>A</sub> = what is needed",
            }
        )
    return traces


def _by_state(cells: list[Piece], factor: Array, theme: Theme, look: MapLook) -> list[Figure]:
    """Boxes in the colour of how they stand."""
    traces = []
    names = {"passed": "passed", "open": "testing", "failed": "failed", "waiting": "waiting"}
    for state, words in STATE_WORDS.items():
        mine = [piece for piece in cells if piece.state == state][:_MOST_BOXES]
        if mine:
            style = outline_style(state, theme, look)
            if _FILL[state]:
                traces.append(_boxes(mine, factor) | {"color": STATES[names[state]], "opacity": _FILL[state]})
            traces.append(_frames(mine, factor, style["color"], words))
    return traces


def _valued(cells: list[Piece], factor: Array, scale: Scale, theme: Theme) -> list[Figure]:
    """Boxes in the colours of their own numbers, with a dot in the middle of each, which can be read and clicked."""
    known = [piece for piece in cells if not np.isnan(piece.value)]
    values = np.array([piece.value for piece in known])
    colours = {"cmin": scale.low, "cmax": scale.end(values.tolist()), "colorscale": scale.colours}
    low, high = _ends(known, factor)
    dots: Figure = {
        "type": "scatter3d",
        "mode": "markers",
        **xyz((low + high) / 2),
        "name": "cells",
        "marker": {
            "size": 5,
            "color": packed(values),
            **colours,
            "colorbar": scale.bar(theme),
            "showscale": True,
        },
        "hovertext": [piece.text for piece in known],
        "hoverinfo": "text",
        "customdata": [piece.path for piece in known],
    }
    drawn = known[:_MOST_BOXES]
    if not drawn:
        return [dots]
    faces = packed(np.repeat(values[: len(drawn)], len(_FACES)))
    filled = {"intensity": faces, "intensitymode": "cell", **colours, "showscale": False, "opacity": 0.2}
    return [dots, _boxes(drawn, factor) | filled, _frames(drawn, factor, theme.muted, "cells")]


def _boxes(cells: list[Piece], factor: Array) -> Figure:
    low, high = _ends(cells, factor)
    corners = (low[:, None] + _CORNERS * (high - low)[:, None]).reshape(-1, 3)
    faces = (_FACES[None] + 8 * np.arange(len(cells))[:, None, None]).reshape(-1, 3)
    i, j, k = faces.T
    return {
        "type": "mesh3d",
        **xyz(corners),
        "i": packed(i, "i4"),
        "j": packed(j, "i4"),
        "k": packed(k, "i4"),
        "flatshading": True,
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _frames(cells: list[Piece], factor: Array, colour: str, words: str) -> Figure:
    low, high = _ends(cells, factor)
    corners = low[:, None] + _CORNERS * (high - low)[:, None]
    gap = np.full((len(cells), len(_EDGES), 1, 3), np.nan)
    lines = np.concatenate([corners[:, _EDGES], gap], axis=2).reshape(-1, 3)
    return {
        "type": "scatter3d",
        "mode": "lines",
        **xyz(lines),
        "name": words,
        "hoverinfo": "skip",
        "line": {"color": colour, "width": 2},
    }


def _ends(cells: list[Piece], factor: Array) -> tuple[Array, Array]:
    low = np.array([piece.low for piece in cells]).reshape(-1, 3) * factor
    return low, np.array([piece.high for piece in cells]).reshape(-1, 3) * factor


def _border(scene: MapScene, factor: Array, theme: Theme) -> Figure:
    """The region of the question: a ball by its circles, a box by its edges."""
    half = scene.region * factor
    if scene.chart.is_round:
        turn = np.linspace(0, 2 * np.pi, 49)
        rings = []
        for height in (-0.75, -0.4, 0.0, 0.4, 0.75):
            wide = np.sqrt(1 - height**2)
            flat = np.full_like(turn, height)
            rings.append(np.stack([wide * np.cos(turn), wide * np.sin(turn), flat], axis=1))
        for angle in np.arange(4) * np.pi / 4:
            rings.append(
                np.stack([np.cos(turn) * np.cos(angle), np.cos(turn) * np.sin(angle), np.sin(turn)], axis=1)
            )
        lines = np.concatenate([np.vstack([ring, [[np.nan] * 3]]) for ring in rings]) * half
    else:
        corners = (2 * _CORNERS - 1) * half
        lines = np.concatenate([corners[_EDGES], np.full((len(_EDGES), 1, 3), np.nan)], axis=1).reshape(-1, 3)
    return {
        "type": "scatter3d",
        "mode": "lines",
        **xyz(lines),
        "hoverinfo": "skip",
        "showlegend": False,
        "line": {"color": theme.muted, "width": 2},
    }


def _plane(scene: MapScene, factor: Array, across: int, at: float, theme: Theme) -> Figure:
    """The slice, as a sheet of glass."""
    first, second = (side for side in range(3) if side != across)
    corners = np.zeros((4, 3))
    corners[:, across] = at
    corners[:, first] = np.array([-1, 1, 1, -1]) * scene.half[first]
    corners[:, second] = np.array([-1, -1, 1, 1]) * scene.half[second]
    return {
        "type": "mesh3d",
        **xyz(corners * factor),
        "i": [0, 0],
        "j": [1, 2],
        "k": [2, 3],
        "color": theme.accent,
        "opacity": 0.16,
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _dot(z: tuple[float, ...], colour: str, words: str, factor: Array) -> Figure:
    return {
        "type": "scatter3d",
        "mode": "markers",
        **xyz(np.array([z]) * factor),
        "name": words,
        "hovertemplate": f"{words}<extra></extra>",
        "marker": {"size": 6, "symbol": "diamond", "color": colour},
    }
