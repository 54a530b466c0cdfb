"""Who is looking: one visitor per browser, and the board of runs that all of them share."""

from __future__ import annotations

import threading
import time

import streamlit as st
from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app.jobs import JobBoard, SavedRuns
from app.protection.cookie import NAME, name_in
from app.uploads import Uploads

_SWEEP_EVERY = 30.0
_ABOUT = 600.0
"""Seconds that a visitor counts as present after the last tab was closed: a reload must lose nothing."""


class Visitors:
    """Which browser sessions belong to which visitor; a visitor is present while one of them is connected."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: dict[str, set[str]] = {}
        self._seen: dict[str, float] = {}

    def note(self, visitor: str, session: str) -> None:
        with self._lock:
            self._sessions.setdefault(visitor, set()).add(session)
            self._seen[visitor] = time.monotonic()

    def present(self, visitor: str) -> bool:
        if not exists():
            return True
        runtime = get_instance()
        with self._lock:
            alive = {s for s in self._sessions.get(visitor, set()) if runtime.is_active_session(s)}
            if visitor in self._sessions:
                self._sessions[visitor] = alive
            if alive:
                self._seen[visitor] = time.monotonic()
        return bool(alive)

    def about(self, visitor: str) -> bool:
        """Whether a visitor is present, or was so a short while ago."""
        return self.present(visitor) or time.monotonic() - self._seen.get(visitor, -_ABOUT) < _ABOUT

    def sweep(self) -> None:
        """Forget the names of visitors who are gone: a server that runs for a term sees many."""
        with self._lock:
            known = list(self._sessions)
        for visitor in known:
            if not self.about(visitor):
                with self._lock:
                    self._sessions.pop(visitor, None)
                    self._seen.pop(visitor, None)


@st.cache_resource(show_spinner=False)
def visitors() -> Visitors:
    """The one register of visitors."""
    return Visitors()


@st.cache_resource(show_spinner=False)
def uploads() -> Uploads:
    """The one store of files that visitors brought."""
    return Uploads()


@st.cache_resource(show_spinner=False)
def board() -> JobBoard:
    """The one board of runs; a thread of its own sweeps up after visitors who left, now and then."""
    jobs, files, register = JobBoard(saved=SavedRuns.from_environment()), uploads(), visitors()

    def sweep() -> None:
        while True:
            time.sleep(_SWEEP_EVERY)
            jobs.sweep(register.present)
            files.sweep(register.about)
            register.sweep()

    threading.Thread(target=sweep, name="sweep-jobs", daemon=True).start()
    return jobs


def visitor() -> str:
    """This browser, by the name that the server gave it, so that a reload finds its runs; else the session."""
    context = get_script_run_ctx()
    session = context.session_id if context is not None else "none"
    name = name_in(st.context.cookies.get(NAME)) or session
    visitors().note(name, session)
    return name
