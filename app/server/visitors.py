"""Who is looking: one visitor per browser, and the board of runs that all of them share."""

from __future__ import annotations

import threading
import time

import streamlit as st
from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app.server.engine import engine
from app.server.jobs import JobBoard, SavedRuns
from app.server.protection.cookie import NAME, name_in
from app.session.uploads import Uploads

_SWEEP_EVERY = 30.0
_ABOUT = 600.0
"""Seconds that a visitor counts as present after the last tab was closed: a reload must lose nothing."""


class Visitors:
    """Which browser sessions belong to which visitor; a visitor is present while one of them is connected."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: dict[str, set[str]] = {}
        self._seen: dict[str, float] = {}
        self._whose: dict[str, tuple[str, str]] = {}

    def note(self, visitor: str, session: str, machine: str = "", *, named: bool = True) -> None:
        """A session of a visitor is here. Those whom the server could give no name count as one for each machine."""
        with self._lock:
            self._whose[visitor] = (visitor if named else f"nameless at {machine}", machine)
            self._sessions.setdefault(visitor, set()).add(session)
            self._seen[visitor] = time.monotonic()

    def whose(self, visitor: str) -> tuple[str, str]:
        """The name under which a visitor is counted, and their machine."""
        with self._lock:
            return self._whose.get(visitor, (visitor, ""))

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

    def here(self) -> int:
        """How many people have a page open."""
        with self._lock:
            known = list(self._sessions)
        return sum(self.present(visitor) for visitor in known)

    def sweep(self) -> None:
        """Forget the names of visitors who are gone: a server that runs for a term sees many."""
        with self._lock:
            known = list(self._sessions)
        for visitor in known:
            if not self.about(visitor):
                with self._lock:
                    self._sessions.pop(visitor, None)
                    self._seen.pop(visitor, None)
                    self._whose.pop(visitor, None)


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
    """The one board of background work; a thread of its own sweeps up after visitors who left, now and then."""
    files, register = uploads(), visitors()
    saved = SavedRuns.from_environment()
    jobs = JobBoard(engine(), whose=register.whose, present=register.present, saved=saved)

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
    name = name_in(st.context.cookies.get(NAME))
    visitors().note(name or session, session, machine_of(session), named=name is not None)
    return name or session


def machine_of(session: str) -> str:
    """The address from which a session's page came."""
    client = get_instance().get_client(session) if exists() else None
    context = client.client_context if client is not None else None
    return str(context.remote_ip or "") if context is not None else ""
