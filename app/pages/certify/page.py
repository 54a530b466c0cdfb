"""Certify: ask whether every transform within a radius keeps the class, and watch the answer form."""

from __future__ import annotations

import streamlit as st

from app.components.escape_markdown import literal
from app.components.terms import explained
from app.figures.region_map import MapScene
from app.pages.certify.estimates import outlook_words, remember_rate
from app.pages.certify.landscapes import landscape_of
from app.pages.certify.map_scene import map_scene
from app.pages.certify.outcome import outcome_of
from app.pages.certify.question_form import ask
from app.pages.certify.question_link import LINKED
from app.pages.certify.run_panel import show_status
from app.pages.certify.runs import adopt_run, run_of, runs_list, started
from app.pages.certify.scene import show_map, show_stage
from app.pages.certify.takeaways import takeaways
from app.pages.certify.unfinished import offer_unfinished
from app.pages.certify.votes_panel import groups_of_parts, votes_panel
from app.server.jobs import Job, Request
from app.server.visitors import board
from app.session import links
from app.session.uploads import is_upload
from app.widgets.objects import NOT_SHARED, current_shape, current_spec, draw_again, object_button, title_of
from tpc_core.data import Shape
from tpc_core.errors import TpcError

POLL = 0.5
POLL_RUN = 1.0
"""Seconds between two drawings of the map; while a run casts votes, each drawing takes some from it."""


def page() -> None:
    """The question on the left; on the right the verdict, and below it the object beside its map."""
    links.restore(LINKED)
    visitor = str(st.session_state["visitor"])
    adopt_run(visitor)
    left, right = st.columns([2.9, 9.4], gap="medium")
    shape = current_shape()
    with left:
        object_button(shape)
        asked = ask()
        request = None if asked is None else asked.request
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
                started(board().submit(visitor, request))
            except TpcError as error:
                st.warning(literal(error))
    with right:
        notice = st.session_state.pop("notice", "")
        if notice:
            st.warning(literal(notice))
        offer_unfinished(visitor)
        job = run_of(visitor, request)
        runs_list(visitor, job)
        if request is not None:
            _scene(visitor, shape, request, job)
    if asked is not None:
        asked.say_cost()
    links.share(LINKED, note=NOT_SHARED if is_upload(current_spec()) else "")


def _scene(visitor: str, shape: Shape, request: Request, job: Job | None) -> None:
    """Verdict above, object left, map right."""
    title = title_of(current_spec(), shape)
    if job is not None:
        st.markdown(f"## {literal(job.request.title)}")
        show_status(job)
    else:
        _before(visitor, request)
    certified = 0.0 if job is None else outcome_of(job.view()).certified

    def redraw() -> MapScene:
        view = None if job is None else job.view()
        return map_scene(request, view, landscape_of(visitor, request).landscape, certified)

    stage, plane = st.columns(2, gap="small")
    with stage:
        groups = groups_of_parts(None if job is None else job.view())
        show_stage(shape, request, title, certified, redraw, groups)
    with plane:
        _map(visitor, request, job, certified)
    if job is not None:
        view = job.view()
        remember_rate(view)
        votes_panel(view)
        if not view.live and view.certificate is not None:
            takeaways(job, view, landscape_of(visitor, request).landscape)


def _map(visitor: str, request: Request, job: Job | None, certified: float) -> None:
    """The map, drawn again while its votes come in."""
    running = job is not None and job.live
    changing = landscape_of(visitor, request).live or running
    every = POLL_RUN if running else POLL
    st.fragment(_drawn_map, run_every=every if changing else None)(visitor, request, job, certified, changing)


def _drawn_map(visitor: str, request: Request, job: Job | None, certified: float, known: bool) -> None:
    seen = landscape_of(visitor, request)
    view = None if job is None else job.view()
    show_map(map_scene(request, view, seen.landscape, certified), request, view, seen)
    ended = not seen.live and (view is None or not view.live)
    if known and ended:
        draw_again()  # nothing more comes: the timer stops, and what is said before a run is final


def _before(visitor: str, request: Request) -> None:
    """No run yet: what the question is, and what the votes of the map say of it."""
    st.markdown(f"## {literal(request.title)}")
    changing = landscape_of(visitor, request).live
    st.fragment(_outlook, run_every=2 * POLL if changing else None)(visitor, request)


def _outlook(visitor: str, request: Request) -> None:
    words = outlook_words(request, landscape_of(visitor, request).landscape)
    explained(
        f"Not certified yet. {words} Press Certify to prove that every transform within the radius keeps the class."
    )
