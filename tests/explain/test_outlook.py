"""A first radius can be asked about, and what is said of it beforehand agrees with what a run finds."""

from __future__ import annotations

import math

import pytest

from tpc_core import Options, Question, certify, load_model, load_object, parse_transform
from tpc_core.certify import prepare
from tpc_core.forecast import outlook, outlooks, propose_radius
from tpc_core.landscape import landscape_events

PAIRS = [
    ("pointnet64-noise", "z-taper"),
    ("pointnet64-noise", "z-taper+z-rotation"),
    ("pointnet64-cylinder", "z-taper+z-rotation"),
    ("pointnet64-z-twist", "z-twist"),
    ("pointnet64-so3-group", "general-rotation"),
    ("pointnet64-l2", "l2"),
    ("pointnet64-l2", "linf"),
    ("pointnet64-linear", "linear"),
]


def surveyed(model: str, transform: str, radius: object, votes: int = 3000):
    net, cloud = load_model(model), load_object("gallery:chair-1", points=64)
    question = Question.of(model, "gallery:chair-1", 64, transform, radius)
    *_, seen = landscape_events(net, cloud, question, most_votes=votes)
    return net, cloud, seen, prepare(net, cloud, transform, radius, Options()).claim


@pytest.mark.parametrize(("model", "transform"), PAIRS)
def test_a_proposed_radius_is_one_that_can_be_asked_about(model: str, transform: str) -> None:
    family, cloud = parse_transform(transform), load_object("gallery:chair-1", points=64)
    proposed = propose_radius(load_model(model), cloud, family)
    assert all(0 < proposed[p.name] <= p.largest_radius for p in family.radii)
    family.parse_radius(proposed)


@pytest.mark.parametrize(("model", "transform"), PAIRS[:5])
def test_what_is_called_likely_is_certified_for_about_so_many_votes(model: str, transform: str) -> None:
    net, cloud = load_model(model), load_object("gallery:chair-1", points=64)
    radius = propose_radius(net, cloud, parse_transform(transform))
    net, cloud, seen, claim = surveyed(model, transform, radius)
    said = outlook(seen, claim)
    made = certify(net, cloud, transform, radius)
    if said.chance == "likely":
        assert made.verdict == "certified"
        assert made.samples / 2 <= said.votes <= 2 * made.samples


def test_a_radius_beyond_reach_is_hopeless_and_a_small_one_is_likely() -> None:
    _, _, seen, claim = surveyed("pointnet64-l2", "l2", "2")
    small, all_of_it = outlooks(seen, claim, [0.02, 1.0])
    assert small.chance == "likely"
    assert all_of_it.chance == "hopeless"
    assert math.isinf(all_of_it.votes)
