"""Around a cell: how the search came to it, and the cells that touch it. A chosen row moves on to its cell."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.debug.choice import choose
from app.debug.opened import Opened
from tpc_core.diagnosis import CellFacts, stages_ahead
from tpc_core.diagnosis.findings import probability


def around_panel(case: Opened, facts: CellFacts | None) -> None:
    """History on the left, neighbours on the right."""
    if facts is None:
        st.caption("No cell is chosen.")
        return
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("### How the search came here")
        _table(case, case.subject.history(facts), "debug_history", facts)
        _readings(case, facts)
    with right:
        st.markdown("### The cells that touch it")
        neighbours = case.subject.neighbours(facts)
        if neighbours:
            _table(case, neighbours, "debug_neighbours", facts)
        else:
            st.caption("None: this certificate rests on one estimate, or on one cell.")


def _table(case: Opened, cells: Sequence[CellFacts], key: str, here: CellFacts) -> None:
    rows = [
        {
            "Cell": ("→ " if f.path == here.path else "") + case.subject.place(f),
            "State": _state(f),
            "Votes": f"{f.n_a:,} / {f.n:,}" if f.n else "none",
            "p_A at least": probability(f.lower_bound) if f.n else "",
            "Needed": probability(f.needed),
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


def _state(facts: CellFacts) -> str:
    """The words of the map."""
    if facts.state != "waiting":
        return facts.state
    return "open" if facts.n else "no votes"


def _readings(case: Opened, facts: CellFacts) -> None:
    """The stages of this cell: those that were read, and those whose level is still reserved."""
    read = ", ".join(f"{n_a:,} of {n:,}" for n, n_a in facts.readings)
    if read:
        st.caption(f"Its bound was read at {read} votes.")
    ahead = stages_ahead(case.subject, facts)
    if ahead:
        words = ", ".join(f"{stage.size:,} ({stage.chance:.0%} likely to pass)" for stage in ahead[:4])
        st.caption(f"Reserved and not read yet: {words}.")
