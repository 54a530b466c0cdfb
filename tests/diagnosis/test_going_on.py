"""Going on with chosen cells settles them, keeps every vote, and does not cost the guarantee."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import pytest

from tests.certificate.made import QUESTIONS, SMALL, changed, genuine, model_of
from tests.classifiers import (
    DrawnVotes,
    HalfSpace,
    at_most,
    broken_at,
    exceeds,
    marked_cloud,
    parameter_model,
    simulated_votes,
)
from tests.diagnosis.test_causes import NARROW, short_of_votes
from tpc_core.certificate import Certificate
from tpc_core.certificate.replay import replay
from tpc_core.certificate.schema import TreeEvidence
from tpc_core.certificate.verify import verify
from tpc_core.certify import Budget, Options, certify
from tpc_core.covers import PathLevels
from tpc_core.diagnosis import Subject, continued, explain_cell
from tpc_core.errors import InvalidCertificate, InvalidValue, UnsupportedRequest
from tpc_core.statistics import StagedMonitor, lower_bound


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


def test_stages_that_were_read_are_never_read_again() -> None:
    """Once every reserved stage is spent, no wish casts another vote in a cell: it would be a test at a spent level."""
    model = broken_at(SMALL, "z-taper", [0.7], 0.1)
    before = certify(model, SMALL, "z-taper", 0.7, Options(budget=Budget(samples=2_000)))
    path = worst(before)
    spent = continued(before, model, [path], until=10**9)
    facts = Subject.of(spent).cell(path)
    sizes = spent.statistics.sizes
    assert [n for n, _ in facts.readings] == sizes[: len(facts.readings)]
    assert facts.state == "failed"
    assert len(facts.readings) == len(sizes)
    again = continued(spent, model, [path], until=10**9)
    assert again.samples == spent.samples
    assert Subject.of(again).cell(path) == facts


def test_a_group_that_is_certified_stays_so() -> None:
    model, cloud, transform, radius, options = QUESTIONS["group"]()
    before = certify(model, cloud, transform, radius, options)
    after = continued(before, model)
    assert (before.verdict, after.verdict) == ("certified", "certified")
    assert after.samples == before.samples


class LaterVotes(DrawnVotes):
    """Votes of a continued run: draws of their own, as the noise of a longer sample is."""

    opened = 0

    def __init__(self, *args: Any, seed: int, **how: Any) -> None:
        LaterVotes.opened += 1
        super().__init__(*args, seed=10**6 + LaterVotes.opened, **how)


ALPHA, RUNS = 0.1, 250


def wrongly_certified(patch: pytest.MonkeyPatch, statistics: Literal["staged", "anytime"]) -> int:
    """The claim is false by a hair, and somebody goes on until it passes or nothing is left to try.

    p_A of every cell at the border is just what its own test must not pass, so that nothing but the levels keeps
    the claim from being certified. After each look every cell that failed gets more votes; those that still fail are
    refined, and looked at again.
    """
    model = broken_at(SMALL, "z-taper", [0.3], 0.1)
    patch.setattr(sys.modules["tpc_core.diagnosis.reopen"], "Voter", LaterVotes)
    patch.setattr(LaterVotes, "opened", 0)
    wrong = 0
    with simulated_votes():
        for seed in range(RUNS):
            options = Options(alpha=ALPHA, seed=seed, budget=Budget(samples=500), statistics=statistics)
            found = certify(model, SMALL, "z-taper", 0.3, options)
            for until in (300, 900, 2_600, 7_800):
                found = stubborn(found, model, until=until)
            found = stubborn(found, model, refine=True)
            wrong += found.verdict == "certified"
    return wrong


def stubborn(certificate: Certificate, model: HalfSpace, **how: object) -> Certificate:
    """Go on with every cell that failed, where any did."""
    failing = [facts.path for facts in Subject.of(certificate).failing]
    if certificate.verdict != "undecided" or not failing:
        return certificate
    return continued(certificate, model, failing, samples=20_000, **how)


@pytest.mark.parametrize("statistics", ["staged", "anytime"])
def test_going_on_where_it_looks_best_is_wrong_at_most_alpha_of_the_time(
    monkeypatch: pytest.MonkeyPatch, statistics: Literal["staged", "anytime"]
) -> None:
    assert at_most(wrongly_certified(monkeypatch, statistics), RUNS, ALPHA)


def test_going_on_at_the_same_level_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wrong way: every further look, and every part of a refined cell, is tested at alpha again."""
    monkeypatch.setattr(StagedMonitor, "level", lambda monitor, stage, alpha: alpha)
    monkeypatch.setattr(PathLevels, "level", lambda levels, rank, alpha: alpha)
    assert exceeds(wrongly_certified(monkeypatch, "staged"), RUNS, ALPHA)


def test_a_reading_at_a_level_that_was_not_reserved_is_refused() -> None:
    """A certificate whose cell passes only at the whole level of the cell does not verify."""
    before = short_of_votes()
    facts = Subject.of(before).failing[0]
    alone = lower_bound(facts.n_a, facts.n, facts.level)
    assert alone > facts.lower_bound

    def cheat(content: Any) -> None:
        cell = next(cell for cell in content["evidence"]["cells"] if cell["path"] == facts.path)
        cell.update(lower_bound=alone)

    with pytest.raises(InvalidCertificate, match="bound"):
        verify(changed(before, cheat))
