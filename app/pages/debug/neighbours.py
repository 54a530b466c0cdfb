"""How the search came to a cell, and the cells that touch it. A chosen row moves on to its cell."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.pages.debug.choice import choose
from app.pages.debug.opened_case import Opened
from tpc_core.explain import probability
from tpc_core.forecast import pass_chances
from tpc_core.proofs import CellStanding


def neighbours_panel(case: Opened, facts: CellStanding | None) -> None:
    """History on the left, neighbours on the right."""
    if facts is None:
        st.caption("No cell is chosen.")
        return
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("## How the search split the region")
        _table(case, case.view.history(facts), "debug_history", facts)
        _readings(case, facts)
    with right:
        st.markdown("## The cells next to it")
        neighbours = case.view.neighbours(facts)
        if neighbours:
            _table(case, neighbours, "debug_neighbours", facts)
        else:
            st.caption("No other cell is next to it.")


def _table(case: Opened, cells: Sequence[CellStanding], key: str, here: CellStanding) -> None:
    rows = [
        {
            "Cell": ("→ " if f.path == here.path else "") + case.view.place(f),
            "State": _STATES.get(f.state, f.state),
            "Votes": f"{f.n_a:,} / {f.n:,}" if f.n else "none",
            "p_A at least": probability(f.lower_bound, f.needed) if f.n else "",
            "Needed": probability(f.needed, f.lower_bound),
        }
        for f in cells
    ]
    event = st.dataframe(
        rows,
        hide_index=True,
        width="stretch",
        key=f"{key}_{case.key}_{here.path}",
        on_select="rerun",
        selection_mode="single-row",
        height=min(35 * (len(rows) + 1) + 3, 290),
    )
    picked = event["selection"]["rows"]
    if picked and cells[picked[0]].path != here.path:
        choose(case, cells[picked[0]].path)
        st.rerun()


_STATES = {"untested": "no votes"}
"""The words of the map."""


def _readings(case: Opened, facts: CellStanding) -> None:
    """What more votes in this cell promise: the bound may be read at any size."""
    if facts.n:
        st.caption(f"{facts.n_a:,} of {facts.n:,} votes so far.")
    ahead = pass_chances(case.view, facts)
    if ahead:
        words = ", ".join(
            f"{chance.size:,} votes (passes with probability {chance.chance:.0%})" for chance in ahead[:4]
        )
        st.caption(f"With {words}.")
