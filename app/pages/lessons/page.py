"""Lessons: seven screens for a class, each with something to drag and one question."""

from __future__ import annotations

from types import ModuleType

import streamlit as st

from app.components.colour_key import colour_key
from app.pages.lessons import additive, attack_by_hand, cells, challenge, confidence, forms, rotations, voting
from app.pages.lessons.frame import heading, presenting, styled
from app.pages.lessons.notes import notes_page
from app.pages.lessons.progress import is_solved, keep_progress
from app.pages.lessons.state import CHALLENGE, LANGUAGE, LESSON, choice, linked, linked_challenge, put
from app.session import links
from app.words import LANGUAGES, language, words

LESSONS: dict[str, ModuleType] = {
    "1": attack_by_hand,
    "2": voting,
    "3": confidence,
    "4": additive,
    "5": cells,
    "6": rotations,
    "7": forms,
}
_CHALLENGE = "challenge"


def page() -> None:
    """The address says which lesson, and how it is set."""
    if st.query_params.get("notes") == "yes":
        notes_page()
        return
    asked = LESSON.clean(st.query_params.get("lesson", choice(LESSON)))
    links.restore([*linked(asked or LESSON.default), *linked_challenge()])
    _classroom()


@st.fragment
def _classroom() -> None:
    """A fragment: a slider redraws the lesson and nothing else of the app."""
    keep_progress()
    if not presenting() or choice(CHALLENGE) == "yes":
        _contents()
    if choice(CHALLENGE) == "yes":
        styled()
        challenge.show()
        _key()
        links.share(linked_challenge())
        return
    now = choice(LESSON)
    heading(words(f"lesson{now}.title"))
    with st.container(key="lesson"):
        LESSONS[now].show()
    _key()
    links.share(linked(now))


def _key() -> None:
    """What the colours mean, in the language of the lesson."""
    meanings = {
        "right": words("colour.right"),
        "wrong": words("colour.wrong"),
        "open": words("colour.open"),
        "other": words("colour.other"),
        "unknown": words("colour.unknown"),
    }
    colour_key(meanings, words("colour.title"))


def _contents() -> None:
    key = "widget_lesson"
    shown = _CHALLENGE if choice(CHALLENGE) == "yes" else choice(LESSON)
    if st.session_state.get(key) != shown:
        st.session_state[key] = shown
    lessons, chosen = st.columns([9, 1.4], vertical_alignment="center")
    lessons.segmented_control(
        words("common.lesson"),
        [*LESSONS, _CHALLENGE],
        format_func=lambda name: ("✓ " if is_solved(name) else "") + words(f"tab.{name}"),
        key=key,
        required=True,
        label_visibility="collapsed",
        on_change=lambda: _choose(st.session_state[key]),
    )
    tongue = "widget_language"
    if st.session_state.get(tongue) != language():
        st.session_state[tongue] = language()
    chosen.selectbox(
        words("common.language"),
        list(LANGUAGES),
        format_func=LANGUAGES.__getitem__,
        key=tongue,
        label_visibility="collapsed",
        on_change=lambda: put(LANGUAGE, st.session_state[tongue]),
    )


def _choose(name: str) -> None:
    put(CHALLENGE, "yes" if name == _CHALLENGE else "no")
    if name != _CHALLENGE:
        put(LESSON, name)
