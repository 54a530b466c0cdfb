"""Figures are valid Plotly, hold the numbers that they were given, and never change their ranges on the way."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from app.figures.arrays import packed, unpacked
from app.figures.axes import parameter_axes
from app.figures.cloud import LIMIT, CloudView, MeshView, certified_parts_figure, cloud_figure
from app.figures.points import bounds_figure
from app.figures.region_map import MapScene, line_map, plane_map, space_map
from app.figures.region_map.cell_colours import MODES, Mode, cell_text, piece_of, scale_of
from app.figures.region_map.cell_sheet import rasterise
from app.figures.single import convergence_figure, group_figure
from app.figures.theme import DARK, KINDS, LIGHT, OPEN, RIGHT, UNKNOWN, WRONG, theme_of
from app.figures.votes import MOST_POINTS, strip, tally
from app.server.jobs import CellView, Count
from tpc_core import parse_transform
from tpc_core.covers import Cell
from tpc_core.landscape import Chart
from tpc_core.statistics import lower_confidence_bound

LEVEL = 0.01


def valid(figure: dict[str, Any]) -> go.Figure:
    """The figure as JSON sends it, checked by Plotly's own schema."""
    return go.Figure(json.loads(json.dumps(figure)))


def cell(low: tuple[float, ...], high: tuple[float, ...], path: str = "0", reach: float = 1.0) -> Cell:
    centre = tuple((a + b) / 2 for a, b in zip(low, high, strict=True))
    return Cell(path, low, high, centre, reach)


def quarters() -> list[CellView]:
    """Three cells of different sizes that tile [-1, 1]^2, and what is known of them."""
    return [
        CellView(cell((-1, -1), (0, 1), "0"), "passed", 256, 256, LEVEL),
        CellView(cell((0, -1), (1, 0), "10"), "failed", 64, 20, LEVEL),
        CellView(cell((0, 0), (1, 1), "11"), "waiting"),
    ]


def scene(name: str, cells: Sequence[CellView], mode: Mode | None = "bound", half: float = 1.0) -> MapScene:
    """Cells as a map, in the colours of a mode."""
    transform = parse_transform(name)
    chart = Chart(transform, parameter_axes(transform))
    ends = np.full(len(chart.axes), half)
    pieces = [piece_of(view, chart.axes, mode) for view in cells]
    return MapScene(chart, ends, ends, pieces=pieces, scale=None if mode is None else scale_of(mode))


@pytest.fixture
def view() -> CloudView:
    points = np.random.default_rng(0).uniform(-0.5, 0.5, (40, 3))
    moved = points + np.array([0.1, 0, 0])
    return CloudView(points, moved, np.arange(40) % 3, {0: "seat", 1: "leg", 2: "back"}, np.arange(40.0))


class TestArrays:
    @pytest.mark.parametrize("shape", [(5,), (2, 3), (0,)])
    def test_what_is_packed_is_read_back(self, shape: tuple[int, ...]) -> None:
        values = np.random.default_rng(0).normal(size=shape)
        np.testing.assert_allclose(unpacked(packed(values, "f8")), values)

    def test_1024_points_take_less_than_20_kilobytes(self) -> None:
        points = np.random.default_rng(0).normal(size=(1024, 3))
        assert len(json.dumps([packed(points[:, i]) for i in range(3)])) < 20_000


