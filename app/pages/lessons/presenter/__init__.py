"""Previous, next and Present: by buttons and by keys, with the whole screen where the browser allows it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from app.words import words

_HERE = Path(__file__).parent

_mount = st.components.v2.component(
    "tpc_presenter",
    html='<div class="tpc-presenter"></div>',
    css=(_HERE / "presenter.css").read_text(),
    js=(_HERE / "presenter.js").read_text(),
    isolate_styles=False,
)


def presenter(*, lesson: str, first: bool, last: bool, presenting: bool, on_go: Callable[[], None]) -> Any:
    """Show the buttons; `.go` is "previous", "next", "step", "present" or "leave" in the rerun that a click caused.

    The window with the teacher's notes hears which lesson is shown.
    """
    said = {
        "previous": words("presenter.previous"),
        "next": words("presenter.next"),
        "notes": words("presenter.notes"),
        "notesHelp": words("presenter.notes_help"),
        "leave": words("presenter.leave"),
        "leaveHelp": words("presenter.leave_help"),
        "present": words("presenter.present"),
        "presentHelp": words("presenter.present_help"),
    }
    data = {"lesson": lesson, "first": first, "last": last, "presenting": presenting, "words": said}
    return _mount(key="presenter", data=data, on_go_change=on_go)
