"""A visitor whose run was cut off is offered to continue it, on the page where it was asked."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.server.jobs import Request, SavedRuns
from app.server.jobs.saved import keep, read_saved
from app.server.protection.cookie import kept_secret
from app.server.visitors import board
from tests.faults.disks import files, fill, mounted
from tpc_core import Budget, Certificate, Options, Question, load_model, load_object, verify
from tpc_core.certify import certify_events
from tpc_core.errors import CannotWrite, InvalidFile


def script() -> None:
    import streamlit as st

    from app.pages.certify.unfinished import offer_unfinished

    st.session_state.setdefault("visitor", "me")
    offer_unfinished("me")


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of a shipped model that was cut off after some of its cells."""
    monkeypatch.setenv("TPC_RUNS", str(tmp_path))
    board.clear()
    model, cloud = load_model("pointnet64-noise"), load_object("gallery:chair-1", points=64)
    options = Options(complete=True, budget=Budget(samples=50_000))
    question = Question.of(
        model.name, "gallery:chair-1", len(cloud), "z-taper+z-rotation", "taper=0.1,rotation=8", options
    )
    request = Request("chair", question, model, cloud)
    monkeypatch.setattr(import_module("tpc_core.certify"), "SAVE_SECONDS", 0.0)
    so_far: list[Certificate] = []
    for _ in certify_events(model, cloud, question.transform, question.radius, options, keep=so_far.append):
        if len(so_far) == 3:
            break
    monkeypatch.undo()
    monkeypatch.setenv("TPC_RUNS", str(tmp_path))
    path = SavedRuns(tmp_path).place("me", request)
    assert path is not None
    keep(path, request, so_far[-1].to_json())
    return path


def test_the_run_can_be_continued_and_ends_with_a_verdict(saved: Path) -> None:
    page = AppTest.from_function(script, default_timeout=60).run()
    assert "in the middle of chair" in page.text[0].value
    page.button(key=f"go_on_{saved.stem}").click().run()
    assert not page.exception
    (job,) = board().of("me")
    job.join(120)
    view = job.view()
    assert view.status == "done", view.message
    assert view.certificate is not None
    assert view.certificate.verdict == "certified"
    assert list(saved.parent.iterdir()) == []


def test_the_whole_question_is_kept(saved: Path) -> None:
    run = read_saved(saved)
    again = run.request(load_model)
    assert again.question.object == "gallery:chair-1"
    assert again.question.options == Options(complete=True, budget=Budget(samples=50_000))
    assert again.question.radius == {"taper": 0.1, "rotation": 8.0}
    assert verify(run.certificate).verdict == "undecided"


def test_nothing_is_cleared_away_where_the_run_cannot_be_continued(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too many runs are under way: the visitor is told so, and what was saved stays where it is."""
    page = AppTest.from_function(script, default_timeout=60).run()
    monkeypatch.setattr("app.server.jobs.admission.PER_VISITOR", 0)
    page.button(key=f"go_on_{saved.stem}").click().run()
    assert not page.exception
    assert "runs under way" in page.session_state["notice"]
    assert read_saved(saved).certificate.samples > 0
    assert page.button(key=f"go_on_{saved.stem}")


def test_a_continued_run_writes_over_its_file_and_never_leaves_less(saved: Path) -> None:
    before = read_saved(saved).certificate
    run = read_saved(saved)
    job = board().submit("me", run.request(load_model), run.certificate, saved)
    assert saved.exists() or not job.live
    while job.live:
        if saved.exists():
            with suppress(InvalidFile):  # it ended in this very moment
                assert read_saved(saved).certificate.samples >= before.samples
    job.join(60)
    assert job.view().status == "done"
    assert not saved.exists()


def test_the_run_of_a_visitor_who_left_is_kept_for_them(saved: Path) -> None:
    run = read_saved(saved)
    saved.unlink()
    job = board().submit("me", run.request(load_model))
    job.gone_since = 0.0
    job.cancel()
    job.join(60)
    (found,) = board().saved.unfinished("me")
    assert found.certificate == job.view().certificate


def test_the_run_can_be_forgotten_and_nobody_else_sees_it(saved: Path) -> None:
    assert board().saved.unfinished("somebody else") == []
    page = AppTest.from_function(script, default_timeout=60).run()
    page.button(key=f"drop_{saved.stem}").click().run()
    assert not page.exception
    assert not saved.exists()
    assert not page.text


def test_a_clock_that_jumps_ahead_clears_nothing_away(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A month passes by the clock of the day, and none by the one that cannot be set."""
    days = 30 * 24 * 3600.0
    real = time.time
    monkeypatch.setattr("app.server.jobs.saved.time.time", lambda: real() + days)
    assert len(SavedRuns(saved.parents[1]).unfinished("me")) == 1
    assert saved.exists()


def test_a_run_that_is_really_old_is_cleared_away(saved: Path) -> None:
    past = time.time() - 30 * 24 * 3600.0
    os.utime(saved, (past, past))
    assert SavedRuns(saved.parents[1]).unfinished("me") == []
    assert not saved.exists()


def test_a_full_disk_leaves_no_half_of_a_secret(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=64k") as disk:
        fill(disk)
        with pytest.raises(CannotWrite):
            kept_secret(disk / ".secret")
        assert files(disk) == {"ballast"}
        (disk / "ballast").unlink()
        assert kept_secret(disk / ".secret") == kept_secret(disk / ".secret")
