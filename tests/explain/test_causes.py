"""An explanation names the true cause, shows the counts, and computes what its remedies cost."""

from __future__ import annotations

import functools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from tests.certificate.made import QUESTIONS, SMALL, changed, genuine
from tests.classifiers import broken_at, marked_cloud, parameter_model
from tpc_core.case_view import CaseView, shortfall
from tpc_core.certificate import Certificate
from tpc_core.certify import Budget, Options, certify
from tpc_core.cloud import Cloud
from tpc_core.errors import InvalidCertificate, UnsupportedRequest
from tpc_core.explain import (
    CASTS_VOTES,
    can_shrink_claim,
    explain_cell,
    explain_certificate,
    probability,
    shrink_claim,
)
from tpc_core.forecast import best_pass_chance, pass_chances
from tpc_core.proofs import CellStanding
from tpc_core.statistics import rejects
from tpc_core.verify import verify
from tpc_core.votes import BLOCK

NARROW = broken_at(SMALL, "z-taper", [0.8], 0.1)


@functools.cache
def short_of_votes() -> Certificate:
    """A budget that ends after the first votes of a cell whose p_A is large enough, and takes more of them."""
    runs = (
        certify(NARROW, SMALL, "z-taper", 0.55, Options(budget=Budget(samples=samples), seed=seed))
        for seed in range(20)
        for samples in (96, 160)
    )
    return next(
        found for found in runs if [cell.guess > 0.85 for cell in CaseView.of(found).failing] == [True]
    )


@pytest.mark.parametrize("kind", list(QUESTIONS))
def test_every_certificate_can_be_explained(kind: str) -> None:
    view = CaseView.of(genuine(kind))
    explanation = explain_certificate(view)
    assert explanation.verdict == genuine(kind).verdict
    assert 0 <= explanation.certified <= 1
    for finding in explanation.findings:
        assert finding.sentence.endswith((".", ":"))
        assert all(remedy.votes >= 0 for remedy in finding.remedies)
    for cell in view.cells[:50]:
        finding = explain_cell(view, cell)
        assert (finding.cause == "passed") == (cell.state == "passed")
        assert finding.title
        json.dumps([finding.sentence, *finding.evidence])
        assert sum(view.votes_of(cell).values()) >= cell.n


def test_a_changed_certificate_is_not_explained() -> None:
    forged = changed(genuine("cover"), lambda content: content.update(prediction="outside"))
    with pytest.raises(InvalidCertificate):
        CaseView.of(forged)


def test_too_few_votes_are_told_from_a_model_that_fails() -> None:
    wide = explain_certificate(CaseView.of(short_of_votes()))
    assert [finding.cause for finding in wide.findings] == ["wide-interval", "budget"]
    broken = explain_certificate(CaseView.of(genuine("cover refuted")))
    assert broken.main.cause == "another-class"
    assert [remedy.action for remedy in broken.main.remedies] == ["attack", "smaller-radius"]


def test_no_number_of_votes_helps_where_p_a_is_too_small() -> None:
    explanation = explain_certificate(CaseView.of(genuine("parameter undecided")))
    assert explanation.main.cause in ("unsure", "wrong-from-the-start")
    assert not {remedy.action for remedy in explanation.remedies} & set(CASTS_VOTES)


def test_a_radius_of_too_many_sigmas_is_told_from_a_model_that_is_unsure() -> None:
    model = broken_at(SMALL, "z-taper", [0.9], 0.02)
    finding = explain_certificate(CaseView.of(certify(model, SMALL, "l2", 0.3, Options()))).main
    assert finding.cause == "sigma-too-small"
    assert finding.remedies[0].action == "sweep"
    assert "exceed 1 - " in finding.evidence[1]  # not "must exceed 1.0000"


def test_a_coarse_grid_is_told_from_a_model_that_is_unsure() -> None:
    """The paper's samples cannot be enlarged: a new run is offered, at its price, and it does."""
    model = broken_at(SMALL, "z-taper", [0.9], 0.1)
    found = certify(model, SMALL, "z-taper", 0.7, Options(protocol="paper", resolution=2, complete=True))
    explanation = explain_certificate(CaseView.of(found))
    adaptive, finer = explanation.main.remedies
    assert explanation.main.cause == "too-coarse"
    assert explanation.primary == adaptive
    assert adaptive.protocol == "adaptive"
    again = certify(model, SMALL, "z-taper", 0.7, Options())
    assert again.verdict == "certified"
    assert again.samples / 3 < adaptive.votes < 3 * again.samples
    resolution = int(finer.sentence.rpartition("M = ")[2])
    fine = certify(model, SMALL, "z-taper", 0.7, Options(protocol="paper", resolution=resolution))
    assert fine.verdict == "certified"


