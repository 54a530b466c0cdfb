"""A run as it goes: status, controls, map, verdict and everything that can be taken away."""

from __future__ import annotations

import html
from dataclasses import replace

import streamlit as st

from app.components.escape_markdown import literal
from app.export import run_report
from app.pages.certify.estimates import duration
from app.pages.certify.maps import run_map
from app.server import cache
from app.server.jobs import Job, JobView
from app.server.visitors import board
from tpc_core import Budget, Certificate
from tpc_core.errors import TpcError

POLL = 0.4
WORDS = {
    "queued": "waiting",
    "running": "running",
    "paused": "paused",
    "done": "finished",
    "cancelled": "cancelled",
    "failed": "failed",
}


def chosen_run(visitor: str) -> Job | None:
    """The visitor's runs as a list; the one that is looked at."""
    jobs = board().of(visitor)
    if not jobs:
        return None
    labels = {job.id: label(job.view()) for job in jobs}
    if st.session_state.get("run") not in labels:
        st.session_state["run"] = jobs[0].id
    if len(jobs) > 1:
        st.selectbox(
            "Your runs", list(labels), format_func=labels.__getitem__, key="run", label_visibility="collapsed"
        )
    return board().get(visitor, st.session_state["run"])


def label(view: JobView) -> str:
    """One line for the list of runs."""
    verdict = (
        view.certificate.verdict
        if view.certificate is not None and view.status == "done"
        else WORDS[view.status]
    )
    return f"{view.id}. {view.request.title}, {view.request.model.name}: {verdict}"


def show_run(job: Job) -> None:
    """Poll the run while something changes; the timer stops with it."""
    view = job.view()
    st.fragment(_run, run_every=POLL if view.changing else None)(job, (view.live, view.changing))


def _run(job: Job, known: tuple[bool, bool]) -> None:
    view = job.view()
    if known != (view.live, view.changing) or st.session_state.get("run") != job.id:
        st.rerun()  # the list of runs has news, the timer may have to stop, or another run was started from here
    st.markdown(f"## {literal(view.request.title)}")
    if view.live:
        _controls(job, view)
    if view.notice:
        st.caption(view.notice)
    _verdict(view)
    run_map(view)
    _facts(view)
    if not view.live and view.certificate is not None:
        _takeaways(job, view)


def _controls(job: Job, view: JobView) -> None:
    bar, pause, cancel = st.columns([5, 1.4, 1.4], vertical_alignment="center")
    done = min(view.covered, 1.0)
    words = progress_words(view)
    bar.progress(done, text=words)
    if view.status == "paused":
        pause.button("Go on", key="go_on", on_click=job.resume, width="stretch", icon=":material/play_arrow:")
    else:
        pause.button("Pause", key="pause", on_click=job.pause, width="stretch", icon=":material/pause:")
    cancel.button("Cancel", key="cancel", on_click=job.cancel, width="stretch", icon=":material/stop:")


def progress_words(view: JobView) -> str:
    """What the bar says."""
    if view.status == "queued" and view.behind:
        return "waiting for your other run on this object: both write into one ledger of votes"
    if view.status == "queued":
        return (
            f"waiting for its turn, number {view.position} in the queue"
            if view.position
            else "about to start"
        )
    if view.status == "paused":
        return "paused"
    if view.request.is_certain:
        return f"{view.covered:.0%} of the region proved, {view.bounded:,} cells bounded"
    if view.cells:
        eta = f", {duration(view.eta)} to go" if view.eta is not None else ""
        return f"{view.covered:.0%} of the region covered{eta}"
    return f"{view.samples:,} votes so far"


