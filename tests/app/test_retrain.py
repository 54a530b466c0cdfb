"""Retraining from Debug: for the owner of the server alone, one at a time, and it ends in before and after."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.server import trainings as room
from app.server.trainings import OneAtATime, Trainings
from app.server.visitors import board
from tests.app.test_debug import debug_page, needs_model
from tests.certificate.made import genuine
from tpc_core import Certificate, load_model
from tpc_core.errors import UnknownName

pytestmark = needs_model


class Stand:
    """A training that does as it is told."""

    def __init__(self, recipe: Any) -> None:
        self.recipe, self.state, self.message = recipe, "running", ""
        self.words, self.part, self.eta = "epoch 3 of 10", 0.25, 60.0

    @property
    def live(self) -> bool:
        return self.state == "running"

    def cancel(self) -> None:
        self.state = "cancelled"


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Iterator[Trainings]:
    monkeypatch.setattr(room, "Retraining", Stand)
    yield room.trainings()
    room.trainings()._started = None


def failed_run() -> Certificate:
    return genuine("cover undecided")


def opened(visitor: str) -> AppTest:
    from app.pages.debug.cases import keep

    certificate = failed_run()
    keep(visitor, "a failed run", certificate, load_model("pointnet64-noise"))
    app = AppTest.from_function(debug_page, default_timeout=60, kwargs={"visitor": visitor})
    app.session_state["debug_case"] = f"file:{certificate.checksum[:16]}"
    app.session_state["debug_panel"] = "Models"
    app.run()
    for _ in range(60):
        if app.get("button_group"):
            break
        app.run()
    assert not app.exception
    return app


def test_on_a_shared_server_it_is_a_sentence_and_no_button(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TPC_ADD", "0")
    app = opened("shared")
    assert not [button for button in app.button if button.key == "debug_retrain"]
    assert any("Only the owner" in caption.value for caption in app.caption)


def test_without_its_data_it_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, register: Trainings
) -> None:
    from app.pages.debug import retrain

    monkeypatch.setenv("TPC_ADD", "1")
    retrain._clouds.clear()

    def gone(recipe: object) -> int:
        raise UnknownName("modelnet40 was not found")

    monkeypatch.setattr(retrain, "clouds_shown", gone)
    app = opened("without data")
    assert any("not on this machine" in caption.value for caption in app.caption)
    retrain._clouds.clear()


def test_one_training_at_a_time(register: Trainings) -> None:
    recipe = SimpleNamespace(name="new")
    register.start("a", "case", recipe)  # type: ignore[arg-type]
    with pytest.raises(OneAtATime, match="new is being trained"):
        register.start("b", "case", recipe)  # type: ignore[arg-type]
    assert register.of("b") is None
    assert register.take("a") is None  # it has not ended
    register.stop()
    assert register.take("a") is not None
    assert register.take("a") is None


def test_it_is_started_watched_and_ends_in_before_and_after(
    monkeypatch: pytest.MonkeyPatch, register: Trainings
) -> None:
    from app.pages.debug import retrain

    monkeypatch.setenv("TPC_ADD", "1")
    retrain._clouds.clear()
    monkeypatch.setattr(retrain, "clouds_shown", lambda recipe: 100_000)
    visitor = "the owner"
    app = opened(visitor)
    button = app.button(key="debug_retrain")
    assert "about" in button.label
    button.click().run()
    assert not app.exception
    started = register.of(visitor)
    assert started is not None
    assert (started.training.recipe.initial, started.training.recipe.regions) == (
        "pointnet64-noise",
        [f"{failed_run().question.transform}:{next(iter(failed_run().question.radius.values()))!r}"],
    )
    app.run()
    assert any(button.key == "debug_stop_training" for button in app.button)
    # The new model is there: a shipped one stands for it.
    started.training.recipe = SimpleNamespace(name="pointnet64-l2")  # type: ignore[assignment]
    started.training.state = "done"  # type: ignore[misc]
    app.run()
    assert not app.exception
    assert register.of(visitor) is None
    deadline = time.monotonic() + 120
    while any(job.live for job in board().of(visitor)) and time.monotonic() < deadline:
        time.sleep(0.2)
    app.run()
    assert not app.exception
    assert app.session_state["debug_panel"] == "Compare"
    steps = [block.value for block in app.get("html") if "tpc-step" in str(block.value)]
    assert any("pointnet64-l2" in step for step in steps)
