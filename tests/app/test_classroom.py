"""A class on one server: who is here, whether the queue moves, and lists that rest when nobody plays."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from app.pages.classroom.page import STUCK, sentence
from app.server.challenge import Rooms
from app.server.jobs import Activity, JobBoard
from app.server.pulse import Pulse
from app.server.visitors import Visitors
from tests.engines.models import growing, until
from tpc_core.engines import LocalEngine, Steps


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_queue_moves_while_messages_come_and_is_said_to_be_stuck_when_none_do() -> None:
    clock = Clock()
    pulse = Pulse(clock)
    clock.now = 5.0
    assert pulse.rests(Activity(1, 2, 7)) == 0
    clock.now = 5.0 + STUCK
    assert pulse.rests(Activity(1, 2, 7)) == STUCK
    assert "Nothing has moved" in sentence(Activity(1, 2, 7), STUCK)
    assert sentence(Activity(1, 2, 8), pulse.rests(Activity(1, 2, 8))) == "The queue is moving."
    clock.now += STUCK
    assert pulse.rests(Activity(0, 0, 8)) == 0
    assert "at once" in sentence(Activity(0, 0, 8), 0)


def test_the_board_counts_what_is_under_way(engine: LocalEngine) -> None:
    board = JobBoard(engine)
    assert board.activity() == Activity(0, 0, 0)
    task = board.start("a", "k", "t", Steps(growing, (3,), 3))
    until(lambda: not task.live)
    done = board.activity()
    assert (done.running, done.waiting) == (0, 0)
    assert done.messages > 0


def test_everybody_with_an_open_page_is_here_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from app.server import visitors as room

    class Runtime:
        alive = ("s1", "s2", "s3")

        def is_active_session(self, session: str) -> bool:
            return session in self.alive

    monkeypatch.setattr(room, "exists", lambda: True)
    monkeypatch.setattr(room, "get_instance", Runtime)
    everybody = Visitors()
    for visitor, session in (("a", "s1"), ("a", "s2"), ("b", "s3"), ("c", "s4")):
        everybody.note(visitor, session)
    assert everybody.here() == 2  # c has closed the page


def test_the_page_says_it_in_words() -> None:
    def numbers() -> None:
        import streamlit as st

        from app.pages.classroom.page import _numbers

        st.session_state["visitor"] = "tester"
        _numbers(False)

    app = AppTest.from_function(numbers, default_timeout=30).run()
    assert not app.exception
    assert [metric.label for metric in app.metric] == ["People here", "At work", "Waiting"]


def test_the_list_of_a_room_rests_when_nobody_plays() -> None:
    clock = Clock()
    rooms = Rooms(clock)
    code = rooms.open("gallery:lamp-1")
    clock.now = 400.0
    assert rooms.rests(code) == 400.0
    rooms.submit(code, "a", "", 10.0, (10.0, 0.0), "vase")
    clock.now = 430.0
    assert rooms.rests(code) == 30.0
