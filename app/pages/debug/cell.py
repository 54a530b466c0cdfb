"""One cell up close: its cloud, its votes by class, p_A against what it needed, and the way to the next one."""

from __future__ import annotations

import html

import numpy as np
import streamlit as st
import torch

from app.components.plot import plot
from app.components.stage import HOME, PNG, stage
from app.components.style import theme
from app.figures.arrays import packed
from app.figures.cameras import step_back
from app.figures.cloud import CloudView, cloud_figure
from app.figures.debug_cell import interval_figure, votes_figure
from app.figures.looks import stage_look
from app.figures.scene import scene_of
from app.pages.debug.case_surface import surface_of_case
from app.pages.debug.choice import choose, chosen_cell
from app.pages.debug.opened_case import Opened
from app.session.pose import identity_values
from app.widgets.object_stage import SETTINGS
from tpc_core.case_view import is_short
from tpc_core.explain import explain_cell
from tpc_core.proofs import CellStanding
from tpc_core.transforms import shader

CLOUD_HEIGHT = 300


def navigator(case: Opened, facts: CellStanding | None) -> None:
    """Step through what failed, worst first, by button or by key."""
    failing = case.view.failing
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


def _standing(facts: CellStanding | None, here: int | None, failing: int) -> str:
    """Where the chosen cell stands among those that failed."""
    if facts is None:
        return "no cell"
    if facts.kind == "attack":
        return "the attack"
    if here is not None:
        return f"{here + 1} of {failing} open, worst first" if failing > 1 else "the only open cell"
    if not facts.n:
        return "a cell without votes"
    return "a cell that passed" if facts.kind == "cell" else "it passed"


def cloud_panel(case: Opened, facts: CellStanding | None) -> None:
    """The object where the votes of the cell were cast, on its surface, with the original as a ghost."""
    view = case.view
    original = view.cloud.points.numpy()
    moved = original if facts is None else view.points_of(facts).numpy()
    if st.session_state.get("debug_cloud_flat"):  # a browser without WebGL
        figure = step_back(cloud_figure(CloudView(original, moved), theme(), size=5.0))
        plot(figure, key="debug_cloud_plotly", height=CLOUD_HEIGHT, zoom=True, camera_of=case.key)
        return
    drawable = shader(view.transform) is not None
    parts = {} if drawable else {"served": packed(moved.ravel())}
    values = identity_values(view.transform.parameters)
    if drawable and facts is not None and facts.tested:
        values = view.transform.to_edge(torch.from_numpy(facts.z))
    chosen = int(facts.path) if facts is not None and facts.kind == "point" else None
    if chosen is not None:
        parts["weights"] = packed((np.arange(len(original)) == chosen).astype(np.float32))
    path = "" if facts is None else facts.path
    result = stage(
        scene_of(original, surface_of_case(case) if drawable else None),
        view.transform,
        values,
        key="debug_cloud",
        height=f"{CLOUD_HEIGHT}px",
        look=stage_look(theme()),
        settings={**SETTINGS, "colouring": "height" if chosen is None else "critical"},
        epoch=f"{case.key}|{path}",
        parts=parts,
        camera_of=case.case.certificate.cloud.digest,
        title=f"{view.class_name or 'the object'}, in the chosen cell" if path else "the object",
        actions=(HOME, PNG),
        filename=f"cell-{case.case.certificate.cloud.name}",
    )
    if result.flat:
        st.session_state["debug_cloud_flat"] = True
        st.rerun()


def facts_panel(case: Opened, facts: CellStanding) -> None:
    """The cause in a line, the interval, and the histogram of the votes."""
    finding = explain_cell(case.view, facts)
    place = html.escape(case.view.place(facts))
    colour = "passed" if facts.state == "passed" else "failed" if is_short(facts) else "open"
    st.html(
        f'<div class="tpc-cell" data-cell="{html.escape(facts.path)}" data-cause="{finding.cause}" '
        f'data-state="{facts.state}" data-votes="{facts.n}"><b>{place}</b><br>'
        f'<span class="tpc-{colour}">{finding.title}.</span></div>'
    )
    if facts.kind != "group":
        plot(interval_figure(facts, theme()), key="debug_interval", height=84, stamp=facts.path)
    _histogram(case, facts)


def _histogram(case: Opened, facts: CellStanding) -> None:
    """The votes by class, as the ledger has them."""
    if not facts.n:
        return
    votes, view = case.view.votes_of(facts), case.view
    name = view.class_name or view.certificate.model.classes[_part(case, facts)]
    total = sum(votes.values())
    plot(votes_figure(votes, name, theme()), key="debug_votes", height=150, stamp=f"{facts.path}|{total}")
    st.caption(f"The {total:,} votes of this cell.")


def _part(case: Opened, facts: CellStanding) -> int:
    """The part that was predicted for a point."""
    chosen = case.view.ledger.chosen
    assert chosen is not None
    return int(chosen[int(facts.path)])


def selected(case: Opened) -> CellStanding | None:
    """The chosen cell; at first the worst one, else the one with the least to spare."""
    path = chosen_cell(case)
    return case.view.by_path.get(path) if path is not None else None
