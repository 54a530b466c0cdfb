"""Certify: ask whether every transform within a radius keeps the class, and watch the answer form."""

from __future__ import annotations

import streamlit as st

from app.components.escape_markdown import literal
from app.pages.certify.question_form import ask
from app.pages.certify.question_link import LINKED
from app.pages.certify.run_panel import chosen_run, show_run
from app.pages.certify.unfinished import offer_unfinished
from app.server.visitors import board
from app.session import links
from app.session.uploads import is_upload
from app.widgets.objects import NOT_SHARED, current_shape, current_spec, object_button
from tpc_core.errors import TpcError


def page() -> None:
    """Questions on the left, the run on the right."""
    links.restore(LINKED)
    visitor = str(st.session_state["visitor"])
    left, right = st.columns([3.1, 9.2], gap="medium")
    with left:
        object_button(current_shape())
        request = ask()
        if (
            st.button(
                "Certify",
                type="primary",
                width="stretch",
                icon=":material/verified:",
                disabled=request is None,
                key="start",
            )
            and request is not None
        ):
            try:
                st.session_state["run"] = board().submit(visitor, request).id
            except TpcError as error:
                st.warning(literal(error))
    with right:
        notice = st.session_state.pop("notice", "")
        if notice:
            st.warning(literal(notice))
        offer_unfinished(visitor)
        job = chosen_run(visitor)
        if job is None:
            _empty()
        else:
            show_run(job)
    links.share(LINKED, note=NOT_SHARED if is_upload(current_spec()) else "")


def _empty() -> None:
    st.markdown("## No run yet")
    st.markdown(
        "Choose a transform and a radius, then **Certify**. The map on this side fills in cell by cell: each cell is "
        "a piece of the region of attacks, tested at its centre by the votes of the smoothed model. The verdict "
        "holds for *every* transform within the radius, with the confidence you set."
    )
