"""Whether the queue moves: when something last came of all the work on this server."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import streamlit as st

from app.server.jobs import Activity


class Pulse:
    """The last time at which anything moved, as the pages that looked have seen it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._messages = 0
        self._moved = clock()

    def rests(self, activity: Activity) -> float:
        """Seconds since something last moved; 0 where nothing is under way."""
        with self._lock:
            now = self._clock()
            if activity.messages != self._messages or not activity.running + activity.waiting:
                self._messages, self._moved = activity.messages, now
            return now - self._moved


@st.cache_resource(show_spinner=False)
def pulse() -> Pulse:
    """The one of this server."""
    return Pulse()
