"""Why it failed: the cause of the chosen cell and of the whole run, with remedies that are one click away."""

from __future__ import annotations

import html
import math

import streamlit as st

from app.components.escape_markdown import literal
from app.pages.certify.estimates import duration
from app.pages.debug.before_after import begin_step
from app.pages.debug.cases import keep
from app.pages.debug.opened_case import Opened
from app.pages.debug.retrain import retrain_button
from app.pages.debug.work import (
    finish_run,
    pace,
    start_again,
    start_hunt,
    start_more,
    start_ranking,
    start_sweep,
)
from tpc_core import Model
from tpc_core.explain import Finding, Remedy, count, explain_cell, shrink_claim
from tpc_core.proofs import CellStanding

_ICONS = {
    "attack": ":material/target:",
    "more-votes": ":material/how_to_vote:",
    "refine": ":material/grid_on:",
    "go-on": ":material/play_arrow:",
    "sweep": ":material/tune:",
    "other-model": ":material/model_training:",
    "claim-less": ":material/verified:",
    "smaller-radius": ":material/straighten:",
    "new-run": ":material/restart_alt:",
    "retrain": ":material/fitness_center:",
}


def symbols(text: str) -> str:
    """Plain words as HTML, with p_A as it is written."""
    return html.escape(text).replace("p_A", "p<sub>A</sub>")


def why(visitor: str, case: Opened, model: Model | None, facts: CellStanding | None) -> None:
    """The chosen cell on the left, the rest of the run on the right; nothing is said twice."""
    here = None if facts is None else explain_cell(case.view, facts)
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(f"## {_title_of(facts)}")
        if here is None:
            st.caption("No cell is chosen.")
        else:
            _finding(visitor, case, model, here, "cell", facts)
    others = [
        finding
        for finding in case.explanation.findings
        if facts is None or finding.cells != (facts.path,) or finding.cause in ("budget", "untested")
    ]
    with right:
        if others:
            st.markdown("## The whole run")
        for number, finding in enumerate(others):
            _finding(visitor, case, model, finding, f"run{number}", facts)


def _title_of(facts: CellStanding | None) -> str:
    if facts is None or facts.kind == "cell":
        return "This cell"
    return {"point": "This point", "attack": "The attack"}.get(facts.kind, "The estimate")


def _finding(
    visitor: str, case: Opened, model: Model | None, finding: Finding, place: str, facts: CellStanding | None
) -> None:
    if place != "cell" and facts is not None and facts.path in finding.cells and finding.heading:
        words = " The chosen cell is one of them."  # its numbers stand on the left
    else:
        lines = "".join(f"<li>{symbols(line)}</li>" for line in finding.evidence)
        words = f" {symbols(finding.sentence)}<ul>{lines}</ul>"
    st.html(f'<div class="tpc-finding" data-cause="{finding.cause}"><b>{finding.title}.</b>{words}</div>')
    for number, remedy in enumerate(finding.remedies):
        if remedy != case.explanation.primary:  # its button stands above, beside the votes
            _remedy(visitor, case, model, remedy, f"{place}_{number}", facts)


def _remedy(
    visitor: str, case: Opened, model: Model | None, remedy: Remedy, place: str, facts: CellStanding | None
) -> None:
    """A button where it can be done here, a line where it cannot."""
    text = remedy.sentence[:1].upper() + remedy.sentence[1:]
    if remedy.action == "retrain" and model is not None:
        retrain_button(visitor, case, model, f"debug_do_{place}_retrain")
        return
    if not _can_do(remedy, model):
        st.markdown(f"→ {literal(text)}{_cost(case, model, remedy)}")
        return
    if st.button(
        f"{text}{_cost(case, model, remedy)}",
        key=f"debug_do_{place}_{remedy.action}",
        icon=_ICONS[remedy.action],
        width="stretch",
        help=remedy.note or None,
    ):
        _act(visitor, case, model, remedy, facts)
        st.rerun()


def _can_do(remedy: Remedy, model: Model | None) -> bool:
    """Whether one click does it here: all but comparing and claiming less takes the model that voted."""
    return model is not None or remedy.action in ("other-model", "claim-less")


def _act(visitor: str, case: Opened, model: Model | None, remedy: Remedy, facts: CellStanding | None) -> None:
    if remedy.action == "other-model":
        start_ranking(visitor, case)
        st.session_state["debug_panel"] = "Models"
    elif remedy.action == "claim-less":
        begin_step(case.case.id, remedy.sentence)
        title = f"{case.case.title}, smaller radius"
        keep(visitor, title, shrink_claim(case.view), case.case.model, case.case.request)
    elif model is None:
        return
    elif remedy.action == "attack":
        suspect = case.view.by_path.get(remedy.cells[0]) if remedy.cells else facts
        start_hunt(visitor, case, model, suspect)
        st.session_state["debug_panel"] = "Attack"
    elif remedy.action in ("new-run", "smaller-radius"):
        start_again(visitor, case, model, remedy.sentence, remedy=remedy, votes=remedy.votes)
    elif remedy.action == "sweep":
        start_sweep(visitor, case, model)
        st.session_state["debug_panel"] = "Votes and sigma"
    elif remedy.action == "go-on" and remedy.focus is None:
        finish_run(visitor, case, model, remedy)
    else:
        start_more(visitor, case, model, remedy)


def primary_remedy(visitor: str, case: Opened, model: Model | None, facts: CellStanding) -> None:
    """What to do first, beside the votes: finish the whole run where that can help; its cost is said before."""
    remedy = case.explanation.primary
    if remedy is None or not _can_do(remedy, model):
        return
    if st.button(
        remedy.sentence[:1].upper() + remedy.sentence[1:],
        key=f"debug_do_all_{remedy.action}",
        icon=_ICONS[remedy.action],
        width="stretch",
        help=remedy.note or None,
        type="primary",
    ):
        _act(visitor, case, model, remedy, facts)
        st.rerun()
    st.caption(_cost(case, model, remedy).strip(" ()"))


def _cost(case: Opened, model: Model | None, remedy: Remedy) -> str:
    """What it will take, in votes and in time, and how likely it is to do."""
    if not remedy.votes or not math.isfinite(remedy.votes):
        return ""
    words = f"about {count(remedy.votes)} votes"
    if model is not None:
        words += f", {duration(remedy.votes / pace(case, model))}"
    if f"{count(remedy.votes)} " in remedy.sentence:  # the number is said already
        words = words.partition(", ")[2]
    if remedy.chance is not None:
        words += f"; {_likely(remedy.chance)}"
    return f" ({words})" if words else ""


def _likely(chance: float) -> str:
    if chance > 0.995:
        return "almost certain to be enough"
    return f"enough with probability {100 * chance:.0f} %"
