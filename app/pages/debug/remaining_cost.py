"""The radius to expect from more votes, and from another sigma."""

from __future__ import annotations

import math

import streamlit as st

from app.components.plot import PNG, plot
from app.components.style import theme
from app.figures.debug_take import sigma_curve, votes_curve
from app.pages.certify.estimates import duration, votes_per_second
from app.pages.debug.opened_case import Opened, promises
from app.pages.debug.work import start_again, start_sweep, view_of
from tpc_core import Model
from tpc_core.forecast import SigmaLook, best_sigma, sweep_judgement, sweep_votes

_HEIGHT = 290


def forecast_panel(visitor: str, case: Opened, model: Model | None) -> None:
    """Votes on the left, sigma on the right."""
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("## More votes")
        forecast = promises(visitor, case)
        if forecast.live:
            st.caption("Forecasting ...")
        elif forecast.result:
            figure = votes_curve(case.view, forecast.result, theme())
            plot(figure, key="debug_take_votes", height=_HEIGHT, stamp=case.key, actions=(PNG,))
            st.caption(
                "An estimate from the votes so far, not a certificate. The line is the most likely radius; the true "
                "one lies in the band with probability 80 %."
            )
        else:
            st.caption("There are too few votes for a forecast.")
    with right:
        st.markdown("## Another sigma")
        _sigma(visitor, case, model)


def _sigma(visitor: str, case: Opened, model: Model | None) -> None:
    if not case.view.smoothing.sigmas:
        st.caption("This smoothing takes all rotations with equal probability. It has no sigma.")
        return
    if model is None or case.view.class_name is None:
        st.caption("The model that voted is not on this server, so no other sigma can be tried.")
        return
    task = view_of(visitor, f"{case.key}|sweep")
    if task is None or (not task.live and not task.result):
        cost = sweep_votes(case.view)
        seconds = duration(cost / votes_per_second(model, case.view.cloud))
        if st.button(
            f"Try five values of sigma (about {cost:,} votes, {seconds})",
            key="debug_sweep",
            icon=":material/tune:",
            width="stretch",
        ):
            start_sweep(visitor, case, model)
            st.rerun()
        return
    looks: list[SigmaLook] = list(task.result or [])
    if len(looks) > 1:
        figure = sigma_curve(case.view, looks, theme())
        plot(figure, key="debug_take_sigma", height=_HEIGHT, stamp=f"{case.key}|{len(looks)}", actions=(PNG,))
    if not task.live and any(look.factor == 1.0 for look in looks):
        st.markdown(sweep_judgement(looks))
        _ask_again(visitor, case, model, best_sigma(looks))


def _ask_again(visitor: str, case: Opened, model: Model, look: SigmaLook) -> None:
    """A new run with the best sigma, on noise of its own: the sweep chose it, and must not judge it."""
    if look.factor == 1.0 or max(look.radius) <= 0:
        return
    sigma = ", ".join(f"{s:g}" for s in look.sigma)
    if st.button(
        f"Certify with sigma {sigma}",
        key="debug_ask_again",
        icon=":material/verified:",
        help="A new run with fresh votes, then before and after side by side.",
    ):
        votes = look.votes if math.isfinite(look.votes) else 0.0
        words = f"certify with sigma {sigma}"
        start_again(visitor, case, model, words, sigma=look.sigma, votes=votes)
        st.rerun()
