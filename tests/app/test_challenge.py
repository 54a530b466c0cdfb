"""The challenge: rooms are anonymous, bounded, slow enough, and forgotten after a day."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from app.pages.lessons.challenge import TRANSFORM, size_of
from app.server import challenge
from app.server.challenge import (
    FORGOTTEN_AFTER,
    IN_PLAY,
    ROOMS_OF_ONE,
    RoomIsFull,
    Rooms,
    TooFast,
    clean_name,
)
from tpc_core.errors import UnknownName


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_the_smallest_attack_of_each_player_is_ranked(clock: Clock) -> None:
    rooms = Rooms(clock)
    code = rooms.open("gallery:lamp-1")
    for visitor, size in (("a", 30.0), ("b", 20.0), ("a", 10.0), ("b", 25.0)):
        clock.now += 2
        rooms.submit(code.lower(), visitor, "", size, (size, 0.0), "vase")
    assert [(entry.name, entry.size) for entry in rooms.ranking(code)] == [
        ("Player 1", 10.0),
        ("Player 2", 20.0),
    ]


def test_a_room_is_forgotten_after_a_day(clock: Clock) -> None:
    rooms = Rooms(clock)
    code = rooms.open("gallery:lamp-1")
    clock.now = FORGOTTEN_AFTER + 1
    with pytest.raises(UnknownName):
        rooms.ranking(code)


def test_nobody_submits_faster_than_a_hand(clock: Clock) -> None:
    rooms = Rooms(clock)
    code = rooms.open("gallery:lamp-1")
    rooms.submit(code, "a", "", 5.0, (5.0, 0.0), "vase")
    with pytest.raises(TooFast):
        rooms.submit(code, "a", "", 4.0, (4.0, 0.0), "vase")


def test_a_flood_of_rooms_shuts_nobody_out(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody opens rooms under many names; a teacher elsewhere still opens one, and keeps it."""
    monkeypatch.setattr(challenge, "ROOMS", 20)
    rooms = Rooms(clock)

    def flood() -> None:
        for number in range(60):
            clock.now += 0.1
            rooms.open("gallery:lamp-1", (f"fake{number}", "attacker"))

    flood()
    code = rooms.open("gallery:vase-1", ("teacher", "school"))
    flood()
    assert rooms.object_of(code) == "gallery:vase-1"
    assert len(rooms._rooms) <= 20


def test_one_visitor_has_a_few_rooms(clock: Clock) -> None:
    rooms = Rooms(clock)
    codes = [rooms.open("gallery:lamp-1", ("teacher", "school")) for _ in range(ROOMS_OF_ONE)]
    clock.now += 1
    rooms.submit(codes[0], "pupil", "", 5.0, (5.0, 0.0), "vase")
    rooms.open("gallery:lamp-1", ("teacher", "school"))
    assert rooms.object_of(codes[0])  # somebody plays there
    with pytest.raises(UnknownName):
        rooms.object_of(codes[1])


def test_a_room_that_is_played_in_is_not_closed_for_another(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(challenge, "ROOMS", 1)
    rooms = Rooms(clock)
    code = rooms.open("gallery:lamp-1")
    rooms.submit(code, "a", "", 5.0, (5.0, 0.0), "vase")
    with pytest.raises(RoomIsFull):
        rooms.open("gallery:lamp-1", ("b", "elsewhere"))
    clock.now += IN_PLAY
    rooms.open("gallery:lamp-1", ("b", "elsewhere"))


def test_a_room_full_of_invented_players_lets_others_in(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(challenge, "PLAYERS", 4)
    rooms = Rooms(clock)
    code = rooms.open("gallery:lamp-1")
    for number in range(4):
        rooms.submit(code, f"fake{number}", "", 50.0 + number, (5.0, 0.0), "vase", "attacker")
    with pytest.raises(RoomIsFull):
        rooms.submit(code, "fake9", "", 60.0, (5.0, 0.0), "vase", "attacker")
    rooms.submit(code, "pupil", "Ada", 90.0, (5.0, 0.0), "vase", "school")
    rooms.submit(code, "neighbour", "Bo", 20.0, (5.0, 0.0), "vase", "attacker")  # a smaller one always counts
    assert [entry.size for entry in rooms.ranking(code)] == [20.0, 50.0, 51.0, 90.0]


def test_names_are_short_and_printable() -> None:
    assert clean_name("  Ada\x00\n ") == "Ada"
    assert len(clean_name("x" * 1000)) == 20


def test_size_counts_both_parameters() -> None:
    assert size_of((90.0, 0.0)) == pytest.approx(100)
    assert size_of((0.0, 0.5)) == pytest.approx(100)
    assert len(TRANSFORM.parameters) == 2


def page_of_a_room(code: str) -> None:
    import streamlit as st

    from app.pages.lessons.page import page

    st.session_state["visitor"] = "player"
    st.session_state["lesson_challenge"] = "yes"
    st.session_state["lesson_room"] = code
    page()


def test_a_name_is_shown_as_it_is_written_and_is_no_markup() -> None:
    code = challenge.rooms().open("gallery:lamp-1")
    challenge.rooms().submit(code, "mallory", "<img src=x>", 5.0, (4.5, 0.0), "vase")
    app = AppTest.from_function(page_of_a_room, default_timeout=60, kwargs={"code": code}).run()
    assert not app.exception
    shown = "".join(str(each.proto.body) for each in app.get("html"))
    assert "&lt;img src=x&gt;" in shown
    assert "<img src=x>" not in shown


def test_an_attack_that_does_not_fool_the_model_is_not_taken() -> None:
    """The button is disabled then; a browser that was changed presses it all the same."""
    code = challenge.rooms().open("gallery:lamp-1")
    app = AppTest.from_function(page_of_a_room, default_timeout=60, kwargs={"code": code}).run()
    submit = app.button(key="challenge_submit")
    assert submit.disabled
    submit.proto.disabled = False
    submit.click().run()
    assert not app.exception
    assert challenge.rooms().ranking(code) == []