def test_points_without_a_bound_are_spoken_of_as_points() -> None:
    explanation = explain_certificate(CaseView.of(genuine("points")))
    assert explanation.verdict == "undecided"
    assert {finding.cause for finding in explanation.findings} <= {"unsure", "wide-interval", "budget"}
    for finding in explanation.findings:
        assert "cell" not in finding.title + finding.sentence


def test_a_refuted_claim_is_not_offered_more_votes() -> None:
    view = CaseView.of(genuine("cover refuted"))
    actions = {remedy.action for remedy in explain_certificate(view).remedies}
    for cell in view.failing:
        actions |= {remedy.action for remedy in explain_cell(view, cell).remedies}
    assert actions.isdisjoint({*CASTS_VOTES, "new-run"})


def test_probabilities_are_told_from_one_and_from_what_they_are_compared_with() -> None:
    assert probability(0.9146) == "0.915"
    for tail in (1e-4, 3e-6, 9.9e-9):
        assert 0.5 < (1 - float(probability(1 - tail))) / tail < 1.5
    assert probability(0.99991, 0.99993) != probability(0.99993, 0.99991)


def test_a_model_that_is_wrong_from_the_start_is_called_so() -> None:
    labelled = Cloud(SMALL.points, SMALL.name, "outside")
    found = certify(broken_at(SMALL, "z-taper", [0.9], 0.2), labelled, "z-taper", 0.2, Options())
    finding = explain_certificate(CaseView.of(found)).main
    assert finding.cause == "wrong-from-the-start"
    assert "outside" in finding.sentence
    assert finding.remedies[0].action == "other-model"


def test_the_offered_number_of_votes_is_the_first_with_a_good_chance() -> None:
    view = CaseView.of(short_of_votes())
    for cell in view.failing:
        ahead = pass_chances(view, cell)
        assert ahead[0].size == cell.n + BLOCK
        assert all(0 <= size.chance <= 1 and size.votes == size.size - cell.n for size in ahead)
        offered = best_pass_chance(view, cell)
        assert offered is not None
        assert offered == next((size for size in ahead if size.chance >= 0.8), offered)
        remedies = [r for r in explain_cell(view, cell).remedies if r.action == "more-votes"]
        assert remedies
        assert all(r.until == offered.size and r.votes == offered.votes for r in remedies)


def test_the_chance_of_more_votes_is_how_often_they_do() -> None:
    """p_A drawn from what the votes leave open, then the votes that are missing: the forecast must agree."""
    view = CaseView.of(short_of_votes())
    first = view.failing[0]
    cell = replace(first, hits=first.totals - 2)
    rng = np.random.default_rng(0)
    for size in pass_chances(view, cell)[2:6]:
        p_a = rng.beta(cell.n_a + 0.5, cell.n - cell.n_a + 0.5, size=3000)
        counts = cell.n_a + rng.binomial(size.votes, p_a)
        passed = np.mean([rejects(int(c), size.size, cell.needed, cell.level) for c in counts])
        assert abs(passed - size.chance) < 0.03


def spans(cells: tuple[CellStanding, ...], state: str) -> list[tuple[float, float]]:
    return [(c.cell.low[0], c.cell.high[0]) for c in cells if c.state == state and c.cell is not None]


def test_what_the_votes_certify_already_lies_in_cells_that_passed() -> None:
    model = broken_at(SMALL, "z-taper", [0.6], 0.15)
    found = certify(model, SMALL, "z-taper", 0.9, Options(complete=True, budget=Budget(samples=20_000)))
    view = CaseView.of(found)
    size = view.certified_part * view.radii[0]
    assert found.verdict != "certified"
    assert 0 < size < 0.6
    again = certify(
        model, SMALL, "z-taper", size * (1 - 1e-9), Options(budget=Budget(samples=1)), resume=found
    )
    assert again.verdict == "certified"
    passed = spans(CaseView.of(again).leaves, "passed")
    for z in np.linspace(-size, size, 101) * (1 - 1e-9):
        assert any(low <= z <= high for low, high in passed)


