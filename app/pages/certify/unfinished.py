"""Runs that the server did not finish, offered to their visitor when they come back."""

from __future__ import annotations

import streamlit as st

from app.server import cache
from app.server.jobs import SavedRun
from app.server.jobs.saved import forget
from app.server.visitors import board
from tpc_core.errors import TpcError


def offer_unfinished(visitor: str) -> None:
    """Say what was cut off, once in a session; it can be continued where it was, or forgotten."""
    if "unfinished" not in st.session_state:
        st.session_state["unfinished"] = [] if board().of(visitor) else board().saved.unfinished(visitor)
    for saved in st.session_state["unfinished"]:
        words, go_on, drop = st.columns([5, 1.4, 1.4], vertical_alignment="center")
        words.text(
            f"The server stopped in the middle of {saved.title}; {saved.certificate.samples:,} votes were kept."
        )
        go_on.button(
            "Continue",
            key=f"go_on_{saved.path.stem}",
            on_click=_continue,
            args=(visitor, saved),
            width="stretch",
        )
        drop.button(
            "Delete it", key=f"drop_{saved.path.stem}", on_click=_forget, args=(saved,), width="stretch"
        )


def _continue(visitor: str, saved: SavedRun) -> None:
    """Go on in the same file: what it holds is there until the run has written more, or has ended."""
    try:
        job = board().submit(visitor, saved.request(cache.model), saved.certificate, saved.path)
    except TpcError as error:
        st.session_state["notice"] = str(error)
    else:
        st.session_state["run"] = job.id
        _offer_no_more(saved)


def _forget(saved: SavedRun) -> None:
    forget(saved.path)
    _offer_no_more(saved)


def _offer_no_more(saved: SavedRun) -> None:
    st.session_state["unfinished"] = [other for other in st.session_state["unfinished"] if other != saved]
