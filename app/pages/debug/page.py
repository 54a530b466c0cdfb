"""Debug: why a certificate failed, cell by cell, and what would settle it."""

from __future__ import annotations

import streamlit as st

from app.components.escape_markdown import literal
from app.export import run_report
from app.pages.certify.estimates import duration, remember_rate
from app.pages.debug import question_link as asked
from app.pages.debug import steered
from app.pages.debug.attack import attack_panel, found_attack, path_chart
from app.pages.debug.before_after import end_step, show_step
from app.pages.debug.cases import Case, cases, keep, model_of, title_of
from app.pages.debug.causes import primary_remedy, symbols, why
from app.pages.debug.cell import cloud_panel, facts_panel, navigator, selected
from app.pages.debug.chart import HEIGHT, certificate_map, gap, tested
from app.pages.debug.choice import carry_over, choose_later
from app.pages.debug.compare import compare_panel
from app.pages.debug.exact_case import exact_workbench
from app.pages.debug.examples import EXAMPLES, Example
from app.pages.debug.models import models_panel
from app.pages.debug.neighbours import neighbours_panel
from app.pages.debug.opened_case import Opened, opened
from app.pages.debug.points import points_panel
from app.pages.debug.remaining_cost import forecast_panel
from app.pages.debug.retrain import training_bar, training_ended
from app.server.jobs import Request
from app.server.trainings import trainings
from app.server.visitors import board
from app.session import links
from app.session.uploads import read_certificate
from app.widgets.untrained import untrained_note
from tpc_core import Certificate
from tpc_core.engines import PROMPT, Call
from tpc_core.errors import TpcError
from tpc_core.proofs import CellStanding
from tpc_core.transforms import parse_transform
from tpc_core.verify import verify

POLL = 0.4
POLL_TRAINING = 3.0
"""Seconds between two looks at a training, which takes minutes or hours."""
_CSS = """
<style>
.tpc-cell { line-height: 1.35; }
.tpc-failed { color: var(--tpc-differ); } .tpc-passed { color: var(--tpc-agree); }
.tpc-open { color: color-mix(in srgb, var(--tpc-open) 55%, currentColor); }
.tpc-pose { margin: 0; text-align: center; line-height: 1.35; font-size: .9rem; }
.tpc-pose img { width: 100%; max-width: 150px; }
.tpc-finding { line-height: 1.4; }
.tpc-step { border: 1px solid color-mix(in srgb, currentColor 18%, transparent); border-radius: 8px;
  padding: .4rem .8rem; line-height: 1.45; }
.tpc-finding ul { margin: .2rem 0 0; padding-left: 1.1rem; opacity: .85; font-size: .9rem; }
</style>
"""
_NOT_SHARED = (
    "The object of this certificate is not in the gallery or in a data set. So the link opens the page only."
)
_EXACT = "Links to exact proofs lead to the Certify page. So this link opens the page only."
_MARKS = {"certified": "✓ Certified", "refuted": "✗ Refuted", "undecided": "? Undecided"}


def page() -> None:
    """The chooser, then the certificate; polled while something is under way."""
    visitor = str(st.session_state["visitor"])
    st.html(_CSS)
    links.restore(asked.LINKED)
    _recognise(visitor)
    known = _pace(visitor)
    st.fragment(_body, run_every=known)(visitor, known)


def _pace(visitor: str) -> float | None:
    """Seconds until the page looks again for something new; None where nothing is under way: then it rests."""
    if _busy(visitor):
        return POLL
    return POLL_TRAINING if trainings().of(visitor) is not None else None


def _busy(visitor: str) -> bool:
    """Whether there will be more to see soon."""
    waited = st.session_state.get("debug_awaited")
    job = board().get(visitor, waited) if waited else None
    return bool(board().tasks(visitor)) or (job is not None and job.live)


def _body(visitor: str, known: float | None) -> None:
    _look(visitor, known)
    if _pace(visitor) not in (known, None):
        st.rerun()  # something was started on the way, and nobody would tell when it ends
    links.share(asked.LINKED, note=st.session_state.get("debug_unshared", ""))


