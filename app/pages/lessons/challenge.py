"""The challenge: the smallest attack of the class on one object, ranked on the server for a room code."""

from __future__ import annotations

import html
import math

import streamlit as st

from app.components.escape_markdown import literal
from app.components.sliders import Posing, sliders
from app.pages.lessons import live
from app.pages.lessons.controls import choose_object
from app.pages.lessons.frame import posed_object, says
from app.pages.lessons.state import ROOM_OBJECT, put_room, room
from app.server import cache
from app.server.challenge import Entry, rooms
from app.server.visitors import visitors
from app.session.pose import moved
from app.words import class_words, words
from tpc_core import parse_transform
from tpc_core.errors import TpcError

TRANSFORM = parse_transform("z-twist+z-taper")
SCALES = (90.0, 0.5)
"""A twist of 90 degrees counts as much as a taper of 0.5: size 100."""
_POLL = 3.0
RESTS_AFTER = 300.0
"""Seconds without a new attack after which pages stop asking for the list: a tab that was forgotten costs nothing."""
_KEY = "challenge"


def size_of(values: tuple[float, ...]) -> float:
    """How large an attack is, from 0; 100 is a twist of 90 degrees, or a taper of 0.5."""
    parts = [value / scale for value, scale in zip(values, SCALES, strict=True)]
    return 100 * math.hypot(*parts)


def show() -> None:
    """Join a room, or play in it."""
    code = room()
    notice = st.session_state.pop(f"{_KEY}_notice", "")
    if notice:
        st.warning(literal(notice))
    try:
        spec = rooms().object_of(code) if code else ""
    except TpcError as error:
        st.warning(literal(error))
        spec = ""
    if not spec:
        _door()
        return
    left, right = st.columns([4.4, 7], gap="medium")
    values = tuple(float(v) for v in st.session_state.get(f"{_KEY}_values", (0.0, 0.0)))
    stamp = int(st.session_state.get(f"{_KEY}_stamp", 0))
    with left:
        st.markdown(f"## {words('challenge.room', code=html.escape(code))}")
        st.markdown(words("challenge.intro"))
        sliders(
            TRANSFORM.parameters,
            values,
            key=f"{_KEY}_drag",
            shape=_KEY,
            epoch=0,
            stamp=stamp,
            on_move=_move,
            poses=Posing.all_of(TRANSFORM),
        )
        said, truth = _answer(spec, values), str(live.cloud(spec).label)
        name = class_words(said)
        size = size_of(values)
        if said == truth:
            says(words("challenge.says_right", name=name, size=size), right=True)
        else:
            says(words("challenge.says_wrong", name=name, size=size), right=False)
        called = st.text_input(words("challenge.name"), max_chars=20, key=f"{_KEY}_name")
        submit = words("challenge.submit")
        pressed = st.button(submit, type="primary", key=f"{_KEY}_submit", disabled=said == truth)
        if pressed and said != truth:  # a browser that was changed presses what is disabled
            _submit(code, called, values, said)
        st.button(words("challenge.leave"), key=f"{_KEY}_leave", on_click=put_room, args=("",))
    with right:
        posed_object(spec, live.POINTS, TRANSFORM, values, key=f"{_KEY}_cloud", share=0.6, stamp=stamp)
        resting = rooms().rests(code) > RESTS_AFTER
        st.fragment(_ranking, run_every=None if resting else _POLL)(code, resting)


def _door() -> None:
    st.markdown(f"## {words('challenge.who')}")
    join, begin = st.columns(2, gap="large")
    with join, st.form("challenge_join"):
        st.markdown(words("challenge.join_intro"))
        st.text_input(words("challenge.code"), max_chars=8, key=f"{_KEY}_code")
        st.form_submit_button(words("challenge.join"), type="primary", on_click=_join)
    with begin:
        st.markdown(words("challenge.open_intro"))
        spec = choose_object(ROOM_OBJECT, live.fragile(live.NOISE_MODEL))
        st.button(words("challenge.open"), key=f"{_KEY}_new", on_click=_open, args=(spec,))


def _join() -> None:
    code = str(st.session_state.get(f"{_KEY}_code", ""))
    try:
        rooms().object_of(code)
        put_room(code)
    except TpcError as error:
        st.session_state[f"{_KEY}_notice"] = str(error)


def _open(spec: str) -> None:
    try:
        put_room(rooms().open(spec, visitors().whose(str(st.session_state["visitor"]))))
    except TpcError as error:
        st.session_state[f"{_KEY}_notice"] = str(error)


def _move() -> None:
    report = st.session_state[f"{_KEY}_drag"].move
    given = report.get("values") if report else None
    if not isinstance(given, list) or len(given) != len(TRANSFORM.parameters):
        return
    pairs = zip(TRANSFORM.parameters, given, strict=True)
    values = tuple(min(p.high, max(p.low, float(v))) for p, v in pairs)
    st.session_state[f"{_KEY}_values"] = values
    st.session_state[f"{_KEY}_stamp"] = int(report.get("stamp", 0))


def _answer(spec: str, values: tuple[float, ...]) -> str:
    """The class that the plain network gives the pose; the server asks it, whatever the browser shows."""
    posed = moved(TRANSFORM, values, live.cloud(spec).points)
    return str(cache.model(live.NOISE_MODEL).classes[live.answer(live.NOISE_MODEL, posed)])


def _submit(code: str, name: str, values: tuple[float, ...], says_now: str) -> None:
    try:
        visitor = str(st.session_state["visitor"])
        machine = visitors().whose(visitor)[1]
        better = rooms().submit(code, visitor, name, size_of(values), values, says_now, machine)
    except TpcError as error:
        st.warning(literal(error))
        return
    st.toast(words("challenge.better") if better else words("challenge.worse"))


def _ranking(code: str, resting: bool) -> None:
    """The list, as it grows."""
    try:
        entries = rooms().ranking(code)
        if (rooms().rests(code) > RESTS_AFTER) != resting:
            st.rerun()  # the pace changes
    except TpcError as error:
        st.caption(literal(error))
        return
    if resting:
        st.button(words("challenge.refresh"), key=f"{_KEY}_refresh")  # a click draws the list again
    if not entries:
        st.caption(words("challenge.nobody"))
        return
    rows = "".join(_row(place, entry) for place, entry in enumerate(entries[:12], start=1))
    titles = (
        words("challenge.col_place"),
        words("challenge.col_name"),
        words("challenge.col_size"),
        words("challenge.col_attack"),
        words("challenge.col_says"),
    )
    head = "".join(f"<th>{title}</th>" for title in titles)
    st.html(f'<table class="tpc-ranking"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>')


def _row(place: int, entry: Entry) -> str:
    what = TRANSFORM.describe(TRANSFORM.from_edge(entry.values).numpy())
    cells = [str(place), entry.name, f"{entry.size:.1f}", what, class_words(entry.says)]
    return "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>"
