"""Class: how many people are here, what the server works on, and that its queue moves."""

from __future__ import annotations

import streamlit as st

from app.server.jobs import Activity
from app.server.pulse import pulse
from app.server.visitors import board, visitors
from app.session import links

POLL, POLL_IDLE = 3.0, 20.0
"""Seconds between two looks: while something is under way, and while nothing is."""
STUCK = 60.0
"""Seconds without any progress after which the page says so."""


def page() -> None:
    """The numbers, and where to go; looked at again only while somebody may wait for them."""
    st.markdown("## This class")
    known = _busy(board().activity())
    st.fragment(_numbers, run_every=POLL if known else POLL_IDLE)(known)
    st.markdown(
        "All people here share the processors of this server, and take turns. So a long run of one person does "
        "not stop the others. A page that is open but not used costs nothing."
    )
    with st.container(horizontal=True, gap="medium"):
        st.page_link(st.session_state["pages"]["lessons"], label="Lessons")
        st.page_link(
            st.session_state["pages"]["lessons"], label="Challenge", query_params={"challenge": "yes"}
        )
    links.share([])


def _busy(activity: Activity) -> bool:
    return activity.running + activity.waiting > 0


def _numbers(known: bool) -> None:
    activity, here = board().activity(), visitors().here()
    if _busy(activity) != known:
        st.rerun()  # the pace changes
    people, running, waiting = st.columns(3)
    people.metric("People here", here, border=True)
    running.metric("At work", activity.running, border=True)
    waiting.metric("Waiting", activity.waiting, border=True)
    st.html(f'<div class="tpc-queue" role="status">{sentence(activity, pulse().rests(activity))}</div>')
    places = [job.position for job in board().of(str(st.session_state["visitor"])) if job.status == "queued"]
    if places:
        st.caption(f"Your next run is number {min(places)} in the queue.")


def sentence(activity: Activity, rests: float) -> str:
    """Whether the queue moves, in plain words."""
    if not _busy(activity):
        return "Nothing is running now. Your run will start at once."
    if not activity.running:
        return "Runs are waiting for a free worker."
    if rests >= STUCK:
        return f"Nothing has moved for {rests:.0f} seconds. Please tell the person who runs this server."
    return "The queue is moving."
