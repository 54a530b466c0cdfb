"""The map of a question: valid Plotly in one to three parameters; what is proved and what is sampled are apart."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from app.figures.arrays import unpacked
from app.figures.region_map import LOOKS, MapScene, Piece, p_scale, plane_map, region_map, rival_colours
from app.figures.theme import DARK, LIGHT, Theme
from tpc_core import parse_transform
from tpc_core.landscape import Chart, Landscape, Nodes

NAMES = [
    "z-twist",
    "z-shear",
    "z-taper+z-rotation",
    "z-twist+z-taper+z-rotation",
    "general-rotation",
    "linear",
    "l2",
]


def landscape(name: str, low: float = 0.2) -> Landscape:
    """p_A falls from one at the object to `low` at the border; beyond a radius a rival wins."""
    chart = Chart.of(parse_transform(name), 16)
    nodes = Nodes(np.full(len(chart.axes), 0.6), chart.is_round)
    away = np.linalg.norm(nodes.places, axis=1) / 0.6
    share = np.clip(1 - (1 - low) * away, 0, 1)
    n = np.full(len(share), 64)
    winner = np.where(share < 0.5, 1, 0)
    return Landscape(
        chart, nodes, ("chair", "sofa"), "chair", share, n, (share * n).astype(int), winner, 0, 0.01, 0.8
    )


def scene(name: str, **more: Any) -> MapScene:
    seen = landscape(name)
    dim = len(seen.chart.axes)
    cells = [
        Piece((-0.4,) * dim, (0.0,) * dim, "passed", "left", 0.9, 0.7, 1.0),
        Piece((0.0,) * dim, (0.4,) * dim, "failed", "right", 0.4, 0.7, 0.5),
        Piece((0.1,) * dim, (0.2,) * dim, "waiting", "later"),
    ]
    z = tuple(float(v) for v in seen.chart.z(np.full((1, dim), 0.3))[0])
    return replace(
        MapScene(seen.chart, seen.nodes.half, np.full(dim, 0.4), seen, cells, 0.5, z, z, 0.8), **more
    )


def valid(figure: dict[str, Any]) -> go.Figure:
    """The figure as JSON sends it, checked by Plotly's own schema."""
    return go.Figure(json.loads(json.dumps(figure)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("look", LOOKS)
def test_every_map_is_a_figure(name: str, theme: Theme, look: Any) -> None:
    valid(region_map(scene(name), theme, look))
    valid(
        region_map(
            scene(name, landscape=None, pieces=(), certified=0.0, attack=None, worst=None), theme, look
        )
    )


def named(figure: dict[str, Any], word: str) -> list[dict[str, Any]]:
    return [trace for trace in figure["data"] if word in str(trace.get("name", ""))]


@pytest.mark.parametrize("name", NAMES[:5])
def test_what_is_proved_is_told_apart_from_what_is_sampled(name: str) -> None:
    figure = region_map(scene(name), LIGHT)
    assert named(figure, "cell proved")
    assert named(figure, "cell not proved")
    assert named(figure, "sofa wins")
    assert named(figure, "attack")
    assert named(figure, "weakest cell")


def test_the_axis_of_a_curve_begins_below_every_bar() -> None:
    figure = region_map(scene("z-twist"), LIGHT)
    lowest = figure["layout"]["yaxis"]["range"][0]
    assert lowest < 0.2
    assert all(unpacked(trace["y"]).min() > 0 for trace in figure["data"] if trace["type"] == "bar")
    surer = scene(
        "z-twist", landscape=None, pieces=(Piece((0.0,), (0.1,), "passed", "", 0.97, 0.95, 1.0),), needed=0.95
    )
    assert 0.8 < region_map(surer, LIGHT)["layout"]["yaxis"]["range"][0] < 0.95


def test_a_slice_shows_the_cells_that_it_meets() -> None:
    above = plane_map(scene("z-twist+z-taper+z-rotation"), LIGHT, sides=(0, 1), at=0.3)
    below = plane_map(scene("z-twist+z-taper+z-rotation"), LIGHT, sides=(0, 1), at=-0.3)
    assert named(above, "cell not proved")
    assert not named(above, "cell proved")
    assert named(below, "cell proved")
    assert not named(below, "cell not proved")


def test_a_ball_has_a_round_outline_and_a_smaller_one_off_its_middle() -> None:
    middle = plane_map(scene("general-rotation"), LIGHT, sides=(0, 1), at=0.0)["layout"]["shapes"]
    off = plane_map(scene("general-rotation"), LIGHT, sides=(0, 1), at=0.3)["layout"]["shapes"]
    assert {shape["type"] for shape in middle} == {"circle"}
    assert off[0]["x1"] < middle[0]["x1"]


@pytest.mark.parametrize("needed", [0.5, 0.6, 0.8, 0.999])
def test_the_colours_turn_at_what_is_needed(needed: float) -> None:
    scale = p_scale(needed, LIGHT, "colour")
    places = [place for place, _ in scale]
    assert places == sorted(places)
    assert places[0] == 0
    assert places[-1] == 1
    if needed > 0.51:
        assert places[1] == places[2] == pytest.approx(min((needed - 0.5) / 0.5, 0.97))


def test_rivals_have_colours_of_their_own() -> None:
    colours = rival_colours(landscape("z-twist"))
    assert list(colours) == [1]
    assert not {LIGHT.agree, LIGHT.differ} & set(colours.values())
