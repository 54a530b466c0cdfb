"""A certain certificate of the public door: no attack succeeds, and what cannot be bounded is refused in a sentence."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import torch

from tpc_core import Budget, Certificate, Options, Question, certify, certify_events, load_model, load_object
from tpc_core.bounds.choose import bounded_model_for, bounded_models
from tpc_core.certify import Done, Focus, MarginsFound, Predicted
from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.exact import network_of, region_of
from tpc_core.transforms import parse_transform

CERTAIN = Options(proof="certain")
CLAIMS = [
    ("pointnet64-noise", "chair-1", "z-taper", "0.2"),
    ("pointnet64-noise", "airplane-1", "z-taper", "0.1"),
    ("pointnet64-noise", "chair-1", "z-taper+z-rotation", "taper=0.05,rotation=0.5"),
    ("pointnet64-cylinder", "airplane-1", "z-twist", "20"),
    ("pointnet64-noise", "chair-1", "z-shear", "0.03"),
    ("pointnet64-z-rotation-30", "airplane-1", "z-rotation", "5"),
]
ATTACKS = 10_000
"""On each; the larger run, on as many certificates as one likes, is `python -m benchmarks.certain_attacks`."""


@functools.cache
def certified(model: str, name: str, transform: str, radius: str) -> Certificate:
    cloud = load_object(f"gallery:{name}", points=48)
    return certify(load_model(model), cloud, transform, radius, CERTAIN)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: " ".join(claim[1:]))
def test_none_of_ten_thousand_attacks_succeeds(claim: tuple[str, str, str, str]) -> None:
    """Corners and tips, random places, and a search around the places that came nearest to another class."""
    certificate = certified(*claim)
    assert certificate.verdict == "certified"
    question, points = certificate.question, certificate.cloud.cloud().points.double()
    region = region_of(question.family, question.radii)
    network = network_of(load_model(claim[0]).module)
    label = certificate.model.classes.index(str(certificate.prediction))
    rng = np.random.default_rng(0)

    def margins(z: np.ndarray) -> np.ndarray:
        logits = network.evaluate(question.family.apply(points, torch.from_numpy(z)))
        rivals = logits.clone()
        rivals[:, label] = -torch.inf
        return (logits[:, label] - rivals.amax(dim=1)).numpy()

    tried = np.concatenate([region.extremes(), region.sample(ATTACKS // 2, rng)])
    found = margins(tried)
    width = region.half_widths / 10
    while len(tried) < ATTACKS:
        worst = tried[np.argsort(found)[:50]]
        near = region.project(
            (worst[None] + rng.normal(size=(20, *worst.shape)) * width).reshape(-1, region.dim)
        )
        tried, found = np.concatenate([tried, near]), np.concatenate([found, margins(near)])
        width = width / 2
    assert float(found.min()) > 0
    # No place of a cell comes nearer to another class than its certificate says of all of them.
    assert certificate.certain is not None
    assert float(found.min()) >= min(certificate.certain.margins)


def test_certainty_is_about_the_plain_network_and_its_own_class() -> None:
    certificate = certified(*CLAIMS[0])
    network = network_of(load_model("pointnet64-noise").module)
    logits = network.evaluate(certificate.cloud.cloud().points[None])[0]
    assert certificate.prediction == certificate.model.classes[int(logits.argmax())]
    assert certificate.certain is not None
    assert certificate.certain.network == network.digest


def test_the_events_draw_the_map_and_end_with_the_certificate() -> None:
    cloud = load_object("gallery:chair-1", points=48)
    events = list(certify_events(load_model("pointnet64-noise"), cloud, "z-taper", "0.2", CERTAIN))
    assert isinstance(events[0], Predicted)
    assert isinstance(events[-1], Done)
    maps = [event for event in events if isinstance(event, MarginsFound)]
    record = events[-1].certificate.certain
    assert record is not None
    assert sum(int((event.margins > 0).sum()) for event in maps) == len(record.margins)
    assert maps[-1].bounded == record.bounded
    assert maps[-1].covered == pytest.approx(1.0)
    assert all(event.low.shape == event.high.shape == (len(event.margins), 1) for event in maps)


def test_the_same_question_gets_the_same_certificate() -> None:
    first = certified(*CLAIMS[0])
    again = certify(
        load_model("pointnet64-noise"), load_object("gallery:chair-1", points=48), "z-taper", "0.2", CERTAIN
    )
    assert first.checksum == again.checksum


def test_a_cancelled_run_is_undecided() -> None:
    cloud = load_object("gallery:chair-1", points=48)
    made = certify(load_model("pointnet64-noise"), cloud, "z-taper", "0.2", CERTAIN, cancelled=lambda: True)
    assert (made.verdict, made.stopped) == ("undecided", "cancelled")


def test_auto_is_certain_where_it_can_be_and_smoothed_elsewhere() -> None:
    cloud = load_object("gallery:chair-1", points=48)
    noise, auto = load_model("pointnet64-noise"), Options(proof="auto")
    assert certify(noise, cloud, "z-taper", 0.1, auto).certain is not None
    assert certify(noise, cloud, "l2", 0.05, auto).ledger is not None
    short = Options(proof="auto", budget=Budget(cells=2))
    assert certify(noise, cloud, "z-taper", 0.1, short).ledger is not None
    # No smoothing of this model answers: what is known is the answer.
    stays = certify(load_model("pointnet64-z-rotation-30"), cloud, "z-taper", 0.1, short)
    assert (stays.verdict, stays.stopped) == ("undecided", "budget")
    assert stays.certain is not None


def test_l2_balls_are_refused_in_a_sentence() -> None:
    cloud = load_object("gallery:chair-1", points=48)
    with pytest.raises(UnsupportedRequest, match="every coordinate on its own"):
        certify(load_model("pointnet64-noise"), cloud, "l2", 0.01, CERTAIN)


@pytest.mark.parametrize("name", ["curvenet64-z-twist", "segmentation64-z-rotation", "pointnet64-z-shear"])
def test_networks_without_bounds_are_refused_in_a_sentence(name: str) -> None:
    cloud = load_object("gallery:chair-1", points=48)
    with pytest.raises(UnsupportedRequest, match="no exact bounds"):
        certify(load_model(name), cloud, "z-twist", 5, CERTAIN)


def test_parts_have_no_largest_radius_and_no_ball() -> None:
    cloud, model = load_object("gallery:chair-1", points=48), load_model("segmentation64-z-twist")
    with pytest.raises(UnsupportedRequest, match="given radius"):
        certify(model, cloud, "z-twist", 5, Options(proof="certain", largest=True))
    with pytest.raises(UnsupportedRequest, match="parts for linf"):
        certify(model, cloud, "linf", 0.01, CERTAIN)


def test_cards_tell_which_networks_can_be_bounded() -> None:
    for card, objection in bounded_models(parse_transform("z-taper")):
        try:
            network_of(load_model(card.name).module)
            bounded = True
        except UnsupportedRequest:
            bounded = False
        assert bounded == (objection is None), card.name
    assert bounded_model_for(parse_transform("z-shear")).num_points == 64
    with pytest.raises(UnsupportedRequest, match="a proof by votes"):
        bounded_model_for(parse_transform("l2"))


def test_votes_mean_nothing_to_a_certain_proof() -> None:
    cloud = load_object("gallery:chair-1", points=48)
    with pytest.raises(UnsupportedRequest, match="no votes"):
        certify(load_model("pointnet64-noise"), cloud, "z-taper", 0.1, CERTAIN, focus=Focus(("0:",)))
    for given in ({"alpha": 0.01}, {"sigma": (0.1,)}, {"seed": 3}, {"protocol": "paper"}, {"complete": True}):
        with pytest.raises(UnsupportedRequest, match="casts no votes"):
            Options(proof="certain", **given)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedRequest, match="a budget of votes"):
        Options(proof="certain", budget=Budget(samples=100))
    with pytest.raises(InvalidValue, match="smoothed, certain or auto"):
        Options(proof="sure")  # type: ignore[arg-type]


def test_a_certain_question_survives_links_commands_and_python() -> None:
    question = Question.of("pointnet64-noise", "gallery:chair-1", 64, "z-taper", "0.2", CERTAIN)
    assert Question.from_query(question.to_query()) == question
    assert "--proof certain" in question.command()
    assert "proof='certain'" in question.python()
    with pytest.raises(InvalidValue, match="proof in the link"):
        Question.from_query(question.to_query() | {"proof": "sure"})


def test_parse_and_region_agree_for_compositions_about_two_axes() -> None:
    made = certified("pointnet64-noise", "chair-1", "x-taper+z-twist", "taper=0.01,twist=0.5")
    assert made.verdict == "certified"
    assert parse_transform(made.question.transform).dim == 2
