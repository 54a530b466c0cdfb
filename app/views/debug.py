"""Debug: why a certificate failed, cell by cell, and what would settle it."""

from __future__ import annotations

import streamlit as st

from app.debug.around import around_panel
from app.debug.attack import attack_panel, found_attack, path_chart
from app.debug.cases import Case, cases, keep, model_of, title_of
from app.debug.cell import cloud_panel, facts_panel, navigator, selected
from app.debug.chart import HEIGHT, certificate_map, gap, tested
from app.debug.choice import carry_over
from app.debug.compare import compare_panel
from app.debug.examples import EXAMPLES, Example
from app.debug.opened import Opened, opened
from app.debug.points import points_panel
from app.debug.take import take_panel
from app.debug.tasks import Task, desk
from app.debug.why import first_remedy, symbols, why
from app.literal import literal
from app.visitors import board
from app.widgets.estimates import duration
from tpc_core import Certificate, verify
from tpc_core.diagnosis import CellFacts
from tpc_core.errors import TpcError

POLL = 0.4
PANELS = ["Why", "Attack", "What would it take", "Around it", "Points", "Compare"]
_CSS = """
<style>
.tpc-cell { line-height: 1.35; }
.tpc-failed { color: #D55E00; } .tpc-passed { color: #0072B2; }
.tpc-finding { line-height: 1.4; }
.tpc-finding ul { margin: .2rem 0 0; padding-left: 1.1rem; opacity: .85; font-size: .9rem; }
</style>
"""
_MARKS = {"certified": "✓ Certified", "refuted": "✗ Refuted", "undecided": "? Undecided"}


def page() -> None:
    """The chooser, then the certificate; polled while something is under way."""
    visitor = str(st.session_state["visitor"])
    st.html(_CSS)
    st.fragment(_body, run_every=POLL if _busy(visitor) else None)(visitor, _busy(visitor))


def _busy(visitor: str) -> bool:
    """Whether there will be more to see."""
    waited = st.session_state.get("debug_awaited")
    job = board().get(visitor, waited) if waited else None
    return bool(desk().live(visitor)) or (job is not None and job.live)


def _body(visitor: str, known_busy: bool) -> None:
    _arrive(visitor)
    if known_busy != _busy(visitor):
        st.rerun()  # the timer has to start or to stop
    every = cases(visitor)
    case = _choose_case(visitor, every)
    notice = st.session_state.pop("debug_notice", "")
    if notice:
        st.warning(literal(notice))
    _progress(visitor)
    if case is None:
        _empty(visitor)
        return
    task = opened(visitor, case)
    if task.status == "failed":
        st.error(literal(task.message))
    elif isinstance(task.result, Opened):
        _workbench(visitor, task.result)
    elif not known_busy:
        st.rerun()


def _arrive(visitor: str) -> None:
    """Move on to what was waited for: an example's run, or a certificate that was gone on with."""
    waited = st.session_state.get("debug_awaited")
    job = board().get(visitor, waited) if waited else None
    if job is not None and not job.live:
        st.session_state["debug_awaited"] = None
        view = job.view()
        if view.certificate is not None:
            st.session_state["debug_case"] = f"run:{job.id}"
        elif view.message:
            st.session_state["debug_notice"] = view.message
    drawer = desk().drawer(visitor)
    seen = st.session_state.setdefault("debug_seen", set(drawer))
    for key in [key for key in drawer if key not in seen]:
        seen.add(key)
        carry_over(str(st.session_state.get("debug_case")), key)
        st.session_state["debug_case"] = key


def _choose_case(visitor: str, every: dict[str, Case]) -> Case | None:
    chooser, example, upload = st.columns([6, 1.7, 2], vertical_alignment="bottom")
    if every:
        wanted = st.session_state.get("debug_case") or st.session_state.get("debug_kept")
        st.session_state["debug_case"] = wanted if wanted in every else next(iter(every))
        st.session_state["debug_kept"] = st.session_state["debug_case"]
        chooser.selectbox(
            "Certificate",
            list(every),
            format_func=lambda key: every[key].label,
            key="debug_case",
            label_visibility="collapsed",
        )
        with example.popover("Examples", width="stretch", icon=":material/lightbulb:"):
            for one in EXAMPLES:
                _start_button(visitor, one, f"{_MARKS[one.verdict][2:]}: {one.title}")
    else:
        chooser.markdown("### Why did it fail?")
    with upload.popover("Open a certificate", width="stretch", icon=":material/upload_file:"):
        _upload(visitor)
    return every.get(str(st.session_state.get("debug_case")))


