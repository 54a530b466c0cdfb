"""How far a learner has come, kept in their own browser: nothing of it stays on the server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from app.pages.lessons.state import LESSON, STEPS, choice, put

_HERE = Path(__file__).parent
_SOLVED = "lessons_solved"

_mount = st.components.v2.component(
    "tpc_lesson_progress",
    html='<i class="tpc-lesson-progress" hidden></i>',
    js=(_HERE / "progress.js").read_text(),
    isolate_styles=False,
)


def solved(lesson: str) -> None:
    """The question of a lesson was answered."""
    st.session_state[_SOLVED] = {*st.session_state.get(_SOLVED, set()), lesson}


def is_solved(lesson: str) -> bool:
    """Whether it was, by this learner in this browser."""
    return lesson in st.session_state.get(_SOLVED, set())


def keep_progress() -> None:
    """Write it down in the browser after every change, and take it from there when the page is opened."""
    now = {
        "steps": {lesson: choice(field) for lesson, field in STEPS.items()},
        "solved": sorted(st.session_state.get(_SOLVED, set())),
    }
    read = bool(st.session_state.get("lessons_restored"))
    _mount(key="lesson_progress", data={"progress": now, "read": read}, on_restored_change=_restore)


def _restore() -> None:
    """What the browser remembers; anything else that it may send is left alone."""
    told: Any = st.session_state["lesson_progress"].restored
    st.session_state["lessons_restored"] = True
    if not isinstance(told, dict):
        return
    steps, done = told.get("steps"), told.get("solved")
    for lesson, field in STEPS.items():
        said = field.clean(steps.get(lesson)) if isinstance(steps, dict) else None
        if said is not None and int(said) > int(choice(field)):
            put(field, said)
    for lesson in done if isinstance(done, list) else ():
        if lesson in LESSON.options:
            solved(lesson)
