"""Other models on the same object: ranked by the true class and by the radius that they would certify."""

from __future__ import annotations

import math

import streamlit as st

from app.components.escape_markdown import literal
from app.pages.certify.estimates import duration, votes_per_second
from app.pages.debug.opened_case import Opened
from app.pages.debug.retrain import retrain_button
from app.pages.debug.work import rivals, start_again, start_ranking, view_of
from tpc_core import Cloud, Model
from tpc_core.explain import count, smaller_radius
from tpc_core.forecast import RankedModel, best_first

_WIDTHS = [3.4, 2.2, 1.5, 2.6, 2.2, 2.2]


def models_panel(visitor: str, case: Opened) -> None:
    """Ask for the ranking, then each model in a row of its own, best first."""
    if case.view.class_name is None:
        st.caption("Models can be compared once the class of the object is known.")
        return
    task = view_of(visitor, f"{case.key}|models")
    if task is None or (not task.live and not task.result):
        st.markdown(
            "Other models may certify this object farther. Each looks at the object and at a few attacks inside the "
            "region."
        )
        if st.button("Compare the models on this object", key="debug_rank", icon=":material/model_training:"):
            start_ranking(visitor, case)
            st.rerun()
        _train(visitor, case)
        return
    ranked = best_first(list(task.result or []))
    for column, title in zip(
        st.columns(_WIDTHS), ["Model", "Says", "Votes", "Expected radius", "Expected votes", ""], strict=True
    ):
        column.markdown(f"**{title}**")
    known = {model.name: (model, cloud) for model, cloud in rivals(case)}
    for number, each in enumerate(ranked):
        if each.model in known:
            _row(visitor, case, each, *known[each.model], first=number == 0)
    label = case.case.certificate.cloud.label
    wanted = f"the true class, {literal(label.replace('_', ' '))}" if label else "the class of this run"
    st.caption(
        f"Votes: for {wanted}, without an attack. The expected radius and votes are estimates from a few places, "
        "not certificates."
    )
    _train(visitor, case)


def _train(visitor: str, case: Opened) -> None:
    """No model may be good enough: then this one can learn."""
    if case.case.model is not None and case.case.certificate.verdict != "certified":
        retrain_button(visitor, case, case.case.model, "debug_retrain")


def _row(visitor: str, case: Opened, each: RankedModel, model: Model, cloud: Cloud, *, first: bool) -> None:
    name, says, share, radius, votes, button = st.columns(_WIDTHS, vertical_alignment="center")
    present = each.model == case.case.certificate.model.name
    name.markdown(f"{literal(each.model)}" + (" (this run)" if present else ""))
    says.markdown(f"{'✓' if each.right else '✗'} {literal(each.says.replace('_', ' '))}")
    share.markdown(f"{each.share:.0%}")
    radius.markdown(_reach(case, each))
    rate = votes_per_second(model, cloud)
    finite = math.isfinite(each.votes)
    votes.markdown(f"{count(each.votes)}, {duration(each.votes / rate)}" if finite else "no estimate")
    if button.button(
        "Certify with this",
        key=f"debug_with_{each.model}",
        width="stretch",
        type="primary" if first and each.right else "secondary",
        disabled=not each.right or present,
        help="A new run with this model, then before and after side by side. Where less than the radius asked for is "
        "expected, it looks for the largest radius.",
    ):
        words, price = f"certify with {each.model}", each.votes if finite else 0.0
        less = None if each.reach >= 1 else smaller_radius()
        start_again(visitor, case, model, words, cloud=cloud, remedy=less, votes=price)
        st.rerun()


def _reach(case: Opened, each: RankedModel) -> str:
    if not each.right:
        return "none, wrong class"
    if each.look is None or each.reach <= 0:
        return "none"
    if each.reach >= 1:
        return f"{case.view.radius_words()}, all that was asked"
    return f"{case.view.radius_words(each.reach)} ({each.reach:.0%})"