def _empty(visitor: str) -> None:
    st.markdown(
        "A certificate that failed has a reason, and most reasons have a remedy. Open one of these cases, each a real "
        "run of a few seconds; or certify something, and ask **Why?** there; or open a certificate file."
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


def _start_button(visitor: str, example: Example, label: str) -> None:
    if st.button(
        label,
        key=f"debug_start_{example.verdict}",
        width="stretch",
        type="primary" if example.verdict == "undecided" else "secondary",
        disabled=st.session_state.get("debug_awaited") is not None,
    ):
        try:
            st.session_state["debug_awaited"] = board().submit(visitor, example.request()).id
        except TpcError as error:
            st.session_state["debug_notice"] = str(error)
        st.rerun()


def _upload(visitor: str) -> None:
    st.caption("A certificate that `tpc certify --out` or the Certify page wrote. It is checked first.")
    given = st.file_uploader("Certificate", type=["json"], key="debug_file", label_visibility="collapsed")
    if given is None or st.session_state.get("debug_file_seen") == given.file_id:
        return
    content = given.getvalue()
    st.session_state["debug_file_seen"] = given.file_id

    def work(task: Task) -> None:
        certificate = Certificate.from_json(content)
        verify(certificate)
        keep(visitor, title_of(certificate), certificate, model_of(certificate))

    try:
        view = (
            desk()
            .start(visitor, f"upload|{given.file_id}", "Checking the certificate", work, votes=False)
            .settle(2.0)
        )
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
    for task in desk().live(visitor):
        shown = task.view()
        words = "waiting for its turn" if shown.status == "waiting" else shown.words
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
            f"The model {literal(certificate.model.name)} of this certificate is not here, or another one has its "
            "name: its counts are shown, and no new votes can be cast."
        )
    facts = selected(case)
    chart, cloud, numbers = st.columns([5.2, 4, 3.4], gap="medium")
    with chart:
        attack = found_attack(visitor, case)
        if attack is not None and model is not None and case.subject.is_cover and not tested(case):
            path_chart(visitor, case, model, *attack, key="debug_way", height=HEIGHT)
        else:
            certificate_map(case, facts)
        gap(case, None if attack is None else attack[1])
    with cloud:
        navigator(case, facts)
        cloud_panel(case, facts)
    with numbers:
        if facts is not None:
            facts_panel(visitor, case, model, facts)
            first_remedy(visitor, case, model, facts)
        else:
            st.caption("No cell has votes.")
    _panels(visitor, case, facts)


def _rest(certificate: Certificate) -> str:
    """The sentence after its first word, where that word is the verdict itself."""
    sentence = certificate.sentence
    rest = sentence.removeprefix("Undecided") if certificate.verdict == "undecided" else f". {sentence}"
    return symbols(rest)


def _panels(visitor: str, case: Opened, facts: CellFacts | None) -> None:
    wanted = st.session_state.pop("debug_next_panel", None) or st.session_state.get("debug_panel")
    st.session_state["debug_panel"] = wanted if wanted in PANELS else PANELS[0]
    panel = st.segmented_control(
        "Panel", PANELS, key="debug_panel", required=True, label_visibility="collapsed"
    )
    model = case.case.model
    if panel == "Attack":
        attack_panel(visitor, case, model, facts)
    elif panel == "What would it take":
        take_panel(visitor, case, model)
    elif panel == "Around it":
        around_panel(case, facts)
    elif panel == "Points":
        points_panel(case, model, facts)
    elif panel == "Compare":
        compare_panel(visitor, case)
    else:
        why(visitor, case, model, facts)
    _takeaway(case)


def _takeaway(case: Opened) -> None:
    certificate = case.case.certificate
    st.download_button(
        "This certificate (JSON)",
        certificate.to_json(),
        file_name=f"certificate-{certificate.cloud.name}-{certificate.claim.transform}.json",
        mime="application/json",
        icon=":material/download:",
        key="debug_save",
    )
