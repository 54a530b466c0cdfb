"""Hunts, paths, sweeps, curves and comparisons: each against a classifier whose truth is known."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import special

from tests.certificate.made import SMALL, genuine, model_of
from tests.classifiers import HalfSpace, broken_at, marked_cloud, parameter_model
from tpc_core.certificate.verify import verify
from tpc_core.certify import Budget, Options, certify
from tpc_core.diagnosis import (
    Subject,
    compare,
    difference_map,
    hunt,
    prediction_path,
    radius_by_votes,
    refutation_of,
    sweep,
)
from tpc_core.diagnosis.compare import comparable
from tpc_core.diagnosis.path import first_change
from tpc_core.diagnosis.sweep import judgement
from tpc_core.errors import UnsupportedRequest

FAILS_AT = 0.5
BROKEN = broken_at(SMALL, "z-taper", [FAILS_AT], 0.1)


def stopped(model: HalfSpace = BROKEN, radius: float = 0.9) -> Subject:
    """A run that was stopped before it saw that the claim is false."""
    found = certify(model, SMALL, "z-taper", radius, Options(budget=Budget(samples=140)))
    assert found.verdict == "undecided"
    return Subject.of(found)


def test_the_hunt_finds_an_attack_close_to_the_smallest_there_is() -> None:
    subject = stopped()
    *_, last = hunt(subject, BROKEN, tries=40)
    assert last.done
    assert last.attack is not None
    assert last.size is not None
    assert FAILS_AT / 0.9 <= last.size < 1.25 * FAILS_AT / 0.9
    refuted = refutation_of(subject.certificate, last)
    assert refuted is not None
    assert refuted.verdict == "refuted"
    verify(refuted)


def test_the_hunt_claims_nothing_where_there_is_no_attack() -> None:
    subject = stopped(broken_at(SMALL, "z-taper", [0.9], 0.1), 0.6)
    *_, last = hunt(subject, broken_at(SMALL, "z-taper", [0.9], 0.1), tries=30)
    assert last.attack is None
    assert refutation_of(subject.certificate, last) is None


def test_the_gap_runs_from_what_is_certified_to_the_smallest_attack() -> None:
    found = certify(BROKEN, SMALL, "z-taper", 0.9, Options(largest=True))
    subject = Subject.of(found)
    *_, last = hunt(subject, BROKEN, tries=40)
    assert last.gap is not None
    low, high = last.gap
    assert low * 0.9 == pytest.approx(found.claim.radius["taper"], rel=1e-6)
    assert low < FAILS_AT / 0.9 <= high


def test_the_path_of_the_prediction_changes_where_the_classifier_does() -> None:
    subject = stopped()
    path = list(prediction_path(subject, BROKEN, np.array([0.9]), steps=19))
    assert [step.part for step in path] == pytest.approx(np.linspace(0, 1, 19))
    assert path[0].winner == "inside"
    assert path[-1].winner == "outside"
    change = first_change(path, "inside")
    assert change is not None
    assert abs(change * 0.9 - FAILS_AT) < 0.11


def test_the_sweep_sees_the_probabilities_of_every_sigma() -> None:
    subject = Subject.of(genuine("tree undecided"))
    model = model_of("tree undecided")
    assert isinstance(model, HalfSpace)
    looks = list(sweep(subject, model))
    assert [look.factor for look in looks] == [0.5, 0.71, 1.0, 1.41, 2.0]
    distance = model.threshold - float((SMALL.points.double().numpy() * model.normal).sum())
    for look in looks:
        truth = special.ndtr(distance / look.sigma[0])
        assert abs(look.at_identity - truth) < 5 * math.sqrt(0.25 / look.places[0].n)
        assert 0 <= look.radius[0] <= look.radius[1] <= look.radius[2] <= 1
    assert judgement(looks).startswith("Sigma is")


def test_a_sweep_of_one_probability_reads_the_radius_off_its_rule() -> None:
    model, cloud = parameter_model("z-rotation", [15], [1], math.radians(20)), marked_cloud("z-rotation")
    subject = Subject.of(certify(model, cloud, "z-rotation", 30, Options()))
    looks = {look.factor: look for look in sweep(subject, model)}
    # The half-space is at 20 degrees, whatever sigma is: no band may lie beyond it.
    assert all(look.radius[0] * 30 < 20.5 for look in looks.values())
    assert 17 < looks[1.0].radius[1] * 30 < 23


def test_group_smoothing_has_no_sigma_to_sweep() -> None:
    with pytest.raises(UnsupportedRequest, match="no sigma"):
        list(sweep(Subject.of(genuine("group")), model_of("group")))


@pytest.mark.parametrize("kind", ["tree", "tree undecided", "parameter", "tree of rotations"])
def test_more_votes_never_promise_less(kind: str) -> None:
    promises = radius_by_votes(Subject.of(genuine(kind)))
    assert promises
    for before, after in itertools.pairwise(promises):
        assert after.votes > before.votes
        assert after.radius[1] >= before.radius[1] - 0.02
    assert all(p.radius[0] <= p.radius[1] <= p.radius[2] for p in promises)


def test_the_promised_radius_is_about_what_a_run_finds() -> None:
    promises = radius_by_votes(Subject.of(certify(BROKEN, SMALL, "z-taper", 0.9, Options(largest=True))))
    found = certify(BROKEN, SMALL, "z-taper", 0.9, Options(largest=True)).claim.radius["taper"]
    assert promises[-1].radius[0] * 0.9 <= FAILS_AT * 1.1
    assert promises[-1].radius[2] * 0.9 >= found * 0.8


def test_a_run_does_not_differ_from_itself() -> None:
    subject = Subject.of(genuine("tree"))
    assert not any(row.differs for row in compare(subject, subject))
    places = np.linspace(-0.7, 0.7, 50)[:, None]
    same = difference_map(subject, subject, places, lambda facts: facts.lower_bound)
    assert np.all(same.difference == 0)
    assert np.all(same.first > 0)


def test_two_sigmas_differ_where_one_is_surer() -> None:
    near = Subject.of(certify(broken_at(SMALL, "z-taper", [0.9], 0.1), SMALL, "z-taper", 0.4, Options()))
    far = Subject.of(certify(broken_at(SMALL, "z-taper", [0.9], 0.6), SMALL, "z-taper", 0.4, Options()))
    differing = {row.name for row in compare(near, far) if row.differs}
    assert "Sigma" in differing
    assert "Transform" not in differing
    places = np.linspace(-0.39, 0.39, 9)[:, None]
    assert np.nanmean(difference_map(near, far, places, lambda facts: facts.share).difference) < 0


def test_different_transforms_have_no_common_map() -> None:
    reason = comparable(Subject.of(genuine("tree")), Subject.of(genuine("tree of rotations")))
    assert reason is not None
    assert "different transforms" in reason