def _look(visitor: str, known: float | None) -> None:
    _arrive(visitor)
    if known != _pace(visitor):
        st.rerun()  # the timer has to start or to stop
    every = cases(visitor)
    case = _choose_case(visitor, every)
    notice = st.session_state.pop("debug_notice", "")
    if notice:
        st.warning(literal(notice))
    _progress(visitor)
    _offer(visitor)
    if case is None:
        asked.note_question(None, None)
        _empty(visitor)
        return
    if case.id.startswith("run:"):  # the Certify page shows the same run
        st.session_state.setdefault("asked_run", "")
        st.session_state["run"] = case.id.removeprefix("run:")
    if case.certificate.certain is not None:
        asked.note_question(None, None)
        st.session_state["debug_unshared"] = _EXACT
        exact_workbench(visitor, case)
        return
    task = opened(visitor, case)
    if task.status == "failed":
        st.error(literal(task.message))
    elif isinstance(task.result, Opened):
        untrained_note(case.certificate.model.name, parse_transform(case.certificate.question.transform))
        training_ended(visitor, task.result)
        _workbench(visitor, task.result)
    elif known is None:
        st.rerun()


def _arrive(visitor: str) -> None:
    """Move on to what was waited for: an example's run, or a certificate that was gone on with."""
    waited = st.session_state.get("debug_awaited")
    job = board().get(visitor, waited) if waited else None
    if job is not None and not job.live:
        st.session_state["debug_awaited"] = None
        view = job.view()
        remember_rate(view)
        if view.certificate is not None:
            st.session_state["debug_case"] = f"run:{job.id}"
            end_step(f"run:{job.id}")
            choose_later(f"run:{job.id}", st.session_state.pop("debug_linked_cell", None))
        elif view.message:
            st.session_state["debug_notice"] = view.message
    training = trainings().of(visitor)
    if training is not None and not training.training.live and training.case in cases(visitor):
        st.session_state["debug_case"] = training.case  # the certificate that it is to repair
    drawer = board().drawer(visitor)
    seen = st.session_state.setdefault("debug_seen", set(drawer))
    for key in [key for key in drawer if key not in seen]:
        seen.add(key)
        before = cases(visitor).get(str(st.session_state.get("debug_case")))
        if before is not None and _same_cells(before.certificate, drawer[key].certificate):
            carry_over(before.id, key)
        st.session_state["debug_case"] = key
        end_step(key)


def _same_cells(first: Certificate, second: Certificate) -> bool:
    """Whether a path names the same cell in both: one came of going on with the other."""
    a, b = (
        (c.cloud.digest, c.question.transform, c.model.digest, c.model.smoothing, c.question.options.protocol)
        for c in (first, second)
    )
    return a == b


def _choose_case(visitor: str, every: dict[str, Case]) -> Case | None:
    chooser, example, upload = st.columns([6, 1.7, 2], vertical_alignment="bottom")
    if every:
        if st.session_state.get("debug_case") not in every:
            st.session_state["debug_case"] = next(iter(every))
        chosen = chooser.selectbox(
            "Certificate",
            list(every),
            format_func=lambda key: every[key].label if key in every else "",
            key=steered.key_of("debug_case"),
            label_visibility="collapsed",
        )
        steered.moved("debug_case", chosen)
        with example.popover("Examples", width="stretch", icon=":material/lightbulb:"):
            for one in EXAMPLES:
                _start_button(visitor, one, f"{_MARKS[one.verdict][2:]}: {one.title}")
    else:
        chooser.markdown("## Why did it fail?")
    with upload.popover("Open a certificate", width="stretch", icon=":material/upload_file:"):
        _upload(visitor)
    return every.get(str(st.session_state.get("debug_case")))


def _empty(visitor: str) -> None:
    st.markdown(
        "This page shows why a certificate failed, and how to repair it. Start with one of these three examples: each "
        "is a real run of a few seconds. Or run your own on the **Certify** page and click **Why?** there."
    )
    columns = st.columns(len(EXAMPLES), gap="medium")
    for column, example in zip(columns, EXAMPLES, strict=True):
        with column.container(border=True):
            picture, words = st.columns([1, 2], vertical_alignment="center")
            picture.html(
                f'<img style="width:100%;max-width:130px" alt="" src="app/static/thumbnails/{example.name}.png">'
            )
            words.markdown(f"**{_MARKS[example.verdict]}**  \n{example.story}")
            _start_button(visitor, example, "Run it and look inside")


