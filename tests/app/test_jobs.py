"""Runs belong to the process: they can be paused, cancelled and continued, share the device, and stay private."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.figures.margins import margin_map
from app.figures.theme import theme_of
from app.server.engine import engine_of
from app.server.jobs import FORGOTTEN_AFTER, JobBoard, JobView, Request, TooManyJobs
from app.server.jobs.admission import PER_VISITOR
from tests.engines.models import Broken, Gate, Gated, until
from tpc_core import Budget, Options, Question, load_model, load_object, verify
from tpc_core.errors import InvalidValue
from tpc_core.votes import Voter


def request(model, cloud, transform: str = "z-taper", radius: float | str = 0.2, **options) -> Request:
    asked = Question.of(model.name, "gallery:blob", len(cloud), transform, radius, Options(**options))
    return Request("a blob", asked, model, cloud)


def raised(asked: Request, samples: int) -> Request:
    """The same question with a larger budget."""
    options = replace(asked.question.options, budget=Budget(samples=samples))
    return replace(asked, question=replace(asked.question, options=options))


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    made = Gate(tmp_path / "gate")
    yield made
    made.let(1_000_000)


@pytest.fixture
def board(engine) -> JobBoard:
    return JobBoard(engine)


def finished(board: JobBoard, model, cloud, **more) -> JobView:
    job = board.submit("me", request(model, cloud, **more))
    job.join(120)
    return job.view()


def test_a_run_ends_with_a_certificate_that_verifies(sure, cloud, board) -> None:
    view = finished(board, sure, cloud)
    assert view.status == "done"
    assert view.certificate is not None
    assert view.certificate.verdict == "certified"
    verify(view.certificate)
    assert view.covered == pytest.approx(1.0)
    assert view.samples == view.certificate.samples
    assert {leaf.state for leaf in view.leaves} == {"passed"}


def test_no_vote_of_a_run_is_cast_in_this_process(sure, cloud, board, monkeypatch) -> None:
    def forbidden(*_: object) -> None:
        raise AssertionError("a vote in the server's process")

    monkeypatch.setattr(Voter, "count_here", forbidden)
    view = finished(board, sure, cloud)
    assert view.status == "done", view.message
    assert view.samples > 0


def test_cells_fill_in_while_the_run_goes_on(sure, cloud, board, gate) -> None:
    slow = Gated(sure, gate)
    job = board.submit("me", request(slow, cloud))
    states = set()
    given = 0
    while job.live:
        until(lambda: gate.passes > given or not job.live)  # noqa: B023
        states |= {view.state for view in job.view().cells}
        gate.let(1)
        given += 1
    job.join(60)
    assert {"testing", "passed"} <= states


def test_a_cancelled_run_keeps_its_votes_and_can_be_continued(sure, cloud, board, gate) -> None:
    slow = Gated(sure, gate)
    job = board.submit("me", request(slow, cloud, radius=0.5))
    gate.feed(lambda: any(view.n for view in job.view().cells))
    job.cancel()
    gate.let(10_000)
    job.join(60)
    stopped = job.view()
    assert stopped.status == "cancelled"
    assert stopped.certificate is not None
    assert stopped.certificate.verdict == "undecided"
    again = board.submit("me", job.request, stopped.certificate)
    again.join(120)
    whole = finished(JobBoard(board.engine), sure, cloud, radius=0.5)
    assert again.view().certificate.verdict == "certified"
    # The same cells have the same votes, whoever cast them first; the order of the search may differ.
    mine, theirs = again.view().certificate.votes().tallies, whole.certificate.votes().tallies
    shared = set(mine) & set(theirs)
    assert "select" in shared
    assert len(shared) > 1
    for place in shared:
        size = min(mine[place].size, theirs[place].size)
        assert (mine[place].blocks[:size] == theirs[place].blocks[:size]).all()


def test_a_paused_run_casts_no_votes_until_it_goes_on(sure, cloud, board, gate) -> None:
    slow = Gated(sure, gate)
    job = board.submit("me", request(slow, cloud, radius=0.5))
    gate.feed(lambda: job.view().samples > 0)
    job.pause()
    gate.feed(lambda: job.view().status == "paused")
    samples = job.view().samples
    gate.let(10_000)
    time.sleep(0.05)
    assert job.view().samples == samples
    job.resume()
    job.join(120)
    assert job.view().certificate.verdict == "certified"


def test_a_budget_that_ends_can_be_raised(sure, cloud, board) -> None:
    poor = board.submit("me", request(sure, cloud, radius=0.5, budget=Budget(samples=250)))
    poor.join(60)
    view = poor.view()
    assert view.certificate.verdict == "undecided"
    assert view.certificate.stopped == "budget"
    job = board.submit("me", raised(poor.request, 100_000), view.certificate)
    job.join(120)
    assert job.view().certificate.verdict == "certified"


def test_another_question_about_the_same_object_reads_the_same_votes(sure, cloud, board) -> None:
    first = finished(board, sure, cloud, radius=0.5)
    smaller = finished(board, sure, cloud, radius=0.3)
    surer = finished(board, sure, cloud, radius=0.5, alpha=0.0001)
    assert smaller.certificate.verdict == surer.certificate.verdict == "certified"
    assert smaller.samples == first.samples  # nothing was missing
    assert {leaf.state for leaf in smaller.leaves} == {"passed"}
    before, after = first.certificate.votes().tallies, surer.certificate.votes().tallies
    assert set(before) <= set(after)
    for place, tally in before.items():
        assert (after[place].blocks[: tally.size] == tally.blocks).all()
    verify(surer.certificate)


def test_shapes_of_region_are_counted_over_all_runs_of_a_visitor(sure, cloud, board) -> None:
    asked = {"transform": "z-taper+z-rotation"}
    first = finished(board, sure, cloud, radius="taper=0.1,rotation=2", **asked)
    second = finished(board, sure, cloud, radius="taper=0.1,rotation=4", **asked)
    again = finished(board, sure, cloud, radius="taper=0.05,rotation=1", **asked)
    assert [view.certificate.family for view in (first, second, again)] == [1, 2, 1]
    stranger = board.submit("them", request(sure, cloud, radius="taper=0.1,rotation=4", **asked))
    stranger.join(120)
    assert stranger.view().certificate.family == 1


def test_two_runs_never_write_into_one_ledger_at_once(sure, cloud, board, gate) -> None:
    slow = Gated(sure, gate)
    asked = {"transform": "z-taper+z-rotation"}
    first = board.submit("me", request(slow, cloud, radius="taper=0.1,rotation=2", **asked))
    gate.feed(lambda: first.view().samples > 0)
    second = board.submit("me", request(slow, cloud, radius="taper=0.1,rotation=4", **asked))
    assert second.view().samples == 0
    assert second.view().behind
    gate.let(100_000)
    first.join(60), second.join(60)
    assert [job.view().certificate.family for job in (first, second)] == [1, 2]


def test_a_run_that_waits_for_the_ledger_of_another_can_be_cancelled(sure, cloud, board, gate) -> None:
    slow = Gated(sure, gate)
    first = board.submit("me", request(slow, cloud))
    gate.feed(lambda: first.view().samples > 0)
    second = board.submit("me", request(slow, cloud, radius=0.3))
    second.cancel()
    second.join(60)
    assert second.view().status == "cancelled"
    gate.let(100_000)
    first.join(60)
    assert first.view().certificate.verdict == "certified"


def test_an_additive_run_ends_beyond_what_it_needs(twister, cloud, engine) -> None:
    view = finished(JobBoard(engine), twister, cloud, transform="z-twist", radius=20.0)
    assert view.certificate.verdict == "certified"
    assert view.counts[-1].lower_bound > view.proof.claim.threshold.q


def test_a_question_that_cannot_be_answered_fails_with_its_reason(twister, cloud, board) -> None:
    view = finished(board, twister, cloud, transform="z-taper")
    assert view.status == "failed"
    assert "cannot certify z-taper" in view.message


def test_a_crash_is_shown_and_not_lost(sure, cloud, board) -> None:
    view = finished(board, Broken(sure.smoothing), cloud)
    assert view.status == "failed"
    assert "no such kernel" in view.message


def test_a_worker_that_dies_costs_the_run_a_line_and_nobody_else_anything(sure, cloud, board, gate) -> None:
    slow = Gated(sure, gate)
    job = board.submit("me", request(slow, cloud))
    gate.feed(lambda: job.view().samples > 0)
    (worker,) = board.engine.processes
    os.kill(worker, signal.SIGKILL)
    gate.let(100_000)
    assert job.join(60)
    view = job.view()
    assert view.status == "done"
    assert view.certificate.verdict == "certified"
    assert "worker process stopped" in view.notice
    assert finished(board, sure, cloud, radius=0.1).notice == ""


def test_the_environment_chooses_the_engine() -> None:
    with pytest.raises(InvalidValue, match="local or ray"):
        engine_of({"TPC_ENGINE": "spark"})
    with pytest.raises(InvalidValue, match="TPC_WORKERS is a number"):
        engine_of({"TPC_WORKERS": "many"})
    assert engine_of({"TPC_WORKERS": "3"}).count == 3


def test_a_visitor_never_sees_the_runs_of_another(sure, cloud, board) -> None:
    mine = board.submit("me", request(sure, cloud))
    theirs = board.submit("them", request(sure, cloud))
    assert board.of("me") == [mine]
    assert board.get("me", theirs.id) is None
    assert board.get("me", mine.id) is mine
    assert board.get("me", None) is None
    mine.join(60), theirs.join(60)


def test_the_number_of_runs_is_bounded(sure, cloud, board, gate) -> None:
    slow = Gated(sure, gate)
    jobs = [board.submit("me", request(slow, cloud, radius=0.1 * n)) for n in range(1, PER_VISITOR + 1)]
    with pytest.raises(TooManyJobs):
        board.submit("me", request(slow, cloud))
    jobs.append(board.submit("them", request(slow, cloud)))
    for job in jobs:
        job.cancel()
    gate.let(100)
    for job in jobs:
        assert job.join(60)


def test_the_second_in_line_sees_its_place_and_gets_its_turn(sure, cloud, board, gate, monkeypatch) -> None:
    slow = Gated(sure, gate)
    monkeypatch.setattr(board.engine, "quantum", 0.0)
    first = board.submit("me", request(slow, cloud))
    until(lambda: first.view().status == "running")
    second = board.submit("them", request(slow, cloud))
    until(lambda: second.view().position == 1)
    assert second.view().status == "queued"
    gate.let(6)
    until(lambda: second.view().samples > 0 or first.view().position == 1)
    gate.let(10_000)
    first.join(60), second.join(60)
    assert first.view().status == second.view().status == "done"


def test_the_run_of_a_visitor_who_left_is_stopped_after_a_while(sure, cloud, board, gate) -> None:
    slow = Gated(sure, gate)
    job = board.submit("gone", request(slow, cloud))
    kept = board.submit("here", request(sure, cloud))
    present = {"here"}.__contains__
    board.sweep(present, now=0.0)
    board.sweep(present, now=FORGOTTEN_AFTER / 2)
    assert job.live
    board.sweep(present, now=FORGOTTEN_AFTER + 1)
    gate.let(1000)
    job.join(60), kept.join(60)
    assert job.view().status == "cancelled"
    assert kept.view().status == "done"
    board.sweep(present, now=FORGOTTEN_AFTER + 2)
    assert board.of("gone") == []
    assert board.of("here") == [kept]


def test_a_visitor_who_comes_back_in_time_keeps_the_run(sure, cloud, board) -> None:
    job = board.submit("me", request(sure, cloud))
    board.sweep(lambda _: False, now=0.0)
    board.sweep(lambda _: True, now=FORGOTTEN_AFTER)
    board.sweep(lambda _: False, now=FORGOTTEN_AFTER + 1)
    job.join(60)
    assert job.view().status == "done"
    assert board.of("me") == [job]


def test_a_certain_run_needs_no_votes_and_fills_its_map_with_margins(board) -> None:
    model, blob = load_model("pointnet64-noise"), load_object("gallery:chair-1", points=48)
    job = board.submit("me", request(model, blob, "z-taper", 0.2, proof="certain"))
    job.join(120)
    view = job.view()
    assert view.status == "done", view.message
    assert view.certificate is not None
    assert view.certificate.certain is not None
    assert view.samples == 0
    assert len(view.boxes) == len(view.certificate.certain.margins)
    assert view.bounded == view.certificate.certain.bounded
    figure = margin_map(view.boxes, view.request.transform, np.array([0.2]), theme_of("light"))
    assert len(figure["data"][0]["hovertext"]) == len(view.boxes)


def test_a_refuted_certain_run_shows_its_counterexample(board) -> None:
    model, blob = load_model("pointnet64-noise"), load_object("gallery:chair-1", points=48)
    job = board.submit("me", request(model, blob, "x-rotation", 90, proof="certain"))
    job.join(120)
    view = job.view()
    assert view.certificate is not None
    assert view.certificate.verdict == "refuted"
    assert view.attack is not None
    assert view.certificate.certain is not None
    assert list(view.attack) == view.certificate.certain.counterexample.parameter
