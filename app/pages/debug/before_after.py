"""What was done to a case, and what came of it: every remedy ends in a comparison of before and after."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass

import streamlit as st

from app.pages.certify.estimates import duration
from app.pages.debug.cases import Case
from tpc_core.explain import count

_MARKS = {"certified": "✓ certified", "refuted": "✗ refuted", "undecided": "? undecided"}
_PENDING, _DONE = "debug_step", "debug_steps"


@dataclass(frozen=True)
class Step:
    """A remedy that was begun: on which case, in which words, and the votes and seconds that were said."""

    before: str
    words: str
    votes: float
    seconds: float


def begin_step(before: str, words: str, votes: float = 0.0, seconds: float = 0.0) -> None:
    """A remedy was started; what arrives next came of it."""
    st.session_state[_PENDING] = Step(before, words, votes, seconds)


def end_step(after: str) -> None:
    """Something arrived: if a remedy was under way, it is what came of it, and the comparison is shown."""
    step: Step | None = st.session_state.pop(_PENDING, None)
    if step is None or step.before == after:
        return
    st.session_state.setdefault(_DONE, {})[after] = step
    st.session_state["debug_panel"] = "Compare"
    st.session_state["debug_other"] = step.before


def step_to(case_id: str) -> Step | None:
    """The remedy that led to a case."""
    found: Step | None = st.session_state.get(_DONE, {}).get(case_id)
    return found


def show_step(after: Case, every: dict[str, Case]) -> None:
    """Before and after in one line, with the votes and the time that were said and those that it took."""
    step = step_to(after.id)
    before = None if step is None else every.get(step.before)
    if step is None or before is None:
        return
    first, second = before.certificate, after.certificate
    same = first.model.digest == second.model.digest and first.model.smoothing == second.model.smoothing
    spent = second.samples - first.samples if same and second.samples >= first.samples else second.samples
    said = f", {count(step.votes)} expected" if step.votes and math.isfinite(step.votes) else ""
    took = f" {duration(second.seconds)}, {duration(step.seconds)} expected." if step.seconds else ""
    st.html(
        f'<div class="tpc-step" data-before="{first.verdict}" data-after="{second.verdict}" '
        f'data-said="{step.votes:.0f}" data-spent="{spent}" '
        f'data-seconds="{step.seconds:.1f}" data-took="{second.seconds:.1f}">'
        f"<b>{html.escape(step.words[:1].upper() + step.words[1:])}:</b> "
        f"before <b>{_MARKS[first.verdict]}</b> ({first.samples:,} votes) → "
        f"after <b>{_MARKS[second.verdict]}</b> ({second.samples:,} votes). "
        f"{spent:,} new votes{said}.{took}</div>"
    )
