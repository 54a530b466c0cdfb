"""A remedy that casts votes does what it says: where it says, for about its price, and the certificate stays sound.

That going on never costs the guarantee is simulated in tests/certify/test_going_on.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.certificate.made import QUESTIONS, SMALL, genuine, model_of
from tests.classifiers import broken_at, marked_cloud, parameter_model
from tests.explain.test_causes import NARROW, short_of_votes
from tpc_core.case_view import CaseView
from tpc_core.certificate import Certificate
from tpc_core.certify import Budget, Done, Focus, Options, certify
from tpc_core.errors import InvalidCertificate, UnsupportedRequest
from tpc_core.explain import continue_run, explain_cell, explain_certificate
from tpc_core.verify import replay, verify
from tpc_core.votes import BaseClassifier


def continued(
    certificate: Certificate, model: BaseClassifier, focus: Focus | None = None, **how: object
) -> Certificate:
    *_, last = continue_run(certificate, model, focus, **how)  # type: ignore[arg-type]
    assert isinstance(last, Done)
    verify(last.certificate)
    return last.certificate


def test_more_votes_turn_an_open_cell_into_a_passed_one() -> None:
    before = short_of_votes()
    view = CaseView.of(before)
    cell = view.failing[0]
    remedy = explain_cell(view, cell).remedies[0]
    assert (cell.state, remedy.action) == ("open", "more-votes")
    after = continued(before, NARROW, remedy.focus)
    assert CaseView.of(after).cell(cell.path).state == "passed"
    assert after.samples - before.samples <= remedy.votes


def test_a_cell_is_refined_on_demand() -> None:
    before = short_of_votes()
    path = CaseView.of(before).failing[0].path
    view = CaseView.of(continued(before, NARROW, Focus((path,), refine=True)))
    assert view.cell(path).state == "refined"
    assert all(c.state == "passed" for c in view.leaves if c.path.startswith(path))


def test_only_the_chosen_cells_are_voted_on() -> None:
    before = short_of_votes()
    chosen = CaseView.of(before).failing[0].path
    after = continued(before, NARROW, Focus((chosen,), until=7_776))
    old, new = CaseView.of(before).by_path, CaseView.of(after).by_path
    assert all(new[path].n == cell.n for path, cell in old.items() if path != chosen)
    assert after.samples - before.samples == new[chosen].n - old[chosen].n > 0


def test_the_primary_remedy_finishes_the_whole_run_for_about_what_it_says() -> None:
    before = short_of_votes()
    remedy = explain_certificate(CaseView.of(before)).primary
    assert remedy is not None
    assert (remedy.action, remedy.focus) == ("go-on", None)
    after = continued(before, NARROW, remedy.focus)
    assert after.verdict == "certified"
    spent = after.samples - before.samples
    assert spent / 2 < remedy.votes < 2 * spent
    assert replay(after, NARROW) == after.samples
    assert explain_certificate(CaseView.of(after)).primary is None


def test_a_run_that_ended_before_its_class_was_known_says_what_it_takes() -> None:
    before, model = genuine("nothing"), model_of("nothing")
    remedy = explain_certificate(CaseView.of(before)).primary
    assert remedy is not None
    assert 0 < remedy.votes < math.inf
    after = continued(before, model, remedy.focus)
    assert after.verdict == "certified"
    assert after.samples / 4 < remedy.votes < 4 * after.samples


def test_one_lost_cell_does_not_keep_the_rest_from_being_known() -> None:
    """The primary remedy says beforehand that some cells are beyond hope, and what the others take."""
    model = broken_at(SMALL, "z-taper", [0.62], 0.03)
    before = certify(model, SMALL, "z-taper", 0.62, Options(patience=300))
    view = CaseView.of(before)
    assert before.verdict == "undecided"
    assert view.untested
    remedy = explain_certificate(view).primary
    assert remedy is not None
    assert remedy.action == "go-on"
    after = CaseView.of(continued(before, model, remedy.focus))
    assert not after.untested
    assert after.certified_part > view.certified_part


@pytest.mark.parametrize(
    "kind", ["parameter undecided", "cover undecided", "cover largest", "parameter largest"]
)
def test_every_kind_can_go_on(kind: str) -> None:
    before = genuine(kind)
    after = continued(before, model_of(kind), samples=20_000)
    assert before.samples <= after.samples <= before.samples + 20_000
    if before.question.options.largest:
        assert all(after.radius[name] >= value for name, value in before.radius.items())


def test_a_single_probability_goes_on_as_far_as_its_remedy_says() -> None:
    model, cloud = parameter_model("z-rotation", [15], [1], math.radians(23)), marked_cloud("z-rotation")
    before = certify(model, cloud, "z-rotation", 20, Options(budget=Budget(samples=700)))
    assert before.verdict == "undecided"
    remedy = explain_certificate(CaseView.of(before)).primary
    assert remedy is not None
    assert remedy.focus is not None
    after = continued(before, model, remedy.focus)
    assert after.verdict == "certified"


def test_a_group_goes_on_until_its_top_class_is_clear() -> None:
    model, cloud, transform, radius, options = QUESTIONS["group"]()
    close = replace(model, shares=(0.45, 0.4, 0.15))  # type: ignore[call-arg]
    before = certify(close, cloud, transform, radius, replace(options, budget=Budget(samples=300)))
    assert before.verdict == "undecided"
    after = continued(before, close)
    assert after.verdict == "certified"


def test_points_get_the_votes_that_they_lack() -> None:
    """Two thousand votes are the usual sample; a point at the border gets more where somebody asks for them."""
    before, model = genuine("points"), model_of("points")
    view = CaseView.of(before)
    after = continued(before, model, Focus((), until=view.leaves[0].n + 320))
    assert CaseView.of(after).leaves[0].n == view.leaves[0].n + 320


def test_a_refuted_claim_and_another_model_are_refused() -> None:
    with pytest.raises(UnsupportedRequest, match="refuted"):
        continue_run(genuine("cover refuted"), model_of("cover refuted"))
    with pytest.raises(InvalidCertificate, match="made with"):
        continue_run(short_of_votes(), replace(NARROW, digest="another"))


def test_a_stop_leaves_a_valid_certificate() -> None:
    calls: Iterator[bool] = iter([False, False, False])
    after = continued(short_of_votes(), NARROW, cancelled=lambda: next(calls, True))
    assert after.stopped == "cancelled"