def _recognise(visitor: str) -> None:
    """A link to something that is here already leads straight to it: a page that was loaded again."""
    link = asked.linked()
    if link is None:
        return
    wanted = asked.words_of(link.request)
    for case in cases(visitor).values():
        request = asked.request_of(case)
        if request is not None and asked.words_of(request) == wanted:
            st.session_state["debug_case"] = case.id
            choose_later(case.id, link.cell)
            asked.forget()
            return


def _offer(visitor: str) -> None:
    """What a link asks for: it holds the question and no votes, so the run is made again."""
    link = asked.linked()
    lacks = asked.missing()
    if lacks:
        st.info(
            f"This link does not name {_listed(lacks)}. A link to a failed run needs an object, a transform and a "
            "model. Copy one with **Copy link**, or open an example.",
            icon=":material/link_off:",
        )
    if link is None or st.session_state.get("debug_awaited") is not None:
        return
    request = link.request
    with st.container(border=True):
        words, go, leave = st.columns([6, 2.2, 1.3], vertical_alignment="center")
        radius = f"within {request.question.radius_text()}"
        words.markdown(
            f"**This link asks for a run:** {literal(request.title)} {literal(radius)}, {literal(request.model.name)}. "
            "It runs again here with the same random numbers, so the result is the same."
        )
        if go.button("Run it and look inside", key="debug_follow_link", type="primary", width="stretch"):
            st.session_state["debug_linked_cell"] = link.cell
            _submit(visitor, request)
            asked.forget()
            st.rerun()
        if leave.button("Not now", key="debug_leave_link", width="stretch"):
            asked.forget()
            st.rerun()


def _listed(names: list[str]) -> str:
    words = [f"the {name}" for name in names]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _submit(visitor: str, request: Request) -> None:
    try:
        st.session_state["debug_awaited"] = board().submit(visitor, request).id
    except TpcError as error:
        st.session_state["debug_notice"] = str(error)


def _start_button(visitor: str, example: Example, label: str) -> None:
    if st.button(
        label,
        key=f"debug_start_{example.verdict}",
        width="stretch",
        type="primary" if example.verdict == "undecided" and asked.linked() is None else "secondary",
        disabled=st.session_state.get("debug_awaited") is not None,
    ):
        asked.forget()
        _submit(visitor, example.request())
        st.rerun()


def _upload(visitor: str) -> None:
    st.caption("A file from the Certify page or from `tpc certify --out`. It is checked first.")
    given = st.file_uploader("Certificate", type=["json"], key="debug_file", label_visibility="collapsed")
    if given is None:
        return
    key = f"upload|{given.file_id}"
    if st.session_state.get("debug_file_seen") == given.file_id:
        task = board().task(visitor, key)  # it may have failed after the page went on
        if task is not None and (later := task.view()).status == "failed":
            st.error(literal(later.message))
        return
    st.session_state["debug_file_seen"] = given.file_id
    try:
        certificate = read_certificate(given.getvalue(), given.name)
        task = board().start(
            visitor,
            key,
            "Checking the certificate",
            Call(verify, (certificate,)),
            rank=PROMPT,
            finish=lambda _: keep(visitor, title_of(certificate), certificate, model_of(certificate)),
        )
        view = task.settle(2.0)
    except TpcError as error:
        st.session_state["debug_notice"] = str(error)
        st.rerun()
    if view.status == "failed":
        st.error(literal(view.message))
    else:
        st.rerun()


def _progress(visitor: str) -> None:
    """Everything under way, each with a way to stop it."""
    waited = st.session_state.get("debug_awaited")
    job = board().get(visitor, waited) if waited else None
    if job is not None and job.live:
        view = job.view()
        words = "waiting for its turn" if view.status == "queued" else f"{view.samples:,} votes"
        _bar(f"{literal(view.request.title)}: {words}", view.covered, view.eta, job.cancel, "job")
    training_bar(visitor, _bar)
    for task in board().tasks(visitor):
        shown = task.view()
        words = "waiting for its turn" if shown.status == "queued" else shown.words
        _bar(
            f"{shown.title}: {words}" if words else shown.title,
            shown.part,
            shown.eta,
            task.cancel,
            shown.key,
        )