class TestCloud:
    @pytest.mark.parametrize("colouring", ["displacement", "height", "parts", "critical"])
    @pytest.mark.parametrize("theme", [LIGHT, DARK])
    @pytest.mark.parametrize("side_by_side", [False, True])
    def test_every_colouring_is_a_valid_figure(self, view, colouring, theme, side_by_side) -> None:
        figure = cloud_figure(view, theme, colouring=colouring, side_by_side=side_by_side)
        valid(figure)
        assert ("scene2" in figure["layout"]) == side_by_side

    def test_the_axes_do_not_jump_while_the_cloud_stays_in_the_cube(self, view) -> None:
        still = cloud_figure(view, LIGHT)["layout"]["scene"]["xaxis"]["range"]
        pushed = CloudView(view.original, view.original + np.array([0.5, 0, 0]))
        assert cloud_figure(pushed, LIGHT)["layout"]["scene"]["xaxis"]["range"] == still == [-LIMIT, LIMIT]

    def test_a_cloud_that_leaves_the_cube_is_still_in_the_picture(self, view) -> None:
        far = CloudView(view.original, view.original * 10)
        assert (
            cloud_figure(far, LIGHT)["layout"]["scene"]["xaxis"]["range"][1]
            >= 10 * np.abs(view.original).max()
        )

    def test_displacement_is_the_distance_that_each_point_moved(self, view) -> None:
        body = cloud_figure(view, LIGHT, colouring="displacement")["data"][-1]
        np.testing.assert_allclose(unpacked(body["marker"]["color"]), 0.1, rtol=1e-5)

    def test_the_ghost_is_the_original(self, view) -> None:
        ghost = cloud_figure(view, LIGHT)["data"][0]
        np.testing.assert_allclose(unpacked(ghost["x"]), view.original[:, 0], rtol=1e-6)
        assert len(cloud_figure(view, LIGHT, ghost=False)["data"]) == 1

    def test_parts_are_named(self, view) -> None:
        assert [t["name"] for t in cloud_figure(view, LIGHT, colouring="parts", ghost=False)["data"]] == [
            "seat",
            "leg",
            "back",
        ]

    def test_only_points_that_decide_something_are_critical(self, view) -> None:
        rest, loud = cloud_figure(view, LIGHT, colouring="critical", ghost=False)["data"]
        assert len(unpacked(rest["x"])) == 1
        assert len(unpacked(loud["x"])) == 39

    def test_points_lie_on_a_faint_mesh(self, view) -> None:
        corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]])
        mesh = MeshView(corners, np.array([[0, 1, 2]]))
        meshed = CloudView(view.original, view.moved, mesh=mesh, original_mesh=mesh)
        figure = cloud_figure(meshed, LIGHT, colouring="displacement")
        valid(figure)
        ghost, surface, points = figure["data"]
        assert [ghost["type"], surface["type"], points["type"]] == ["mesh3d", "mesh3d", "scatter3d"]
        assert ghost["opacity"] < surface["opacity"] < 0.5
        assert len(unpacked(points["x"])) == 40

    def test_points_without_a_certificate_stand_out_from_every_part(self) -> None:
        points = np.zeros((4, 3))
        figure = certified_parts_figure(
            points, np.array([0, 0, 1, 1]), np.array([True, False, True, True]), {0: "wing"}, LIGHT
        )
        valid(figure)
        assert [len(unpacked(trace["x"])) for trace in figure["data"]] == [1, 2, 1]
        assert figure["data"][-1]["marker"]["symbol"] == "circle-open"

    def test_every_point_is_drawn_at_its_bound_in_the_colour_of_its_part(self) -> None:
        bounds, parts = np.array([0.6, 0.99, 0.4]), np.array([3, 3, 5])
        figure = bounds_figure(bounds, parts, bounds > 0.5, 0.5, {3: "wing"}, DARK)
        valid(figure)
        wing, empty, others = figure["data"]
        assert (wing["name"], unpacked(wing["x"]).tolist()) == ("wing", [2, 1])
        assert len(unpacked(empty["x"])) == 0
        assert unpacked(others["y"]).tolist() == [0.4]

    def test_many_small_points_are_drawn_cheaply(self) -> None:
        def symbol(count: int, size: float) -> str:
            points = np.zeros((count, 3))
            return cloud_figure(CloudView(points, points), LIGHT, size=size)["data"][-1]["marker"]["symbol"]

        assert symbol(1024, 2.5) == symbol(256, 2.5) == "square"
        assert symbol(64, 2.5) == symbol(1024, 8.0) == "circle"


