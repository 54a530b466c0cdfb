"""A landscape shows p_A on a grid that grows finer, for every transform and every theorem, and touches no ledger."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tpc_core import Options, Question, load_model, load_object, parse_transform
from tpc_core.certify import prepare
from tpc_core.engines import Inline
from tpc_core.landscape import Chart, Landscape, Nodes, extent, landscape_events
from tpc_core.landscape.work import LandscapeWork
from tpc_core.votes import Voter

QUESTIONS = [
    ("pointnet64-z-twist", "z-twist", "40", {}),
    ("pointnet64-noise", "z-taper", "0.3", {}),
    ("pointnet64-cylinder", "z-taper+z-rotation", "taper=0.2,rotation=20", {}),
    ("pointnet64-noise", "z-twist+z-taper+z-rotation", "twist=9,taper=0.1,rotation=2", {}),
    ("pointnet64-so3-group", "general-rotation", "180", {}),
    ("pointnet64-so3-diffusion", "general-rotation", "10", {}),
    ("pointnet64-so3-group", "zyx-rotation", "20", {}),
    ("pointnet64-linear", "linear", "0.1", {}),
    ("pointnet64-l2", "l2", "0.1", {}),
    ("pointnet64-l2", "linf", "0.01", {}),
    ("pointnet64-z-shear", "z-shear", "0.1", {}),
    ("segmentation64-z-twist", "z-twist", "20", {}),
    ("pointnet64-noise", "z-rotation", "20", {"proof": "certain"}),
    ("pointnet64-noise", "z-taper", "0.2", {"largest": True}),
]
"""Every rule: one probability of each kind, a group, diffusion, a cylinder, covers, points, and the plain network."""


def asked(model: str, transform: str, radius: str, options: dict[str, object]) -> Question:
    return Question.of(model, "gallery:chair-1", 64, transform, radius, Options(**options))


@pytest.fixture(scope="module")
def chair():
    return load_object("gallery:chair-1", points=64)


@pytest.mark.parametrize(
    ("model", "transform", "radius", "options"), QUESTIONS, ids=lambda value: str(value)[:30]
)
def test_every_transform_and_every_theorem_has_a_map(chair, model, transform, radius, options) -> None:
    question = asked(model, transform, radius, options)
    pictures = list(landscape_events(load_model(model), chair, question, most_votes=1200))
    first, last = pictures[0], pictures[-1]
    assert last.finished
    assert first.asked.sum() < last.asked.sum()  # it grows
    assert len(last.chart.axes) in (1, 2, 3)
    assert np.all((last.share[last.asked] >= 0) & (last.share[last.asked] <= 1))
    if options.get("proof") == "certain":
        assert not last.by_votes
    else:
        assert np.all(last.n[last.asked] >= 32)
        assert np.all(last.bound[last.asked] <= last.share[last.asked])
    assert bool(last.chart.left_out) == (transform in ("linear", "l2", "linf"))


def test_the_votes_of_a_map_are_in_no_ledger_and_have_streams_of_their_own(chair, monkeypatch) -> None:
    question = asked("pointnet64-noise", "z-taper", "0.3", {})
    streams: list[str] = []
    cast = Voter.cast

    def listen(self, ballots):
        streams.extend(ballot.stream for ballot in ballots)
        return cast(self, ballots)

    monkeypatch.setattr(Voter, "cast", listen)
    list(landscape_events(load_model("pointnet64-noise"), chair, question, most_votes=700))
    assert streams
    assert all(stream.startswith("look|map|") for stream in streams)
    run = prepare(load_model("pointnet64-noise"), chair, "z-taper", "0.3", Options())
    assert run.ledger.samples == 0


def test_a_finer_grid_keeps_the_nodes_of_the_coarser_ones() -> None:
    nodes = Nodes(np.array([1.0, 2.0]), is_round=False)
    assert len(nodes.index) == 33 * 33
    assert [int(np.sum(nodes.rank <= rank)) for rank in range(3)] == [9 * 9, 17 * 17, 33 * 33]
    assert np.all(np.diff(nodes.rank) >= 0)
    assert np.allclose(nodes.places[0], 0)  # the object itself comes first


def test_a_ball_asks_about_the_ball_only() -> None:
    nodes = Nodes(np.ones(3), is_round=True)
    assert np.all(np.linalg.norm(nodes.places, axis=1) <= 1 + 1e-9)


def test_what_was_asked_is_shown_as_it_is_and_the_rest_lies_between() -> None:
    nodes = Nodes(np.array([1.0]), is_round=False)
    values = nodes.places[:, 0].copy()
    shown = nodes.spread(values, nodes.rank == 0, rank=2)
    assert shown == pytest.approx(np.linspace(-1, 1, 65))
    assert np.isnan(nodes.spread(values, np.zeros(len(values), dtype=bool), 0)).all()


def test_a_map_in_two_pieces_is_the_map_in_one(chair) -> None:
    question = asked("pointnet64-z-twist", "z-twist", "40", {})
    model = load_model("pointnet64-z-twist")
    at_once = list(landscape_events(model, chair, question, most_votes=2500))[-1]
    first = LandscapeWork(question, model, chair, first_grid=True)
    *_, begun = first.run(Inline())
    rest = list(landscape_events(model, chair, question, earlier=begun.result, most_votes=2500))[-1]
    assert np.array_equal(rest.n, at_once.n)
    assert np.array_equal(rest.n_a, at_once.n_a)


def test_a_place_of_the_map_is_a_parameter_and_back() -> None:
    for name in ("z-twist+z-taper+z-rotation", "general-rotation", "linear", "l2"):
        chart = Chart.of(parse_transform(name), 16)
        place = np.array([0.3, -0.2, 0.1])[: len(chart.axes)]
        assert chart.place(chart.z(place[None])[0]) == pytest.approx(place)


def test_a_moved_cloud_is_what_the_transform_makes_of_it(chair) -> None:
    chart = Chart.of(parse_transform("general-rotation"), 64)
    w = np.array([0.1, 0.2, -0.3])
    expected = chart.transform.apply(chair.points.double(), torch.from_numpy(w)).float()
    assert torch.equal(chart.moved(chair.points, w), expected)


def test_a_map_is_wider_than_its_region_and_no_wider_than_the_transform() -> None:
    chart = Chart.of(parse_transform("z-rotation"), 16)
    assert extent(chart, [0.1]) == pytest.approx([0.15])
    assert extent(chart, [np.pi]) == pytest.approx([np.pi])


def test_p_a_is_the_share_of_the_votes(chair) -> None:
    question = asked("pointnet64-so3-group", "general-rotation", "180", {})
    seen: Landscape = list(
        landscape_events(load_model("pointnet64-so3-group"), chair, question, most_votes=900)
    )[-1]
    assert seen.share[seen.asked] == pytest.approx(seen.n_a[seen.asked] / seen.n[seen.asked])
    assert seen.target == "chair"
