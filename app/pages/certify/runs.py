"""Which run is on screen: the one that answers the question of the form. A run that is picked brings its question."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from app.pages.certify.question_link import show_question
from app.pages.certify.run_panel import label
from app.server.jobs import Job, Request
from app.server.visitors import board
from tpc_core import Budget, Question


def adopt_run(visitor: str) -> None:
    """Before the form is drawn: where another run was chosen or started elsewhere, its question is the form's."""
    state = st.session_state
    if "run" not in state and not state.get("certify_entered") and not st.query_params:
        jobs = board().of(visitor)
        if jobs:
            state["run"] = jobs[0].id
    state["certify_entered"] = True
    job = board().get(visitor, state.get("run"))
    if job is not None and state.get("asked_run") != job.id:
        state["asked_run"] = job.id
        show_question(job.request)


def started(job: Job) -> None:
    """A run was started from the form as it is."""
    st.session_state["run"] = st.session_state["asked_run"] = job.id


def run_of(visitor: str, request: Request | None) -> Job | None:
    """The run that answers a request: the chosen one, else the newest."""
    if request is None:
        return None
    mine = [job for job in board().of(visitor) if _answers(job.request, request)]
    chosen = st.session_state.get("run")
    return next((job for job in mine if job.id == chosen), mine[0] if mine else None)


def runs_list(visitor: str, shown: Job | None) -> None:
    """The visitor's runs, where there is more than the one on screen."""
    jobs = board().of(visitor)
    others = [job for job in jobs if shown is None or job.id != shown.id]
    if not others:
        return
    labels = {job.id: label(job.view()) for job in jobs}
    st.session_state["run_list"] = shown.id if shown is not None else None
    st.selectbox(
        "Your runs",
        list(labels),
        format_func=labels.__getitem__,
        index=None,
        key="run_list",
        placeholder="Your runs",
        label_visibility="collapsed",
        on_change=_picked,
    )


def _picked() -> None:
    if st.session_state.get("run_list"):
        st.session_state["run"] = st.session_state["run_list"]


def _answers(asked: Request, request: Request) -> bool:
    same = asked.cloud.digest == request.cloud.digest and asked.model.digest == request.model.digest
    return same and _key(asked.question) == _key(request.question)


def _key(question: Question) -> Question:
    """A question without its budget, and without the name of its object: going on changes neither of the two."""
    return replace(question, object="", options=replace(question.options, budget=Budget()))