def _bar(words: str, part: float | None, eta: float | None, cancel: object, key: str) -> None:
    bar, button = st.columns([8, 1.2], vertical_alignment="center")
    done = min(max(part or 0.0, 0.0), 1.0)
    told = [words, f"{done:.0%}" if done else "", f"{duration(eta)} to go" if eta is not None else ""]
    bar.progress(done, text=", ".join(word for word in told if word))
    button.button("Stop", key=f"debug_stop_{key}", on_click=cancel, width="stretch")  # type: ignore[arg-type]


def _workbench(visitor: str, case: Opened) -> None:
    certificate, model = case.case.certificate, case.case.model
    st.html(
        f'<div class="tpc-verdict {certificate.verdict}" data-verdict="{certificate.verdict}">'
        f"<b>{_MARKS[certificate.verdict]}</b>{_rest(certificate)}</div>"
    )
    if model is None:
        st.caption(
            f"The model {literal(certificate.model.name)} is not on this server. Its votes are shown, but no new votes "
            "can be cast."
        )
    show_step(case.case, cases(visitor))
    facts = selected(case)
    shared = asked.note_question(case.case, None if facts is None else facts.path)
    st.session_state["debug_unshared"] = "" if shared else _NOT_SHARED
    chart, cloud, numbers = st.columns([5.2, 4, 3.4], gap="medium")
    with chart:
        attack = found_attack(visitor, case)
        if attack is not None and model is not None and case.view.is_cover and not tested(case):
            path_chart(visitor, case, model, attack, key="debug_way", height=HEIGHT)
        else:
            certificate_map(case, facts)
        gap(case, None if attack is None else attack.size)
    with cloud:
        navigator(case, facts)
        cloud_panel(case, facts)
    with numbers:
        if facts is not None:
            facts_panel(case, facts)
            primary_remedy(visitor, case, model, facts)
        else:
            st.caption("No cell has votes.")
    _panels(visitor, case, facts)


def _rest(certificate: Certificate) -> str:
    """The sentence after its first word, where that word is the verdict itself."""
    rest = certificate.sentence.removeprefix("Undecided")
    rest = rest if rest != certificate.sentence else f". {rest}"
    return symbols(f"{rest} {certificate.note}".rstrip())


def _panels(visitor: str, case: Opened, facts: CellStanding | None) -> None:
    if st.session_state.get("debug_panel") not in asked.PANELS:
        st.session_state["debug_panel"] = asked.PANELS[0]
    key = steered.key_of("debug_panel")
    panel = st.segmented_control("Panel", asked.PANELS, key=key, required=True, label_visibility="collapsed")
    steered.moved("debug_panel", panel)
    model = case.case.model
    if panel == "Attack":
        attack_panel(visitor, case, model, facts)
    elif panel == "Models":
        models_panel(visitor, case)
    elif panel == "Votes and sigma":
        forecast_panel(visitor, case, model)
    elif panel == "Neighbours":
        neighbours_panel(case, facts)
    elif panel == "Points":
        points_panel(case, model, facts)
    elif panel == "Compare":
        compare_panel(visitor, case)
    else:
        why(visitor, case, model, facts)
    _takeaway(case)


def _takeaway(case: Opened) -> None:
    certificate = case.case.certificate
    stem = f"{certificate.cloud.name}-{certificate.question.transform}"
    with st.container(horizontal=True):
        st.download_button(
            "This certificate (JSON)",
            certificate.to_json(),
            file_name=f"certificate-{stem}.json",
            mime="application/json",
            on_click="ignore",
            icon=":material/download:",
            key="debug_save",
        )
        st.download_button(
            "Report (HTML)",
            lambda: run_report(certificate, title=case.case.title),
            file_name=f"report-{stem}.html",
            mime="text/html",
            on_click="ignore",
            icon=":material/description:",
            help="One file with the verdict, the figures in 3D and the certificate; it opens offline.",
            key="debug_report",
        )
