"""Which points matter: the critical points that two cells share, and those that only one of them has."""

from __future__ import annotations

import streamlit as st

from app.components.plot import HOME, PNG, plot
from app.components.style import theme
from app.figures.cloud import CloudView
from app.figures.debug_cell import critical_figure
from app.pages.debug.case_surface import surface_in_cell
from app.pages.debug.opened_case import Opened
from tpc_core import Model
from tpc_core.explain import critical_change
from tpc_core.proofs import CellStanding

_IDENTITY = "the object itself"


def points_panel(case: Opened, model: Model | None, facts: CellStanding | None) -> None:
    """Compare the chosen cell with the object itself, or with another cell."""
    if model is None or facts is None or not facts.tested:
        st.caption("Choose a cell first. The model that voted must be on this server.")
        return
    view = case.view
    others = {f.path: f for f in view.leaves if f.n and f.path != facts.path}
    near = [f.path for f in view.neighbours(facts) if f.path in others]
    names = ["", *near, *(path for path in others if path not in near)][:60]
    left, right = st.columns([3, 7], gap="large")
    with left:
        if st.session_state.get("debug_before_cell") not in names:
            st.session_state["debug_before_cell"] = ""
        path = st.selectbox(
            "From",
            names,
            key="debug_before_cell",
            format_func=lambda key: (
                _IDENTITY
                if not key
                else f"{view.place(others[key])} ({others[key].state}{', next to it' if key in near else ''})"
            ),
        )
        st.markdown(f"to **{view.place(facts)}**")
        before = view.points_of(others[path]) if path else view.cloud.points
        change = critical_change(model, before, view.points_of(facts))
        if change is None:
            st.caption("This network has no max pool over points, so no point is critical in this sense.")
            return
        st.markdown(change.sentence)
        st.caption(
            "A critical point decides at least one feature of the max pool of the base network, without noise."
        )
    with right:
        here, surface = view.points_of(facts).numpy(), surface_in_cell(case, facts)
        clouds = CloudView(original=before.numpy(), moved=here, mesh=surface)
        plot(
            critical_figure(clouds, change, theme(), size=6.0 if len(before) <= 256 else 3.0),
            key="debug_critical",
            height=380,
            stamp=f"{facts.path}|{path}",
            camera_of=case.key,
            zoom=True,
            actions=(HOME, PNG),
        )
