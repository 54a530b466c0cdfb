"""Train the model further for the attack that breaks it: started here, watched here, and certified when it ends."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from app.components.escape_markdown import literal
from app.pages.certify.estimates import duration, votes_per_second
from app.pages.debug.opened_case import Opened
from app.pages.debug.work import start_again
from app.server import cache
from app.server.owner import may_add
from app.server.trainings import Started, trainings
from tpc_core import Model
from tpc_core.errors import TpcError
from tpc_core.explain import retrain
from tpc_core.training import PASSES_PER_STEP, TrainConfig, clouds_shown, retraining_recipe

_OWNER = "Only the owner of this server can train models here."
_SLOWER = 3.0
"""Training uses the plain network, not the fast path that votes."""


def retrain_button(visitor: str, case: Opened, model: Model, key: str) -> None:
    """A button with the time that it takes, where it can be done; else one line that says why not."""
    text = retrain().sentence[:1].upper() + retrain().sentence[1:]
    if not may_add():
        st.caption(f"{text}: {_OWNER}")
        return
    recipe = retraining_recipe(model.card, case.case.certificate.model.smoothing, _attacks(case))
    try:
        clouds = _clouds(recipe.dataset, recipe)
    except TpcError as error:
        st.caption(f"{text}: its training data are not on this machine. {literal(_sentence(error))}")
        return
    seconds = clouds * PASSES_PER_STEP * _SLOWER / votes_per_second(model, case.view.cloud)
    under_way = trainings().of(visitor)
    if st.button(
        f"{text} (about {duration(seconds)})",
        key=key,
        icon=":material/fitness_center:",
        width="stretch",
        disabled=under_way is not None and under_way.training.live,
        help=f"{retrain().note} You may leave this page; it goes on.",
    ):
        try:
            trainings().start(visitor, case.case.id, recipe)
        except TpcError as error:
            st.session_state["debug_notice"] = str(error)
        st.rerun()


@st.cache_data(ttl=60, show_spinner=False)
def _clouds(dataset: str, _recipe: TrainConfig) -> int:
    return clouds_shown(_recipe)


def _sentence(error: TpcError) -> str:
    words = str(error)
    return f"{words[:1].upper()}{words[1:]}."


def _attacks(case: Opened) -> str:
    """The region as a claim, where the proof tests the model at attacks; noise in the parameters has them inside."""
    if not case.view.is_cover:
        return ""
    parameters = zip(case.view.transform.radii, case.view.radii, strict=True)
    radius = [(p.name, p.to_edge(r)) for p, r in parameters]
    words = (
        f"{radius[0][1]!r}" if len(radius) == 1 else ",".join(f"{name}={value!r}" for name, value in radius)
    )
    return f"{case.view.transform.name}:{words}"


def training_bar(visitor: str, bar: Callable[[str, float | None, float | None, object, str], None]) -> None:
    """How far it is, and a way to stop it."""
    started = trainings().of(visitor)
    if started is not None and started.training.live:
        now = started.training
        bar(f"Training {literal(started.model)}: {now.words}", now.part, now.eta, now.cancel, "training")


def training_ended(visitor: str, case: Opened) -> None:
    """What was trained is certified at once, on the question that failed; then before and after are compared."""
    started = trainings().take(visitor)
    if started is None:
        return
    if started.training.state == "done":
        cache.model_cards.clear()
        cache.fitting.clear()
    st.session_state["debug_notice"] = _told(started)
    if started.training.state == "done" and started.case == case.case.id:
        model = cache.model(started.model)
        start_again(visitor, case, model, f"certify with {started.model}, which was trained for this")
    st.rerun()


def _told(started: Started) -> str:
    state = started.training.state
    if state == "done":
        return f"The training is over. {started.model} is a new model of yours, on every page."
    if state == "failed":
        return f"The training failed: {started.training.message}"
    return "The training was stopped. Nothing of it was kept."
