"""How many pages are being worked on: with a whole class at work, everybody gets a little less at once."""

from __future__ import annotations

import threading
import time

MANY = 3
"""Pages at work at the same time that make a crowd; a single visitor has one or two."""

LONGEST_WAIT = 0.4
"""Seconds for which a certificate gives way at most, after each of its batches of votes."""

_SCRIPT = "ScriptRunner.scriptThread"
"""What Streamlit calls the thread that works on a page; it lives as long as the work does."""


def crowded() -> bool:
    """Whether the pages of many visitors are being worked on just now."""
    return sum(thread.name.startswith(_SCRIPT) for thread in threading.enumerate()) >= MANY


class GiveWay:
    """Lets a certificate rest for as long as its last batch took, if others wait for their pages.

    All pages and the steps between the votes of a certificate share Python's one lock. Priorities do not reach it, so
    the votes have to stand back by themselves.
    """

    def __init__(self) -> None:
        self._began = time.monotonic()

    def rest(self) -> None:
        """Called between batches."""
        end = time.monotonic() + min(time.monotonic() - self._began, LONGEST_WAIT)
        while time.monotonic() < end and crowded():
            time.sleep(0.02)
        self._began = time.monotonic()
