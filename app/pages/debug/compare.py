"""Two runs side by side: what differs between the questions, and where the answers differ."""

from __future__ import annotations

import numpy as np
import streamlit as st

from app.components.escape_markdown import literal
from app.components.plot import PNG, SVG, plot
from app.components.style import theme
from app.figures.axes import parameter_axes
from app.figures.debug_compare import MEASURES, Measure, difference_figure, intervals_figure
from app.pages.debug.cases import Case, cases
from app.pages.debug.exact_case import both_kinds
from app.pages.debug.opened_case import Opened, opened
from tpc_core.explain import comparable, compare, shared_half_widths

_HEIGHT = 330


def compare_panel(visitor: str, case: Opened) -> None:
    """The case on screen is the second; the other one is chosen here."""
    both_kinds(visitor, case.case.certificate)
    others = {
        key: other
        for key, other in cases(visitor).items()
        if key != case.case.id and other.certificate.certain is None
    }
    if not others:
        st.caption(
            "There is only one run. Run the question again with another model, sigma or radius, or open another "
            "certificate. Then you can compare the two here."
        )
        return
    if st.session_state.get("debug_other") not in others:
        st.session_state["debug_other"] = _likeliest(case, others)
    key = st.selectbox(
        "Compare with (before)", list(others), format_func=lambda name: others[name].label, key="debug_other"
    )
    task = opened(visitor, others[key])
    if task.status == "failed":
        st.error(literal(task.message))
        return
    if not isinstance(task.result, Opened):
        st.caption("Opening it ...")
        return
    first = task.result
    left, right = st.columns([4, 6], gap="large")
    with left:
        rows = compare(first.view, case.view)
        table = [
            {"": row.name, "Before": row.first, "After (on screen)": row.second}
            for row in sorted(rows, key=lambda row: not row.differs)
        ]
        st.dataframe(table, hide_index=True, width="stretch", height=_HEIGHT + 40)
    with right:
        _map(first, case)


def _likeliest(case: Opened, others: dict[str, Case]) -> str:
    """The case that one would compare with: about the same transform and the same object, if there is one."""
    mine = case.case.certificate

    def likeness(key: str) -> tuple[bool, bool]:
        theirs = others[key].certificate
        return theirs.question.transform == mine.question.transform, theirs.cloud.digest == mine.cloud.digest

    return max(others, key=likeness)


def _map(first: Opened, second: Opened) -> None:
    reason = comparable(first.view, second.view)
    if reason is not None:
        singles = [next((f for f in o.view.leaves if f.kind == "whole"), None) for o in (first, second)]
        if singles[0] is not None and singles[1] is not None:
            plot(intervals_figure(singles[0], singles[1], theme()), key="debug_intervals", height=200)
        else:
            st.caption(f"No difference map: {literal(reason)}.")
        return
    measure: Measure = (
        st.segmented_control(
            "Compare by",
            list(MEASURES),
            format_func=MEASURES.__getitem__,
            key="debug_measure",
            default="share",
            required=True,
            label_visibility="collapsed",
        )
        or "share"
    )
    half = shared_half_widths(first.view, second.view)
    at, sides = 0.0, (0, 1)
    if len(half) > 3:
        st.caption("More than three parameters cannot be drawn.")
        return
    if len(half) == 3:
        axis = parameter_axes(second.view.transform)[2]
        edge = float(axis.shown(half[2]))
        shown = st.slider(f"slice at {axis.title}", -edge, edge, 0.0, edge / 32, key="debug_compare_at")
        at = float(np.clip(shown / axis.factor, -half[2], half[2]))
    figure = difference_figure(first.view, second.view, measure, theme(), sides=sides, at=at)
    plot(
        figure,
        key="debug_difference",
        height=_HEIGHT,
        stamp=f"{first.key}|{second.key}|{measure}",
        actions=(PNG, SVG),
    )
    st.caption(
        "Blue: higher after. Orange: higher before. Grey: the same. Blank: one of them has no votes there."
    )
