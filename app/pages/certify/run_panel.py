"""A run as it goes: its controls, its verdict and its facts."""

from __future__ import annotations

import html

import streamlit as st

from app.components.escape_markdown import literal
from app.pages.certify.estimates import duration
from app.pages.certify.outcome import outcome_of
from app.server import cache
from app.server.jobs import Job, JobView
from app.widgets.objects import draw_again

POLL = 0.4
WORDS = {
    "queued": "waiting",
    "running": "running",
    "paused": "paused",
    "done": "finished",
    "cancelled": "cancelled",
    "failed": "failed",
}


def label(view: JobView) -> str:
    """One line for the list of runs."""
    verdict = (
        view.certificate.verdict
        if view.certificate is not None and view.status == "done"
        else WORDS[view.status]
    )
    return f"{view.id}. {view.request.title}, {view.request.model.name}: {verdict}"


def show_status(job: Job) -> None:
    """The controls, the verdict and the facts of a run; polled while it goes."""
    view = job.view()
    st.fragment(_status, run_every=POLL if view.live else None)(job, view.live)


def _status(job: Job, known: bool) -> None:
    view = job.view()
    if known != view.live:
        draw_again()  # the list of runs has news, the map and the haze follow, and the timer stops
    if view.live:
        _controls(job, view)
    if view.notice:
        st.caption(view.notice)
    _verdict(view)
    _facts(view)


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
        return "waiting for your other run on this object, because both use the same votes"
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
        proved = "" if view.live else html.escape(outcome_of(view).proved)
        if proved:
            words += f" <b>{proved}</b>"
        st.html(f'<div class="tpc-verdict {verdict}" data-verdict="{verdict}" role="status">{words}</div>')


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
