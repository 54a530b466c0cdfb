"""Why it failed: the cause of the chosen cell and of the whole run, with remedies that are one click away."""

from __future__ import annotations

import html
import math

import streamlit as st

from app.components.escape_markdown import literal
from app.pages.certify.estimates import duration, votes_per_second
from app.pages.debug.cases import keep
from app.pages.debug.opened_case import Opened
from app.pages.debug.work import start_again, start_hunt, start_more, start_opinions, start_sweep, view_of
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
    "new-run": ":material/restart_alt:",
}


def symbols(text: str) -> str:
    """Plain words as HTML, with p_A as it is written."""
    return html.escape(text).replace("p_A", "p<sub>A</sub>")


def why(visitor: str, case: Opened, model: Model | None, facts: CellStanding | None) -> None:
    """This cell on the left, the whole run on the right; one estimate is both, and is said once."""
    findings = list(enumerate(case.explanation.findings))
    several = facts is not None and facts.kind in ("cell", "point", "attack")
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(f"## {_title_of(facts)}")
        if facts is None:
            st.caption("No cell is chosen.")
        elif several:
            _finding(visitor, case, model, explain_cell(case.view, facts), "cell", facts)
        else:
            for number, finding in findings[:1]:
                _finding(visitor, case, model, finding, f"run{number}", facts)
    with right:
        rest = findings if several or facts is None else findings[1:]
        if rest:
            st.markdown("## The whole run" if several else "## What else there is")
        for number, finding in rest:
            _finding(visitor, case, model, finding, f"run{number}", facts)
        _opinions(visitor, case)


def _title_of(facts: CellStanding | None) -> str:
    if facts is None or facts.kind == "cell":
        return "This cell"
    return {"point": "This point", "attack": "The attack"}.get(facts.kind, "The estimate")


def _finding(
    visitor: str, case: Opened, model: Model | None, finding: Finding, place: str, facts: CellStanding | None
) -> None:
    lines = "".join(f"<li>{symbols(line)}</li>" for line in finding.evidence)
    st.html(
        f'<div class="tpc-finding" data-cause="{finding.cause}"><b>{finding.title}.</b> '
        f"{symbols(finding.sentence)}<ul>{lines}</ul></div>"
    )
    for number, remedy in enumerate(finding.remedies):
        _remedy(visitor, case, model, remedy, f"{place}_{number}", facts)


def _remedy(
    visitor: str, case: Opened, model: Model | None, remedy: Remedy, place: str, facts: CellStanding | None
) -> None:
    """A button where it can be done here, a line where it cannot."""
    text = remedy.sentence[:1].upper() + remedy.sentence[1:]
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
    """Whether one click does it here: another radius, or another fixed sample, is a question for the Certify page."""
    if remedy.action == "smaller-radius":
        return False
    if remedy.action == "new-run" and not remedy.protocol:
        return False
    return model is not None or remedy.action in ("other-model", "claim-less")


def _act(visitor: str, case: Opened, model: Model | None, remedy: Remedy, facts: CellStanding | None) -> None:
    if remedy.action == "other-model":
        start_opinions(visitor, case)
    elif remedy.action == "claim-less":
        keep(
            visitor,
            f"{case.case.title}, smaller region",
            shrink_claim(case.view),
            case.case.model,
            case.case.request,
        )
    elif model is None:
        return
    elif remedy.action == "attack":
        suspect = case.view.by_path.get(remedy.cells[0]) if remedy.cells else facts
        start_hunt(visitor, case, model, suspect)
        st.session_state["debug_panel"] = "Attack"
    elif remedy.action == "new-run":
        start_again(visitor, case, model, protocol=remedy.protocol)
    elif remedy.action == "sweep":
        start_sweep(visitor, case, model)
        st.session_state["debug_panel"] = "What would it take"
    else:
        start_more(visitor, case, model, remedy)


def first_remedies(visitor: str, case: Opened, model: Model | None, facts: CellStanding) -> None:
    """What to do first, beside the votes: finish the whole run where that can help, then what helps this cell."""
    whole = case.explanation.primary
    here = next((r for r in explain_cell(case.view, facts).remedies if _can_do(r, model)), None)
    offered = [("all", whole if whole is not None and _can_do(whole, model) else None), ("now", here)]
    first = True
    for place, remedy in offered:
        if remedy is None or (place == "now" and remedy == whole):
            continue
        if st.button(
            remedy.sentence[:1].upper() + remedy.sentence[1:],
            key=f"debug_do_{place}_{remedy.action}",
            icon=_ICONS[remedy.action],
            width="stretch",
            help=remedy.note or None,
            type="primary" if first else "secondary",
        ):
            _act(visitor, case, model, remedy, facts)
            st.rerun()
        st.caption(_cost(case, model, remedy).strip(" ()"))
        first = False


def _cost(case: Opened, model: Model | None, remedy: Remedy) -> str:
    """What it will take, in votes and in time, and how likely it is to do."""
    if not remedy.votes or not math.isfinite(remedy.votes):
        return ""
    words = f"about {count(remedy.votes)} votes"
    if model is not None:
        words += f", {duration(remedy.votes / votes_per_second(model, case.view.cloud))}"
    if f"{count(remedy.votes)} " in remedy.sentence:  # the number is said already
        words = words.partition(", ")[2]
    if remedy.chance is not None:
        words += f"; {_likely(remedy.chance)}"
    return f" ({words})" if words else ""


def _likely(chance: float) -> str:
    if chance > 0.995:
        return "almost sure to do"
    return f"{100 * chance:.0f} % likely to do"


def _opinions(visitor: str, case: Opened) -> None:
    task = view_of(visitor, f"{case.key}|opinions")
    if task is None or not task.result:
        return
    rows = [
        {
            "Model": opinion.model,
            "Says": opinion.says,
            "Votes": f"{opinion.share:.0%}",
            "Right": {True: "yes", False: "no", None: ""}[opinion.right],
        }
        for opinion in task.result
    ]
    st.dataframe(rows, hide_index=True, width="stretch")