class TestVotes:
    def test_the_true_class_is_shown_even_where_nothing_votes_for_it(self) -> None:
        classes = [f"c{i}" for i in range(10)]
        votes = np.array([0, 9, 8, 7, 6, 5, 4, 0, 0, 0])
        rows = tally(np.full(10, 0.1), votes, classes, "c9")["rows"]
        assert [row["name"] for row in rows if row["truth"]] == ["c9"]

    def test_bars_are_shares_and_answers_are_marked(self) -> None:
        counted = tally(np.array([0.4, 0.6]), np.array([48, 16]), ["night_stand", "table"], "table")
        assert [row["smoothed"] for row in counted["rows"]] == [0.75, 0.25]
        assert counted["smoothed"] == {
            "who": "Smoothed says",
            "says": "night stand",
            "mark": "✗",
            "rest": "48 of 64 votes",
            "meaning": "wrong",
        }
        assert [row["meaning"] for row in counted["rows"]] == ["wrong", "right"]
        assert counted["base"]["mark"] == "✓"
        assert tally(np.ones(1), np.ones(1, dtype=int), ["a"], None)["base"]["mark"] == ""

    def test_a_class_of_another_data_set_is_known_by_its_word(self) -> None:
        def mark(truth: str) -> str:
            return tally(np.array([0.9, 0.1]), np.array([9, 1]), ["airplane", "car"], truth)["base"]["mark"]

        assert mark("Airplane") == "✓"
        assert mark("Car") == "✗"
        assert mark("Motorbike") == ""  # the model cannot be right

    def test_a_strip_has_two_coordinates_for_each_point_of_each_draw(self) -> None:
        row = strip(np.zeros((3, MOST_POINTS + 8, 3)), [0, 1, 0], ["chair", "night_stand"], "chair")
        assert len(unpacked(row["points"])) == 3 * MOST_POINTS * 2
        assert [(draw["name"], draw["meaning"]) for draw in row["draws"]] == [
            ("chair", "right"),
            ("night stand", "wrong"),
            ("chair", "right"),
        ]

    def test_a_colour_has_one_meaning(self) -> None:
        classes = ["a", "b", "c"]
        base, votes = np.array([0.1, 0.8, 0.1]), np.array([9, 1, 0])
        known = tally(base, votes, classes, "c")
        assert {row["name"]: row["meaning"] for row in known["rows"]} == {
            "a": "wrong",
            "b": "wrong",
            "c": "right",
        }
        unknown = tally(base, votes, classes, None)
        meant = {row["name"]: row["meaning"] for row in unknown["rows"]}
        assert meant == {"a": "unknown", "b": "unknown", "c": "other"}
        assert strip(np.zeros((1, 4, 3)), [0], classes, None)["draws"][0]["meaning"] == "unknown"

    def test_the_surface_lies_behind_the_draws_and_its_faces_are_sent_once(self) -> None:
        mesh = MeshView(np.eye(3), np.array([[0, 1, 2]]))
        first = strip(np.zeros((1, 4, 3)), [0], ["chair"], "chair", mesh)
        assert unpacked(first["faces"]).tolist() == [0, 1, 2]
        assert len(unpacked(first["surface"])) == 3 * 2
        assert "faces" not in strip(np.zeros((1, 4, 3)), [0], ["chair"], "chair", mesh, with_faces=False)


