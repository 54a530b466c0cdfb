"""Going on with chosen cells settles them, keeps every vote, and does not cost the guarantee."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.certificate.made import QUESTIONS, SMALL, genuine, model_of
from tests.classifiers import DrawnVotes, at_most, broken_at, marked_cloud, parameter_model, simulated_votes
from tests.diagnosis.test_causes import NARROW, short_of_votes
from tpc_core.certificate import Certificate
from tpc_core.certificate.replay import replay
from tpc_core.certificate.schema import TreeEvidence
from tpc_core.certificate.verify import verify
from tpc_core.certify import Budget, Options, certify
from tpc_core.diagnosis import Subject, continued, explain_cell
from tpc_core.errors import InvalidValue, UnsupportedRequest


def worst(certificate: Certificate) -> str:
    return Subject.of(certificate).failing[0].path


def test_more_votes_turn_an_undecided_cell_into_a_passed_one() -> None:
    before = short_of_votes()
    subject = Subject.of(before)
    facts = subject.failing[0]
    remedy = explain_cell(subject, facts).remedies[0]
    assert (facts.state, remedy.action) == ("waiting", "more-votes")
    after = continued(before, NARROW, remedy.cells, until=remedy.until)
    verify(after)
    assert Subject.of(after).cell(facts.path).state == "passed"


def test_a_cell_is_refined_on_demand() -> None:
    before = short_of_votes()
    path = worst(before)
    after = continued(before, NARROW, [path], refine=True)
    verify(after)
    subject = Subject.of(after)
    assert subject.cell(path).state == "refined"
    assert all(f.state == "passed" for f in subject.leaves if f.path.startswith(path))


def test_only_the_chosen_cells_are_voted_on() -> None:
    before = short_of_votes()
    chosen = worst(before)
    after = continued(before, NARROW, [chosen], until=7_776)
    old, new = Subject.of(before).by_path, Subject.of(after).by_path
    for path, facts in old.items():
        if path != chosen:
            assert new[path] == facts
    assert after.samples - before.samples == new[chosen].n - old[chosen].n > 0


def test_going_on_with_everything_ends_in_a_verdict_that_replays() -> None:
    after = continued(short_of_votes(), NARROW)
    assert after.verdict == "certified"
    verify(after)
    assert replay(after, NARROW) > 0


@pytest.mark.parametrize(
    "kind", ["parameter undecided", "tree undecided", "tree largest", "parameter largest"]
)
def test_every_kind_that_reserves_stages_can_go_on(kind: str) -> None:
    before = genuine(kind)
    after = continued(before, model_of(kind), samples=20_000)
    verify(after)
    assert after.samples >= before.samples
    if before.claim.largest:
        assert all(after.claim.radius[name] >= value for name, value in before.claim.radius.items())


def test_a_single_probability_goes_on_to_its_next_stage() -> None:
    model, cloud = parameter_model("z-rotation", [15], [1], math.radians(23)), marked_cloud("z-rotation")
    before = certify(model, cloud, "z-rotation", 20, Options(budget=Budget(samples=700)))
    assert before.verdict == "undecided"
    after = continued(before, model, until=8_192)
    verify(after)
    assert after.verdict == "certified"


def test_a_group_goes_on_to_its_next_stage() -> None:
    model, cloud, transform, radius, options = QUESTIONS["group"]()
    close = replace(model, shares=(0.45, 0.4, 0.15))
    before = certify(close, cloud, transform, radius, replace(options, budget=Budget(samples=300)))
    assert before.verdict == "undecided"
    after = continued(before, close)
    verify(after)
    assert after.verdict == "certified"


def test_what_reserves_no_stages_refuses() -> None:
    grid = certify(
        broken_at(SMALL, "z-taper", [0.21], 0.1),
        SMALL,
        "z-taper",
        0.2,
        Options(protocol="paper", resolution=4),
    )
    with pytest.raises(UnsupportedRequest, match="no level is reserved"):
        continued(grid, broken_at(SMALL, "z-taper", [0.21], 0.1))
    with pytest.raises(UnsupportedRequest, match="refuted"):
        continued(genuine("tree refuted"), model_of("tree refuted"))


def test_another_model_may_not_go_on() -> None:
    with pytest.raises(InvalidValue, match="was made with"):
        continued(short_of_votes(), replace(NARROW, digest="another"))


def test_a_cell_that_passed_is_not_gone_on_with() -> None:
    certificate = genuine("tree")
    assert isinstance(certificate.evidence, TreeEvidence)
    passed = next(cell.path for cell in certificate.evidence.cells if cell.state == "passed")
    with pytest.raises(InvalidValue, match="not open"):
        continued(certificate, model_of("tree"), [passed])


def test_a_stop_leaves_a_valid_certificate() -> None:
    calls: Iterator[bool] = iter([False, False, False])
    after = continued(short_of_votes(), NARROW, cancelled=lambda: next(calls, True))
    verify(after)
    assert after.reasons[0].code == "cancelled"


def test_going_on_where_it_looks_best_is_wrong_at_most_alpha_of_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The claim is false by a hair; runs are stopped early and gone on with, first where it looks best."""
    alpha, runs = 0.1, 250
    model = broken_at(SMALL, "z-taper", [0.3], 0.1)
    monkeypatch.setattr(sys.modules["tpc_core.diagnosis.reopen"], "Voter", DrawnVotes)
    wrong = 0
    with simulated_votes():
        for seed in range(runs):
            options = Options(alpha=alpha, seed=seed, budget=Budget(samples=500))
            found = certify(model, SMALL, "z-taper", 0.3, options)
            for _ in range(3):
                if found.verdict != "undecided":
                    break
                failing = Subject.of(found).failing
                if failing:
                    found = continued(found, model, [failing[-1].path], until=2_592)
            if found.verdict == "undecided":
                found = continued(found, model, samples=4_000)
            wrong += found.verdict == "certified"
    assert at_most(wrong, runs, alpha)
