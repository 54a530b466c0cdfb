"""A diagnosis names the true cause, shows the counts, and computes what its remedies cost."""

from __future__ import annotations

import functools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from tests.certificate.made import QUESTIONS, SMALL, changed, genuine
from tests.classifiers import broken_at, marked_cloud, parameter_model
from tpc_core.certificate import Certificate
from tpc_core.certificate.verify import verify
from tpc_core.certify import Budget, Options, certify
from tpc_core.cloud import Cloud
from tpc_core.diagnosis import (
    Subject,
    best_stage,
    can_claim_less,
    certified_size,
    claim_less,
    diagnose,
    explain_cell,
    stages_ahead,
)
from tpc_core.diagnosis.findings import Remedy, probability
from tpc_core.errors import InvalidCertificate, UnsupportedRequest

NARROW = broken_at(SMALL, "z-taper", [0.9], 0.1)
TIGHT = Budget(samples=128 + 2 * 32 + 96 + 32)
"""The class, two probes, and one stage of one cell."""


@functools.cache
def short_of_votes() -> Certificate:
    """A cell with p_A about .96 that needs .86, and a budget that ends after its first 96 votes."""
    runs = (certify(NARROW, SMALL, "z-taper", 0.7, Options(budget=TIGHT, seed=seed)) for seed in range(20))
    return next(found for found in runs if found.verdict == "undecided" and Subject.of(found).failing)


@pytest.mark.parametrize("kind", list(QUESTIONS))
def test_every_certificate_can_be_explained(kind: str) -> None:
    subject = Subject.of(genuine(kind))
    diagnosis = diagnose(subject)
    assert diagnosis.verdict == genuine(kind).verdict
    assert 0 <= diagnosis.certified <= 1 + 1e-9 or subject.strategy.kind == "single"
    for finding in diagnosis.findings:
        assert finding.sentence.endswith((".", ":"))
        assert all(remedy.votes >= 0 for remedy in finding.remedies)
    for facts in subject.cells[:50]:
        finding = explain_cell(subject, facts)
        assert (finding.cause == "passed") == (facts.state == "passed")
        assert finding.title
        json.dumps([finding.sentence, *finding.evidence])


def test_a_changed_certificate_is_not_explained() -> None:
    forged = changed(genuine("tree"), lambda content: content["prediction"].update(samples=5))
    with pytest.raises(InvalidCertificate):
        Subject.of(forged)


def test_too_few_votes_are_told_from_a_model_that_fails() -> None:
    wide = diagnose(Subject.of(short_of_votes()))
    assert [finding.cause for finding in wide.findings] == ["wide-interval", "budget"]
    broken = diagnose(Subject.of(genuine("tree refuted")))
    assert broken.main.cause == "another-class"
    assert [remedy.action for remedy in broken.main.remedies] == ["attack", "smaller-radius"]


def test_no_number_of_votes_helps_where_p_a_is_too_small() -> None:
    finding = diagnose(Subject.of(genuine("parameter undecided"))).main
    assert finding.cause in ("unsure", "wrong-from-the-start")
    assert "more-votes" not in {remedy.action for remedy in finding.remedies}


def test_a_radius_of_too_many_sigmas_is_told_from_a_model_that_is_unsure() -> None:
    model = broken_at(SMALL, "z-taper", [0.9], 0.02)
    finding = diagnose(Subject.of(certify(model, SMALL, "l2", 0.3, Options()))).main
    assert finding.cause == "sigma-too-small"
    assert finding.remedies[0].action == "sweep"


def test_a_coarse_grid_is_told_from_a_model_that_is_unsure() -> None:
    """The paper's grid cannot be continued: a new run is offered, at its price."""
    model = broken_at(SMALL, "z-taper", [0.9], 0.1)
    found = certify(model, SMALL, "z-taper", 0.7, Options(protocol="paper", resolution=2, complete=True))
    finding = diagnose(Subject.of(found)).main
    assert finding.cause == "too-coarse"
    assert finding.remedies[0].protocol == "adaptive"
    assert 0 < finding.remedies[0].votes < math.inf
    resolution = int(finding.remedies[1].sentence.rpartition("M = ")[2])
    finer = certify(model, SMALL, "z-taper", 0.7, Options(protocol="paper", resolution=resolution))
    assert finer.verdict == "certified"


def test_points_without_a_bound_are_spoken_of_as_points() -> None:
    diagnosis = diagnose(Subject.of(genuine("points")))
    assert diagnosis.verdict == "undecided"
    assert {finding.cause for finding in diagnosis.findings} <= {"unsure", "wide-interval"}
    for finding in diagnosis.findings:
        assert "cell" not in finding.title + finding.sentence


def test_a_refuted_claim_is_not_offered_more_votes() -> None:
    subject = Subject.of(genuine("tree refuted"))
    actions = {remedy.action for remedy in diagnose(subject).remedies}
    for facts in subject.failing:
        actions |= {remedy.action for remedy in explain_cell(subject, facts).remedies}
    assert actions.isdisjoint({"more-votes", "refine", "go-on", "new-run"})


