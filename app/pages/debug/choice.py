"""Which cell is looked at: kept for each certificate, moved by clicks, buttons and keys."""

from __future__ import annotations

import streamlit as st

from app.pages.debug.opened_case import Opened
from tpc_core.case_view import shortfall

_KEY = "debug_chosen"


def chosen_cell(case: Opened) -> str | None:
    """The path of the chosen cell; by default the worst, and the one with the least to spare where all passed."""
    chosen: dict[str, str] = st.session_state.setdefault(_KEY, {})
    path = chosen.get(case.case.id)
    if path is not None and path in case.view.by_path:
        return path
    if case.view.failing:
        return case.view.failing[0].path
    voted = [facts for facts in case.view.leaves if facts.n]
    blank = case.view.untested
    return max(voted, key=shortfall).path if voted else blank[0].path if blank else None


def choose(case: Opened, path: str) -> None:
    """Look at another cell; a slice through three dimensions moves to it."""
    st.session_state.setdefault(_KEY, {})[case.case.id] = path
    st.session_state["debug_follow"] = path


def choose_later(case_id: str, path: str | None) -> None:
    """The cell that a link names, for a case that is about to be opened; the worst one where there is none."""
    if path is not None:
        st.session_state.setdefault(_KEY, {})[case_id] = path


def carry_over(before: str, after: str) -> None:
    """A certificate that was gone on with keeps its chosen cell."""
    chosen: dict[str, str] = st.session_state.setdefault(_KEY, {})
    if before in chosen:
        chosen[after] = chosen[before]
