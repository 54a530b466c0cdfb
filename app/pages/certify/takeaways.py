"""What a finished run leaves: its files, why it failed, and the step that comes next."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from app.export import run_report
from app.pages.certify.outcome import NextStep, outcome_of
from app.server.jobs import Job, JobView
from app.server.visitors import board
from tpc_core import Budget
from tpc_core.errors import TpcError
from tpc_core.landscape import Landscape


def takeaways(job: Job, view: JobView, landscape: Landscape | None) -> None:
    """What a finished run leaves: files, why it failed, and the one step that comes next."""
    certificate = view.certificate
    assert certificate is not None
    question = view.request.question
    name = f"certificate-{view.request.cloud.name}-{question.transform}.json"
    save, report, why, again = st.columns([1.15, 1, 0.7, 1.15])
    save.download_button(
        "Certificate (JSON)",
        certificate.to_json(),
        file_name=name,
        mime="application/json",
        width="stretch",
        icon=":material/download:",
        key="save_json",
    )
    if view.request.is_certain:
        why.button(
            "Look inside",
            key="why",
            on_click=_open_debug,
            args=(job,),
            width="stretch",
            icon=":material/troubleshoot:",
            help="The cells, the counterexample, and what votes say of the same question.",
        )
        _to_debug()
        _elsewhere(view)
        return
    report.download_button(
        "Report (HTML)",
        lambda: run_report(certificate, landscape, view.request.title),
        file_name=name.replace("certificate-", "report-").replace(".json", ".html"),
        mime="text/html",
        on_click="ignore",
        width="stretch",
        icon=":material/description:",
        help="One file with the verdict, the figures in 3D and the certificate; it opens offline.",
        key="save_report",
    )
    if certificate.verdict != "certified":
        why.button(
            "Why?",
            key="why",
            on_click=_open_debug,
            args=(job,),
            width="stretch",
            icon=":material/troubleshoot:",
            help="Look at the cells that failed, and at what would settle it.",
        )
    step = outcome_of(view).step
    if step is not None:
        again.button(
            step.label,
            key="continue",
            on_click=_take_step,
            args=(job, view, step),
            type="primary",
            width="stretch",
            icon=":material/resume:",
            help=step.help,
        )
    _to_debug()
    _elsewhere(view)


def _to_debug() -> None:
    if st.session_state.pop("to_debug", False):
        st.switch_page(st.session_state["pages"]["debug"])


def _elsewhere(view: JobView) -> None:
    question = view.request.question
    with st.expander("Run this yourself: command line and Python"):
        st.code(question.command(), language="bash", wrap_lines=True)
        st.code(question.python(), language="python", wrap_lines=True)


def _take_step(job: Job, view: JobView, step: NextStep) -> None:
    """Go on with the votes of the run, or ask about the radius that they prove already."""
    certificate, question = view.certificate, view.request.question
    assert certificate is not None
    if step.radius is not None:
        smaller = question.with_radius(step.radius)
    else:
        smaller = replace(question, options=replace(question.options, budget=Budget(samples=step.limit)))
    request = replace(view.request, question=smaller)
    try:
        st.session_state["run"] = board().submit(job.owner, request, certificate).id
    except TpcError as error:
        st.session_state["notice"] = str(error)


def _open_debug(job: Job) -> None:
    st.session_state["debug_case"] = f"run:{job.id}"
    st.session_state["to_debug"] = True