def test_probabilities_near_one_are_told_from_one() -> None:
    assert probability(0.9146) == "0.9146"
    assert probability(1.0) == "1.0000"
    for tail in (1e-4, 3e-6, 9.9e-10):
        assert 0.9 < (1 - float(probability(1 - tail))) / tail < 1.1


def test_a_model_that_is_wrong_from_the_start_is_called_so() -> None:
    labelled = Cloud(SMALL.points, SMALL.name, "outside")
    found = certify(broken_at(SMALL, "z-taper", [0.9], 0.2), labelled, "z-taper", 0.2, Options())
    finding = diagnose(Subject.of(found)).main
    assert finding.cause == "wrong-from-the-start"
    assert "outside" in finding.sentence
    assert finding.remedies[0].action == "other-model"


def test_the_offered_number_of_votes_is_the_next_reserved_stage_with_a_good_chance() -> None:
    subject = Subject.of(short_of_votes())
    for facts in subject.failing:
        ahead = stages_ahead(subject, facts)
        assert [stage.size for stage in ahead] == [n for n in subject.monitor.sizes if n > facts.n]
        assert all(0 <= stage.chance <= 1 for stage in ahead)
        offered = best_stage(subject, facts)
        assert offered is not None
        assert offered.votes == offered.size - facts.n
        remedies = [r for r in explain_cell(subject, facts).remedies if r.action == "more-votes"]
        assert all(r.until == offered.size and r.votes == offered.votes for r in remedies)


def test_the_chance_of_a_stage_is_how_often_it_passes() -> None:
    """p_A drawn from what the votes leave open, then the votes that are missing: the forecast must agree."""
    subject = Subject.of(short_of_votes())
    facts = replace(subject.failing[0], n_a=subject.failing[0].n - 2)
    stage = stages_ahead(subject, facts)[0]
    rng = np.random.default_rng(0)
    p_a = rng.beta(facts.n_a + 0.5, facts.n - facts.n_a + 0.5, size=4000)
    counts = facts.n_a + rng.binomial(stage.votes, p_a)
    number = subject.monitor.stage_of(stage.size)
    level = subject.levels.level(facts.cell.rank, subject.certificate.alpha)  # type: ignore[union-attr]
    passed = np.mean([subject.monitor.bound(int(c), number, level) > facts.needed for c in counts])
    assert abs(passed - stage.chance) < 0.03


def test_what_the_votes_certify_already_lies_in_cells_that_passed() -> None:
    model = broken_at(SMALL, "z-taper", [0.6], 0.15)
    found = certify(model, SMALL, "z-taper", 0.9, Options(largest=True))
    subject = Subject.of(found)
    size = certified_size(subject)
    assert math.isclose(size * 0.9, found.claim.radius["taper"], rel_tol=1e-6)
    passed = [facts.span[0] for facts in subject.leaves if facts.state == "passed"]
    for z in np.linspace(-size * 0.9, size * 0.9, 101):
        assert any(low <= z <= high for low, high in passed)


def test_a_single_probability_certifies_a_part_of_what_was_asked() -> None:
    model = parameter_model("z-rotation", [15], [1], math.radians(20))
    found = certify(model, marked_cloud("z-rotation"), "z-rotation", 30, Options())
    assert found.verdict == "undecided"
    size = certified_size(Subject.of(found))
    assert 0 < size < 1
    again = certify(model, marked_cloud("z-rotation"), "z-rotation", size * 30 * 0.999, Options())
    assert again.verdict == "certified"


def test_what_is_certified_already_can_be_claimed_instead() -> None:
    rotation = parameter_model("z-rotation", [15], [1], math.radians(20))
    single = certify(rotation, marked_cloud("z-rotation"), "z-rotation", 30, Options())
    failing = broken_at(SMALL, "z-taper", [0.6], 0.15)
    tree = certify(failing, SMALL, "z-taper", 0.9, Options(budget=Budget(samples=20_000), complete=True))
    for found in (single, tree):
        subject = Subject.of(found)
        assert found.verdict != "certified"
        assert can_claim_less(subject)
        smaller = claim_less(subject)
        assert verify(smaller).verdict == "certified"
        (name,) = smaller.claim.radius
        assert 0 < smaller.claim.radius[name] < found.claim.radius[name]
        assert not can_claim_less(Subject.of(smaller))
    with pytest.raises(UnsupportedRequest):
        claim_less(Subject.of(genuine("nothing")))


def test_neighbours_touch_and_history_leads_to_the_cell() -> None:
    subject = Subject.of(genuine("tree of rotations"))
    for facts in subject.leaves[:20]:
        for other in subject.neighbours(facts):
            pairs = zip(facts.span, other.span, strict=True)
            assert all(
                low <= o_high + 1e-6 and o_low <= high + 1e-6 for (low, high), (o_low, o_high) in pairs
            )
        assert facts in subject.history(facts)


def test_failing_cells_come_worst_first() -> None:
    subject = Subject.of(genuine("tree undecided"))
    shortfalls = [facts.shortfall for facts in subject.failing if facts.kind == "cell"]
    assert shortfalls == sorted(shortfalls, reverse=True)


def test_remedies_are_plain_values() -> None:
    assert Remedy("refine", "refine it") == Remedy("refine", "refine it")