def test_the_region_of_a_largest_radius_is_where_the_search_ended() -> None:
    found = genuine("cover largest")
    view = CaseView.of(found)
    assert view.certified_part * view.radii[0] == pytest.approx(found.radius["taper"], rel=1e-6)
    assert found.radius["taper"] <= view.radii[0] <= 0.9


def test_a_ledger_of_several_shapes_is_read_at_the_one_that_was_asked() -> None:
    model, transform = broken_at(SMALL, "z-taper+z-rotation", [0.5, 0.0], 0.15), "z-taper+z-rotation"
    first = certify(model, SMALL, transform, "taper=0.2,rotation=5", Options())
    options = Options(largest=True, budget=Budget(samples=first.samples + 3_000))
    second = certify(model, SMALL, transform, "taper=0.4,rotation=4", options, resume=first)
    view = CaseView.of(second)
    assert second.family == 2
    assert 0 < second.radius["taper"] < 0.4
    assert view.certified_part * view.radii[0] == pytest.approx(second.radius["taper"], rel=1e-6)
    whole = replace(options, largest=False)
    third = certify(model, SMALL, transform, "taper=0.4,rotation=4", whole, resume=second)
    assert third.verdict != "certified"
    smaller = shrink_claim(CaseView.of(third))
    assert verify(smaller).verdict == "certified"
    assert smaller.radius["taper"] == pytest.approx(second.radius["taper"], rel=1e-6)


def test_a_single_probability_certifies_a_part_of_what_was_asked() -> None:
    model = parameter_model("z-rotation", [15], [1], math.radians(20))
    found = certify(model, marked_cloud("z-rotation"), "z-rotation", 30, Options())
    assert found.verdict == "undecided"
    size = CaseView.of(found).certified_part
    assert 0 < size < 1
    again = certify(model, marked_cloud("z-rotation"), "z-rotation", size * 30 * 0.999, Options())
    assert again.verdict == "certified"


def test_a_part_of_the_linear_maps_can_be_claimed_instead() -> None:
    model, cloud = parameter_model("linear", [0.2], [1.0] + [0.0] * 8, 0.4), marked_cloud("linear")
    view = CaseView.of(certify(model, cloud, "linear", 0.4, Options()))
    assert view.certificate.verdict == "undecided"
    assert 0 < view.certified_part < 1
    assert verify(shrink_claim(view)).verdict == "certified"


def test_what_is_certified_already_can_be_claimed_instead_for_no_vote() -> None:
    rotation = parameter_model("z-rotation", [15], [1], math.radians(20))
    single = certify(rotation, marked_cloud("z-rotation"), "z-rotation", 30, Options())
    failing = broken_at(SMALL, "z-taper", [0.6], 0.15)
    cover = certify(failing, SMALL, "z-taper", 0.9, Options(budget=Budget(samples=20_000), complete=True))
    for found in (single, cover):
        view = CaseView.of(found)
        assert found.verdict != "certified"
        assert can_shrink_claim(view)
        smaller = shrink_claim(view)
        assert verify(smaller).verdict == "certified"
        assert smaller.ledger == found.ledger
        (name,) = smaller.radius
        assert 0 < smaller.radius[name] < found.radius[name]
        assert not can_shrink_claim(CaseView.of(smaller))
    with pytest.raises(UnsupportedRequest):
        shrink_claim(CaseView.of(genuine("nothing")))


def test_neighbours_touch_and_history_leads_to_the_cell() -> None:
    view = CaseView.of(genuine("cover of rotations"))
    for cell in view.leaves[:20]:
        assert cell.cell is not None
        for other in view.neighbours(cell):
            assert other.cell is not None
            assert np.all(np.array(other.cell.low) <= np.array(cell.cell.high) + 1e-6)
            assert np.all(np.array(other.cell.high) >= np.array(cell.cell.low) - 1e-6)
        assert cell in view.history(cell)


def test_failing_cells_come_worst_first() -> None:
    view = CaseView.of(genuine("cover undecided"))
    shortfalls = [shortfall(cell) for cell in view.failing if cell.kind == "cell"]
    assert shortfalls
    assert shortfalls == sorted(shortfalls, reverse=True)
