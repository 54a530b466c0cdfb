"""Attack: the smallest one found beside the original, and how the prediction changes on the way to it."""

from __future__ import annotations

import numpy as np
import streamlit as st

from app.components.plot import HOME, PNG, plot
from app.debug.chart import tested
from app.debug.opened import Opened
from app.debug.work import attack_path, start_hunt, view_of
from app.figures.cloud import CloudView, cloud_figure
from app.figures.debug_gap import path_figure
from app.literal import literal
from app.look import theme
from tpc_core import Model
from tpc_core.certificate.schema import AttackRecord
from tpc_core.diagnosis import CellFacts, Quarry

_HEIGHT = 320


def found_attack(visitor: str, case: Opened) -> tuple[AttackRecord, float] | None:
    """The smallest attack that is known of this case, with its size in parts of the region."""
    hunted = view_of(visitor, f"{case.key}|hunt")
    quarry = hunted.result if hunted is not None and isinstance(hunted.result, Quarry) else None
    record = (
        quarry.attack if quarry is not None and quarry.attack is not None else case.case.certificate.attack
    )
    return None if record is None else (record, case.subject.size(np.array(record.parameter)))


def attack_panel(visitor: str, case: Opened, model: Model | None, facts: CellFacts | None) -> None:
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
        _show(visitor, case, model, known[0], known[1])


def _sentence(case: Opened, known: tuple[AttackRecord, float] | None, quarry: object) -> str:
    prediction = case.subject.prediction
    name = prediction.name if prediction is not None else "its class"
    if known is not None:
        record, size = known
        place = case.subject.describe(np.array(record.parameter))
        return (
            f"At **{place}** the smoothed model says **{literal(record.winner)}**, not {literal(name)}: "
            f"{record.votes.get(record.winner, 0):,} of {record.samples:,} fresh votes, p-value {record.p_value:.1g}. "
            f"It has {size:.0%} of the size of the region."
        )
    if isinstance(quarry, Quarry) and quarry.done:
        closest = (
            ""
            if quarry.closest is None
            else f" The class never led by less than {quarry.closest:.0%} of the votes."
        )
        looked = f"No attack was found inside the region in {quarry.evaluations:,} evaluations."
        return f"{looked}{closest} That proves nothing."
    return "Random, grid and gradient search look inside the region; what they find is put to the test on fresh votes."


def _show(visitor: str, case: Opened, model: Model, record: AttackRecord, size: float) -> None:
    subject = case.subject
    prediction = subject.prediction
    assert prediction is not None
    above = case.subject.is_cover and not tested(case)  # the way is drawn in place of the map
    left, right = (st.container(), None) if above else st.columns([6, 5], gap="medium")
    moved = subject.at(np.array(record.parameter)).numpy()
    with left:
        st.caption(
            f"Left: the object, {literal(prediction.name)}. Right: the attack, {literal(record.winner)}."
        )
        view = CloudView(original=subject.cloud.points.numpy(), moved=moved)
        figure = cloud_figure(view, theme(), colouring="displacement", side_by_side=True, size=5.0)
        plot(
            figure,
            key="debug_attack",
            height=_HEIGHT,
            stamp=str(record.parameter[:3]),
            camera_of=case.key,
            zoom=True,
            actions=(HOME, PNG),
            filename="attack",
        )
    if right is not None:
        with right:
            path_chart(visitor, case, model, record, size, key="debug_path", height=_HEIGHT)


def path_chart(
    visitor: str, case: Opened, model: Model, record: AttackRecord, size: float, *, key: str, height: int
) -> None:
    """Who gets the votes on the way to an attack."""
    prediction = case.subject.prediction
    assert prediction is not None
    st.caption(
        "Votes on the way from the object to the attack" + ("; blue: certified." if case.certified else ".")
    )
    path = attack_path(visitor, case, model, tuple(record.parameter))
    if path is None or not path.result:
        st.caption("Following the prediction ...")
        return
    certified = min(1.0, case.certified / size) if size > 0 else None
    figure = path_figure(path.result, prediction.name, certified, theme())
    plot(figure, key=key, height=height, stamp=f"{len(path.result)}|{size:.6f}", actions=(PNG,))
