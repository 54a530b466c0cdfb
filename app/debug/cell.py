"""One cell up close: its cloud, its votes by class, p_A against what it needed, and the way to the next one."""

from __future__ import annotations

import html

import numpy as np
import streamlit as st

from app.components.plot import HOME, PNG, plot
from app.debug.choice import choose, chosen_cell
from app.debug.opened import Opened
from app.debug.work import cell_votes
from app.figures.cameras import step_back
from app.figures.cloud import CloudView, cloud_figure
from app.figures.debug_cell import interval_figure, votes_figure
from app.figures.theme import OKABE_ITO
from app.literal import literal
from app.look import theme
from tpc_core import Model
from tpc_core.diagnosis import CellFacts, explain_cell

CLOUD_HEIGHT = 300


def navigator(case: Opened, facts: CellFacts | None) -> None:
    """Step through what failed, worst first, by button or by key."""
    failing = case.subject.failing
    paths = [f.path for f in failing]
    here = paths.index(facts.path) if facts is not None and facts.path in paths else None
    before, words, after = st.columns([1.7, 2.6, 1.7], vertical_alignment="center")
    if len(failing) > 1 or (failing and here is None):
        before.button(
            "Worse",
            key="debug_before",
            shortcut="Left",
            width="stretch",
            disabled=here == 0,
            on_click=choose,
            args=(case, paths[max(0, (here or 0) - 1)]),
        )
        after.button(
            "Next",
            key="debug_after",
            shortcut="Right",
            width="stretch",
            disabled=here is not None and here + 1 >= len(paths),
            on_click=choose,
            args=(case, paths[0 if here is None else min(here + 1, len(paths) - 1)]),
        )
    what = _standing(facts, here, len(failing))
    words.markdown(f"<div style='text-align:center'>{what}</div>", unsafe_allow_html=True)


def _standing(facts: CellFacts | None, here: int | None, failing: int) -> str:
    """Where the chosen cell stands among those that failed."""
    if facts is None:
        return "no cell"
    if facts.kind == "attack":
        return "the attack"
    if here is not None:
        return f"{here + 1} of {failing} open, worst first" if failing > 1 else "the one that is open"
    if not facts.n:
        return "a part without votes"
    return "a cell that passed" if facts.kind == "cell" else "it passed"


def cloud_panel(case: Opened, facts: CellFacts | None) -> None:
    """The cloud on which the votes of the cell were cast, with the original as a ghost."""
    subject = case.subject
    original = subject.cloud.points.numpy()
    moved = original if facts is None else subject.points_of(facts).numpy()
    view = CloudView(original=original, moved=moved)
    figure = cloud_figure(view, theme(), colouring="height", size=5.0 if len(moved) <= 256 else 2.5)
    step_back(figure)
    if facts is not None and facts.kind == "point":
        figure["data"].append(_ring(moved[int(facts.path)]))
    plot(
        figure,
        key="debug_cloud",
        height=CLOUD_HEIGHT,
        stamp=f"{case.key}|{'' if facts is None else facts.path}",
        camera_of=case.case.certificate.cloud.digest,
        zoom=True,
        actions=(HOME, PNG),
        filename=f"cell-{case.case.certificate.cloud.name}",
    )


def _ring(point: np.ndarray) -> dict[str, object]:
    x, y, z = (float(v) for v in point)
    return {
        "type": "scatter3d",
        "mode": "markers",
        "x": [x],
        "y": [y],
        "z": [z],
        "hoverinfo": "skip",
        "marker": {"size": 13, "symbol": "circle-open", "color": OKABE_ITO[5], "line": {"width": 4}},
    }


def facts_panel(visitor: str, case: Opened, model: Model | None, facts: CellFacts) -> None:
    """The cause in a line, the interval, and the histogram of the votes."""
    finding = explain_cell(case.subject, facts)
    place = html.escape(case.subject.place(facts))
    colour = "passed" if facts.state == "passed" else "failed"
    st.html(
        f'<div class="tpc-cell" data-cell="{html.escape(facts.path)}" data-cause="{finding.cause}" '
        f'data-state="{facts.state}" data-votes="{facts.n}"><b>{place}</b><br>'
        f'<span class="tpc-{colour}">{finding.title}.</span></div>'
    )
    if facts.kind != "group":
        plot(interval_figure(facts, theme()), key="debug_interval", height=84, stamp=facts.path)
    _histogram(visitor, case, model, facts)


def _histogram(visitor: str, case: Opened, model: Model | None, facts: CellFacts) -> None:
    if not facts.n:
        return
    prediction = case.subject.prediction
    if model is None:
        st.caption(
            f"{facts.n_a:,} of {facts.n:,} votes; the other classes need the model, which is not here."
        )
        return
    name = prediction.name if prediction is not None else model.classes[_part(case, facts)]
    task = cell_votes(visitor, case, model, facts)
    if task is None or task.result is None:
        st.caption("Casting the votes of this cell again ...")
        return
    votes: dict[str, int] = task.result
    total = sum(votes.values())
    plot(votes_figure(votes, name, theme()), key="debug_votes", height=150, stamp=f"{facts.path}|{total}")
    st.caption(_agreement(facts, votes, name, total))


def _part(case: Opened, facts: CellFacts) -> int:
    evidence = case.case.certificate.evidence
    assert evidence.kind == "points"
    return evidence.predictions[int(facts.path)]


def _agreement(facts: CellFacts, votes: dict[str, int], name: str, total: int) -> str:
    """Whether the votes came out again as they were recorded."""
    if total < facts.n:
        return f"The first {total:,} of its {facts.n:,} votes, cast again."
    if votes.get(name, 0) == facts.n_a:
        return f"Its {facts.n:,} votes, cast again: the same count."
    return f"Cast again, {votes.get(name, 0):,} votes are for {literal(name)}; {facts.n_a:,} were recorded."


def selected(case: Opened) -> CellFacts | None:
    """The chosen cell; at first the worst one, else the one with the least to spare."""
    path = chosen_cell(case)
    return case.subject.by_path.get(path) if path is not None else None
