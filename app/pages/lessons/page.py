"""Lessons: seven screens for a class, each with something to drag and one question."""

from __future__ import annotations

from types import ModuleType

import streamlit as st

from app.pages.lessons import additive, attack_by_hand, cells, confidence, forms, rotations, voting
from app.pages.lessons.frame import heading, presenting
from app.pages.lessons.state import LESSON, choice, linked, put
from app.session import links

LESSONS: dict[str, ModuleType] = {
    "1": attack_by_hand,
    "2": voting,
    "3": confidence,
    "4": additive,
    "5": cells,
    "6": rotations,
    "7": forms,
}
_SHORT = {
    "1": "1 Attack",
    "2": "2 Voting",
    "3": "3 Confidence",
    "4": "4 Radius",
    "5": "5 Cells",
    "6": "6 Rotations",
    "7": "7 Bounds",
}


def page() -> None:
    """The address says which lesson, and how it is set."""
    asked = LESSON.clean(st.query_params.get("lesson", choice(LESSON)))
    links.restore(linked(asked or LESSON.default))
    _classroom()


@st.fragment
def _classroom() -> None:
    """A fragment: a slider redraws the lesson and nothing else of the app."""
    if not presenting():
        _contents()
    now = choice(LESSON)
    heading(LESSONS[now].TITLE)
    with st.container(key="lesson"):
        LESSONS[now].show()
    links.share(linked(now))


def _contents() -> None:
    key = "widget_lesson"
    if st.session_state.get(key) != choice(LESSON):
        st.session_state[key] = choice(LESSON)
    st.segmented_control(
        "Lesson",
        list(LESSONS),
        format_func=_SHORT.__getitem__,
        key=key,
        required=True,
        label_visibility="collapsed",
        on_change=lambda: put(LESSON, st.session_state[key]),
    )
