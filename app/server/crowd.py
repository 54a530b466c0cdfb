"""How many pages are being worked on: with a whole class at work, everybody gets a little less at once."""

from __future__ import annotations

import threading

MANY = 3
"""Pages at work at the same time that make a crowd; a single visitor has one or two."""

_SCRIPT = "ScriptRunner.scriptThread"
"""What Streamlit calls the thread that works on a page; it lives as long as the work does."""


def crowded() -> bool:
    """Whether the pages of many visitors are being worked on just now."""
    return sum(thread.name.startswith(_SCRIPT) for thread in threading.enumerate()) >= MANY