def _verdict(view: JobView) -> None:
    if view.status == "failed":
        st.error(literal(view.message))
    elif view.certificate is not None:
        verdict = view.certificate.verdict
        mark = {"certified": "✓ Certified", "refuted": "✗ Refuted", "undecided": "? Undecided"}[verdict]
        sentence = html.escape(view.certificate.sentence)
        words = f"<b>{mark}.</b> {sentence}"
        if sentence.startswith("Undecided "):  # it need not be said twice
            words = f"<b>{mark}</b> {sentence.removeprefix('Undecided ')}"
        st.html(f'<div class="tpc-verdict {verdict}" data-verdict="{verdict}">{words}</div>')


def _facts(view: JobView) -> None:
    leaves = view.leaves
    settled = sum(leaf.state in ("passed", "failed") for leaf in leaves)
    facts = [
        ("status", WORDS[view.status]),
        ("class", view.prediction.replace("_", " ") if view.prediction else "…" if view.live else ""),
        (
            "proved cells",
            f"{len(view.boxes):,} of {view.bounded:,} bounded" if view.request.is_certain else "",
        ),
        ("cells", f"{settled} of {max(len(leaves), settled)} settled" if leaves else ""),
        ("votes", "" if view.request.is_certain else _votes(view)),
        ("votes/s", "" if view.request.is_certain else f"{view.rate:,.0f}" if view.rate else "…"),
        ("time", f"{view.seconds:.1f} s"),
        (
            "smoothing",
            "none, the plain network" if view.request.is_certain else view.request.smoothing.describe(),
        ),
        ("device", (view.certificate.device if view.certificate else cache.device_name()).upper()),
    ]
    shown = "".join(
        f"<span>{html.escape(name)} <b>{html.escape(value)}</b></span>" for name, value in facts if value
    )
    marks = f'data-run="{view.id}" data-status="{view.status}" data-settled="{settled}"'
    st.html(f'<div class="tpc-facts" {marks}>{shown}</div>')


def _votes(view: JobView) -> str:
    return f"{view.samples:,}" + (f", {view.samples - view.earlier:,} new" if view.earlier else "")


def _takeaways(job: Job, view: JobView) -> None:
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
        _elsewhere(view)
        return
    report.download_button(
        "Report (HTML)",
        lambda: run_report(certificate, view.landscape, view.request.title),
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
    if can_go_on(certificate):
        more = _more(certificate) if question.options.budget.samples is not None else None
        again.button(
            "Continue" if more is None else f"Continue, {more:,} votes more",
            key="continue",
            on_click=_continue,
            args=(job, view, more),
            width="stretch",
            icon=":material/resume:",
            help="Its votes are kept, and the guarantee stays the same.",
        )
    if st.session_state.pop("to_debug", False):
        st.switch_page(st.session_state["pages"]["debug"])
    _elsewhere(view)


def _elsewhere(view: JobView) -> None:
    question = view.request.question
    with st.expander("The same run elsewhere"):
        st.code(question.command(), language="bash", wrap_lines=True)
        st.code(question.python(), language="python", wrap_lines=True)


def can_go_on(certificate: Certificate) -> bool:
    """Whether a run only ran out of votes or was stopped; one that lost hope would lose it again."""
    return certificate.verdict == "undecided" and certificate.stopped in ("budget", "cancelled", "cut-off")


def _more(certificate: Certificate) -> int:
    """Votes on top of those that were cast."""
    return 4 * max(certificate.samples, 1000)


def _continue(job: Job, view: JobView, more: int | None) -> None:
    """Go on where the run stopped: its votes are kept, a larger budget is allowed."""
    certificate, question = view.certificate, view.request.question
    assert certificate is not None
    limit = None if more is None else certificate.samples + more
    options = replace(question.options, budget=Budget(samples=limit))
    request = replace(view.request, question=replace(question, options=options))
    try:
        st.session_state["run"] = board().submit(job.owner, request, certificate).id
    except TpcError as error:
        st.session_state["notice"] = str(error)


def _open_debug(job: Job) -> None:
    st.session_state["debug_case"] = f"run:{job.id}"
    st.session_state["to_debug"] = True
