"""A visitor whose run was cut off is offered to continue it, on the page where it was asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.jobs import Request, SavedRuns
from app.jobs.saved import keep
from app.visitors import board
from tpc_core import Certificate, Options, load_model, load_object, parse_transform
from tpc_core.certify import certify_events
from tpc_core.certify.keeping import kept


def script() -> None:
    import streamlit as st

    from app.widgets.unfinished import offer_unfinished

    st.session_state.setdefault("visitor", "me")
    offer_unfinished("me")


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of a shipped model that was cut off after some of its cells."""
    monkeypatch.setenv("TPC_RUNS", str(tmp_path))
    board.clear()
    model, cloud = load_model("pointnet64-noise"), load_object("gallery:chair-1", points=64)
    radius = {"taper": 0.1, "rotation": 8.0}
    request = Request(
        "chair", "gallery:chair-1", model, cloud, parse_transform("z-taper+z-rotation"), radius, Options()
    )
    question = (model, cloud, request.transform, radius, request.options)
    so_far: list[Certificate] = []
    for _ in kept(certify_events(*question), so_far.append, *question, every=0.0):
        if len(so_far) == 3:
            break
    path = SavedRuns(tmp_path).place("me", request)
    assert path is not None
    keep(path, request, so_far[-1])
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


def test_the_run_can_be_forgotten_and_nobody_else_sees_it(saved: Path) -> None:
    assert board().saved.unfinished("somebody else") == []
    page = AppTest.from_function(script, default_timeout=60).run()
    page.button(key=f"drop_{saved.stem}").click().run()
    assert not page.exception
    assert not saved.exists()
    assert not page.text
