"""Attack: the smallest one found beside the original, and how the prediction changes on the way to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from app.components.escape_markdown import literal
from app.components.plot import HOME, PNG, plot
from app.components.style import theme
from app.figures.cloud import CloudView, cloud_figure
from app.figures.debug_gap import path_figure
from app.pages.debug.chart import tested
from app.pages.debug.opened_case import Opened
from app.pages.debug.work import attack_path, start_hunt, view_of
from tpc_core import Model
from tpc_core.explain import AttackSearch
from tpc_core.ledger import Refutation
from tpc_core.proofs import CellStanding
from tpc_core.proofs.judgement import is_proven

_HEIGHT = 320


@dataclass(frozen=True)
class Known:
    """A proven attack, its size in parts of the region, and the class that it leads to."""

    attack: Refutation
    size: float
    rival: str


def found_attack(visitor: str, case: Opened) -> Known | None:
    """The smallest attack that is known of this case: from its ledger, or from the search that is under way."""
    view, classes = case.view, case.case.certificate.model.classes
    proven = [
        attack
        for number, attack in enumerate(view.ledger.refutations, start=1)
        if is_proven(attack, view.ledger, case.case.certificate.alpha, number)
    ]
    search = view_of(visitor, f"{case.key}|hunt")
    if search is not None and isinstance(search.result, AttackSearch) and search.result.attack is not None:
        proven.append(search.result.attack)
    known = [Known(each, view.size(np.array(each.parameter)), classes[each.rival]) for each in proven]
    return min(known, key=lambda each: each.size, default=None)


def attack_panel(visitor: str, case: Opened, model: Model | None, facts: CellStanding | None) -> None:
    """Search, then show."""
    if model is None:
        st.caption("An attack needs the model that voted, and it is not here.")
        return
    if model.task != "classification":
        st.caption("Attacks look for a change of a cloud's class; segmentation models have none.")
        return
    known = found_attack(visitor, case)
    hunted = view_of(visitor, f"{case.key}|hunt")
    words, button = st.columns([3, 1.4], vertical_alignment="center")
    words.markdown(_sentence(case, known, hunted.result if hunted is not None else None))
    live = hunted is not None and hunted.live
    label = "Search for an attack" if known is None else "Search for a smaller one"
    if button.button(label, key="debug_hunt", icon=":material/target:", disabled=live, width="stretch"):
        start_hunt(visitor, case, model, facts if known is None else None)
        st.rerun()
    if known is not None:
        _show(visitor, case, model, known)


def _sentence(case: Opened, known: Known | None, search: object) -> str:
    name = case.view.class_name or "its class"
    if known is not None:
        votes = known.attack.votes
        place = case.view.describe(np.array(known.attack.parameter))
        return (
            f"At **{place}** the smoothed model says **{literal(known.rival)}**, not {literal(name)}: "
            f"{int(votes.total[known.attack.rival]):,} of {votes.n:,} fresh votes. "
            f"It has {known.size:.0%} of the size of the region."
        )
    if isinstance(search, AttackSearch) and search.done:
        closest = (
            ""
            if search.closest is None
            else f" The class never led by less than {search.closest:.0%} of the votes."
        )
        looked = f"No attack was found inside the region in {search.evaluations:,} evaluations."
        return f"{looked}{closest} That proves nothing."
    return "Random, grid and gradient search look inside the region; what they find is put to the test on fresh votes."


def _show(visitor: str, case: Opened, model: Model, known: Known) -> None:
    name = case.view.class_name or "its class"
    above = case.view.is_cover and not tested(case)  # the way is drawn in place of the map
    left, right = (st.container(), None) if above else st.columns([6, 5], gap="medium")
    parameter = known.attack.parameter
    with left:
        st.caption(f"Left: the object, {literal(name)}. Right: the attack, {literal(known.rival)}.")
        moved = case.view.at(np.array(parameter)).numpy()
        clouds = CloudView(original=case.view.cloud.points.numpy(), moved=moved)
        figure = cloud_figure(clouds, theme(), colouring="displacement", side_by_side=True, size=5.0)
        plot(
            figure,
            key="debug_attack",
            height=_HEIGHT,
            stamp=str(parameter[:3]),
            camera_of=case.key,
            zoom=True,
            actions=(HOME, PNG),
            filename="attack",
        )
    if right is not None:
        with right:
            path_chart(visitor, case, model, known, key="debug_path", height=_HEIGHT)


def path_chart(visitor: str, case: Opened, model: Model, known: Known, *, key: str, height: int) -> None:
    """Who gets the votes on the way to an attack."""
    st.caption(
        "Votes on the way from the object to the attack" + ("; blue: certified." if case.certified else ".")
    )
    path = attack_path(visitor, case, model, known.attack.parameter)
    if path is None or not path.result:
        st.caption("Following the prediction ...")
        return
    certified = min(1.0, case.certified / known.size) if known.size > 0 else None
    figure = path_figure(path.result, case.view.class_name or "", certified, theme())
    plot(figure, key=key, height=height, stamp=f"{len(path.result)}|{known.size:.6f}", actions=(PNG,))
