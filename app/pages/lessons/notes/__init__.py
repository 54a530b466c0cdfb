"""The teacher's notes: a window of their own that follows the lesson on the projector, with the time for each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from app.components.escape_markdown import literal
from app.export.handout import exercise_of, handout, ideas
from app.pages.lessons.state import LESSON
from tpc_core.shipped import shipped

DOCUMENT = shipped("docs", "teaching.md")
_HERE = Path(__file__).parent
_HEAD = re.compile(r"^## Lesson (\d+): (.+?) \((\d+) minutes\)$", re.MULTILINE)

_mount = st.components.v2.component(
    "tpc_lesson_notes",
    html='<div class="tpc-notes-clock" role="timer"></div>',
    css=(_HERE / "notes.css").read_text(),
    js=(_HERE / "notes.js").read_text(),
    isolate_styles=False,
)


@dataclass(frozen=True)
class Notes:
    """What a teacher needs for one lesson."""

    lesson: str
    title: str
    minutes: int
    text: str


def notes(document: str) -> dict[str, Notes]:
    """The lessons of docs/teaching.md, by number."""
    heads = list(_HEAD.finditer(document))
    found = {}
    for head in heads:
        rest = document[head.end() :]
        end = rest.find("\n## ")
        text = rest if end < 0 else rest[:end]
        found[head[1]] = Notes(head[1], head[2], int(head[3]), text.strip())
    return found


def notes_page() -> None:
    """The notes of the lesson that is shown in the other window."""
    document = DOCUMENT.read_text(encoding="utf-8")
    every = notes(document)
    now = str(st.session_state.get("notes_lesson", LESSON.default))
    before = sum(each.minutes for number, each in every.items() if int(number) < int(now))
    shown = every[now]
    st.html(
        "<style>[data-testid=stHeader] { display: none; } .block-container { padding-top: 1rem; }</style>"
    )
    _mount(
        key="lesson_notes",
        data={"lesson": now, "minutes": shown.minutes, "before": before, "all": _total(every)},
        on_follow_change=_follow,
    )
    st.markdown(f"## {now}. {literal(shown.title)}\n\n{shown.text}")
    st.download_button(
        "Handout to print (HTML)",
        lambda: handout(now, shown.title, ideas(document)[now], exercise_of(shown.text)),
        file_name=f"lesson-{now}.html",
        mime="text/html",
        on_click="ignore",
        icon=":material/print:",
        help="One page of A4. Open it in a browser and print it, or save it as PDF from there.",
        key="handout",
    )


def _total(every: dict[str, Notes]) -> int:
    return sum(each.minutes for each in every.values())


def _follow() -> None:
    told = st.session_state["lesson_notes"].follow
    lesson = LESSON.clean(told.get("lesson")) if isinstance(told, dict) else None
    if lesson is not None:
        st.session_state["notes_lesson"] = lesson
