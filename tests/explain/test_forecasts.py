"""Attacks, paths, sweeps, curves and comparisons: each against a classifier whose truth is known."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import special

from tests.certificate.made import SMALL, genuine, model_of
from tests.classifiers import (
    HalfSpace,
    broken_at,
    marked_cloud,
    parameter_model,
)
from tpc_core import load_model, load_object
from tpc_core.case_view import CaseView
from tpc_core.certify import Budget, Options, certify
from tpc_core.errors import UnsupportedRequest
from tpc_core.explain import (
    comparable,
    compare,
    difference_map,
    explain_certificate,
    find_smallest_attack,
    first_change,
    prediction_path,
)
from tpc_core.forecast import radius_by_votes, remaining_cost, sweep_judgement, sweep_sigmas, sweep_votes
from tpc_core.verify import replay, verify

FAILS_AT = 0.5
BROKEN = broken_at(SMALL, "z-taper", [FAILS_AT], 0.1)
SAFE = broken_at(SMALL, "z-taper", [0.9], 0.1)


def stopped(model: HalfSpace = BROKEN, radius: float = 0.9) -> CaseView:
    """A run that was stopped before it saw that the claim is false."""
    found = certify(model, SMALL, "z-taper", radius, Options(budget=Budget(samples=64)))
    assert found.verdict == "undecided"
    return CaseView.of(found)


def test_the_search_finds_an_attack_close_to_the_smallest_there_is() -> None:
    view = stopped()
    *_, last = find_smallest_attack(view, BROKEN, tries=40)
    assert last.done
    assert last.size is not None
    assert FAILS_AT / 0.9 <= last.size < 1.25 * FAILS_AT / 0.9
    assert last.rival == "outside"
    assert last.certificate is not None
    assert verify(last.certificate).verdict == "refuted"
    assert replay(last.certificate, BROKEN) == last.certificate.samples


def test_a_search_that_is_repeated_goes_on_from_what_was_found() -> None:
    *_, first = find_smallest_attack(stopped(), BROKEN, tries=40)
    assert first.certificate is not None
    *_, second = find_smallest_attack(CaseView.of(first.certificate), BROKEN, tries=40)
    assert second.certificate is not None
    assert first.size is not None
    assert second.size is not None
    assert second.size <= first.size
    # Every test has a number of its own in the ledger, and its level.
    assert len(second.certificate.ledger.refutations) >= len(first.certificate.ledger.refutations)
    verify(second.certificate)


def test_the_search_claims_nothing_where_there_is_no_attack() -> None:
    *_, last = find_smallest_attack(stopped(SAFE, 0.6), SAFE, tries=30)
    assert last.attack is None
    assert last.certificate is not None
    assert verify(last.certificate).verdict == "undecided"


def test_the_gap_runs_from_what_is_certified_to_the_smallest_attack() -> None:
    found = certify(BROKEN, SMALL, "z-taper", 0.9, Options(largest=True))
    view = CaseView.of(found)
    *_, last = find_smallest_attack(view, BROKEN, start=(0.7,), tries=40)
    assert last.gap is not None
    low, high = last.gap
    assert low * view.radii[0] == pytest.approx(found.radius["taper"], rel=1e-6)
    assert low < FAILS_AT / view.radii[0] <= high
    assert last.certificate is not None
    assert verify(last.certificate).verdict == "certified"


def test_the_path_of_the_prediction_changes_where_the_classifier_does() -> None:
    path = list(prediction_path(stopped(), BROKEN, np.array([0.9]), steps=19))
    assert [step.part for step in path] == pytest.approx(np.linspace(0, 1, 19))
    assert path[0].winner == "inside"
    assert path[-1].winner == "outside"
    change = first_change(path, "inside")
    assert change is not None
    assert abs(change * 0.9 - FAILS_AT) < 0.11


def test_the_sweep_sees_the_probabilities_of_every_sigma() -> None:
    view = CaseView.of(genuine("cover undecided"))
    model = model_of("cover undecided")
    assert isinstance(model, HalfSpace)
    looks = list(sweep_sigmas(view, model))
    assert [look.factor for look in looks] == [0.5, 0.71, 1.0, 1.41, 2.0]
    assert sweep_votes(view) == sum(place.n for look in looks for place in look.places)
    distance = model.threshold - float((SMALL.points.double().numpy() * model.normal).sum())
    for look in looks:
        truth = special.ndtr(distance / look.sigma[0])
        assert abs(look.at_identity - truth) < 5 * math.sqrt(0.25 / look.places[0].n)
        assert 0 <= look.radius[0] <= look.radius[1] <= look.radius[2] <= 1
    assert sweep_judgement(looks).startswith("Sigma is")


def test_a_sweep_of_one_probability_reads_the_radius_off_its_rule() -> None:
    model, cloud = parameter_model("z-rotation", [15], [1], math.radians(20)), marked_cloud("z-rotation")
    view = CaseView.of(certify(model, cloud, "z-rotation", 30, Options()))
    looks = {look.factor: look for look in sweep_sigmas(view, model)}
    # The half-space is at 20 degrees, whatever sigma is: no band may lie beyond it.
    assert all(look.radius[0] * 30 < 20.5 for look in looks.values())
    assert 17 < looks[1.0].radius[1] * 30 < 23


def test_three_sigmas_are_swept_and_searched_together() -> None:
    """Cylinder smoothing has a sigma each for noise, twist and rotation."""
    model, cloud = load_model("pointnet64-cylinder"), load_object("gallery:chair-1", points=64)
    radius = "twist=20,taper=0.3,rotation=5"
    found = certify(model, cloud, "z-twist+z-taper+z-rotation", radius, Options(budget=Budget(samples=200)))
    view = CaseView.of(found)
    looks = list(sweep_sigmas(view, model, factors=(0.5, 1.0)))
    assert [len(look.sigma) for look in looks] == [3, 3]
    assert looks[1].sigma == tuple(model.smoothing.sigmas.values())
    assert looks[0].votes > looks[1].votes  # less noise makes smaller cells
    *_, last = find_smallest_attack(view, model, tries=4)
    assert last.done


def test_group_smoothing_has_no_sigma_to_sweep() -> None:
    with pytest.raises(UnsupportedRequest, match="no sigma"):
        list(sweep_sigmas(CaseView.of(genuine("group")), model_of("group")))
    assert sweep_votes(CaseView.of(genuine("group"))) == 0


@pytest.mark.parametrize("kind", ["cover", "cover undecided", "parameter undecided", "cover of rotations"])
def test_the_forecast_begins_where_the_votes_are_and_never_falls(kind: str) -> None:
    view = CaseView.of(genuine(kind))
    ahead = radius_by_votes(view)
    assert ahead[0].votes == view.certificate.samples
    assert ahead[0].radius == (view.certified_part,) * 3
    for before, after in itertools.pairwise(ahead):
        assert after.votes > before.votes
        assert all(later >= earlier for earlier, later in zip(before.radius, after.radius, strict=True))
    assert all(f.radius[0] <= f.radius[1] <= f.radius[2] for f in ahead)


def test_the_forecast_radius_is_about_what_a_run_finds() -> None:
    early = CaseView.of(
        certify(BROKEN, SMALL, "z-taper", 0.9, Options(complete=True, budget=Budget(samples=640)))
    )
    found = certify(BROKEN, SMALL, "z-taper", 0.9, Options(largest=True)).radius["taper"]
    last = radius_by_votes(early)[-1]
    assert last.radius[0] * 0.9 <= FAILS_AT * 1.1
    assert last.radius[2] * 0.9 >= found * 0.8


def test_what_is_left_is_the_whole_run_before_it_begins_and_nothing_after_it() -> None:
    done = CaseView.of(genuine("cover"))
    assert remaining_cost(done).votes == 0
    assert explain_certificate(done).primary is None
    begun = remaining_cost(CaseView.of(genuine("cover undecided")))
    assert begun.cells > 0
    assert 0 < begun.votes < math.inf


def test_a_run_does_not_differ_from_itself() -> None:
    view = CaseView.of(genuine("cover"))
    assert not any(row.differs for row in compare(view, view))
    places = np.linspace(-0.7, 0.7, 50)[:, None]
    same = difference_map(view, view, places, lambda cell: cell.lower_bound)
    assert np.all(same.difference == 0)
    assert np.all(same.first > 0)


def test_two_sigmas_differ_where_one_is_surer() -> None:
    near = CaseView.of(certify(SAFE, SMALL, "z-taper", 0.4, Options()))
    far = CaseView.of(certify(broken_at(SMALL, "z-taper", [0.9], 0.6), SMALL, "z-taper", 0.4, Options()))
    differing = {row.name for row in compare(near, far) if row.differs}
    assert "Sigma" in differing
    assert "Transform" not in differing
    places = np.linspace(-0.39, 0.39, 9)[:, None]
    assert np.nanmean(difference_map(near, far, places, lambda cell: cell.share).difference) < 0


def test_different_transforms_have_no_common_map() -> None:
    reason = comparable(CaseView.of(genuine("cover")), CaseView.of(genuine("cover of rotations")))
    assert reason is not None
    assert "different transforms" in reason