class TestCells:
    def test_boxes_of_any_size_land_where_they_belong(self) -> None:
        cells = quarters()
        raster = rasterise(np.array([v.cell.low for v in cells]), np.array([v.cell.high for v in cells]))
        assert raster.index.tolist() == [[0, 1], [0, 2]]

    def test_no_cells_make_an_empty_map(self) -> None:
        valid(plane_map(scene("z-taper+z-rotation", []), LIGHT))
        valid(line_map(scene("z-taper", [], None), LIGHT))

    @pytest.mark.parametrize("mode", MODES)
    def test_the_colour_range_of_a_mode_is_fixed(self, mode) -> None:
        few = plane_map(scene("z-taper+z-rotation", quarters()[:1], mode), LIGHT)["data"][0]
        all_of_them = plane_map(scene("z-taper+z-rotation", quarters(), mode), LIGHT)
        valid(all_of_them)
        assert (few["zmin"], few["zmax"]) == (all_of_them["data"][0]["zmin"], all_of_them["data"][0]["zmax"])
        assert few["zmin"] < few["zmax"]

    def test_a_cell_without_votes_has_no_colour(self) -> None:
        heat = plane_map(scene("z-taper+z-rotation", quarters()), LIGHT)["data"][0]
        values = unpacked(heat["z"])
        assert np.isnan(values[1, 1])
        assert values[0, 0] == pytest.approx(lower_confidence_bound(256, 256, LEVEL))

    def test_hovering_says_votes_bound_and_what_is_needed(self) -> None:
        text = cell_text(quarters()[0], parameter_axes(parse_transform("z-taper+z-rotation")))
        assert "256 / 256" in text
        assert f"{lower_confidence_bound(256, 256, LEVEL):.4f}" in text
        assert f"needed {quarters()[0].cell.needed:.4f}" in text
        assert "°" in text

    def test_a_cell_that_passed_is_never_drawn_as_short_of_what_it_needed(self) -> None:
        """It may have passed at an earlier reading, and the votes since may have been worse."""
        narrow = CellView(cell((-1, -1), (0, 1), "0", reach=1.0), "passed", 64, 50, LEVEL)
        assert narrow.margin == 0
        assert replace(narrow, state="failed").margin < 0

    def test_the_threshold_is_a_line_around_all_that_falls_short(self) -> None:
        passed, failed, waiting = quarters()
        alone = plane_map(scene("z-taper+z-rotation", quarters(), "margin"), LIGHT)["data"][2]
        assert len(unpacked(alone["x"])) == 4 * 3
        assert np.nanmin(unpacked(alone["x"])) == 0
        also = CellView(waiting.cell, "failed", 64, 10, LEVEL)
        both = plane_map(scene("z-taper+z-rotation", [passed, failed, also], "margin"), LIGHT)["data"][2]
        assert len(unpacked(both["x"])) == 6 * 3  # the edge between the two is not part of it

    def test_a_curve_has_one_bar_for_each_cell_and_the_threshold_above_it(self) -> None:
        cells = [
            CellView(cell((0.0,), (0.5,), "1"), "passed", 64, 64, LEVEL),
            CellView(cell((-0.5,), (0.0,), "0"), "testing", 64, 50, LEVEL),
        ]
        figure = line_map(scene("z-twist", cells, None, 0.5), LIGHT)
        valid(figure)
        bars = [trace for trace in figure["data"] if trace["type"] == "bar"]
        assert [bar["customdata"] for bar in bars] == [["1"], ["0"]]
        np.testing.assert_allclose([unpacked(bar["width"])[0] for bar in bars], np.degrees(0.5))
        needed, dots = (trace for trace in figure["data"] if trace["type"] == "scatter")
        assert unpacked(needed["y"])[0] == pytest.approx(cells[0].cell.needed)
        np.testing.assert_allclose(unpacked(dots["y"]), [1.0, 50 / 64])

    def test_a_slice_shows_the_cells_that_it_meets(self) -> None:
        below, above = cell((-1, -1, -1), (1, 1, 0), "0"), cell((-1, -1, 0), (1, 1, 1), "1")
        cells = [CellView(below, "passed", 64, 64, LEVEL), CellView(above, "failed", 64, 0, LEVEL)]
        seen = scene("z-twist+z-taper+z-rotation", cells)
        assert plane_map(seen, LIGHT, at=-0.5)["data"][0]["customdata"] == [["0"]]
        assert plane_map(seen, LIGHT, at=0.5)["data"][0]["customdata"] == [["1"]]

    @pytest.mark.parametrize("name", ["z-twist+z-taper+z-rotation", "general-rotation", "zyx-rotation"])
    @pytest.mark.parametrize("mode", MODES)
    def test_three_parameters_are_boxes_in_their_own_colours(self, name, mode) -> None:
        cells = [
            CellView(cell((-1, -1, -1), (1, 1, 0), "0"), "passed", 64, 64, LEVEL),
            CellView(cell((-1, -1, 0), (1, 1, 1), "1"), "failed", 32, 9, LEVEL),
        ]
        seen = scene(name, cells, mode)
        figure = space_map(seen, DARK)
        valid(figure)
        (boxes,) = [trace for trace in figure["data"] if trace.get("intensitymode") == "cell"]
        colours = unpacked(boxes["intensity"])
        assert len(unpacked(boxes["i"])) == len(colours) == 24  # twelve triangles each
        assert [colours[0], colours[12]] == pytest.approx([piece.value for piece in seen.pieces])
        (dots,) = [trace for trace in figure["data"] if trace.get("customdata")]
        assert dots["customdata"] == ["0", "1"]
        valid(plane_map(seen, DARK, sides=(0, 2), at=0.1))

    def test_angles_are_shown_in_degrees(self) -> None:
        twist, taper, rotation = parameter_axes(parse_transform("z-twist+z-taper+z-rotation"))
        assert twist.shown(np.pi) == pytest.approx(180)
        assert taper.shown(0.3) == 0.3
        assert rotation.title == "rotation (°)"

    def test_a_scale_of_states_has_one_colour_for_each(self) -> None:
        scale = scale_of("state")
        assert [name for _, name in scale.ticks] == ["no votes", "in two halves", "open", "failed", "passed"]


class TestSingle:
    def test_the_bound_is_drawn_beside_what_is_needed(self) -> None:
        counts = [Count(128, 120, 0.85), Count(256, 250, 0.93)]
        figure = convergence_figure(counts, 0.9, LIGHT)
        valid(figure)
        assert figure["data"][1]["y"] == [0.85, 0.93]
        assert figure["layout"]["shapes"][0]["y0"] == 0.9
        valid(convergence_figure([], None, LIGHT))

    def test_the_target_stands_out_among_the_votes_of_a_group(self) -> None:
        figure = group_figure({"table": 10, "chair": 90}, "chair", LIGHT)
        valid(figure)
        assert figure["data"][0]["marker"]["color"] == [RIGHT, WRONG]


def test_an_unknown_theme_is_light() -> None:
    assert theme_of(None) is LIGHT
    assert theme_of("dark") is DARK


def test_a_colour_that_means_something_is_used_for_nothing_else() -> None:
    meant = {RIGHT, WRONG, OPEN, UNKNOWN}
    meant |= {
        colour for theme in (LIGHT, DARK) for colour in (theme.agree, theme.differ, theme.open, theme.ghost)
    }
    assert not {colour.lower() for colour in KINDS} & {colour.lower() for colour in meant}
    assert len(set(KINDS)) == len(KINDS)
