"""The long work of the page, as tasks: votes of a cell, more votes, the hunt, the path, the sweep, other models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from app.pages.debug.cases import Case, keep, title_of
from app.pages.debug.opened_case import Opened
from app.server import cache
from app.server.jobs import Ledgered, Request, Task, TaskView
from app.server.visitors import board
from tpc_core import Budget, Certificate, Model, Question
from tpc_core.engines import PROMPT, USUAL, Steps, Work
from tpc_core.errors import TpcError
from tpc_core.explain import PATH_STEPS, TRIES, AttackSearch, Remedy, model_opinions, prediction_path
from tpc_core.explain.work import MoreVotes, SmallestAttack, suspected
from tpc_core.forecast import FACTORS, sweep_sigmas
from tpc_core.proofs import CellStanding


def begin(
    visitor: str,
    key: str,
    title: str,
    work: Work | Ledgered,
    *,
    rank: int = USUAL,
    finish: Callable[[Any], Any] | None = None,
) -> Task | None:
    """Start a task; one line on screen where too much is under way."""
    try:
        return board().start(visitor, key, title, work, rank=rank, finish=finish)
    except TpcError as error:
        st.session_state["debug_notice"] = str(error)
        return None


def view_of(visitor: str, key: str) -> TaskView | None:
    task = board().task(visitor, key)
    return None if task is None else task.view()


def start_more(visitor: str, case: Opened, model: Model, remedy: Remedy) -> None:
    """Go on with the cells of a remedy only, or with all that is open."""
    certificate = case.case.certificate
    wanted = remedy.votes if np.isfinite(remedy.votes) and remedy.votes > 0 else None
    ledger = _ledger(
        visitor, case, model, lambda latest: MoreVotes(certificate, latest, model, remedy.focus, wanted)
    )

    def finish(made: Any) -> Case | None:
        if not isinstance(made, Certificate):
            return None  # stopped before its first vote
        ledger.account.certificate = made
        return _kept(visitor, case, made, model)

    begin(visitor, f"{case.key}|more", "Casting more votes", ledger, finish=finish)


def start_hunt(visitor: str, case: Opened, model: Model, facts: CellStanding | None) -> None:
    """Search for the smallest attack, beginning at a cell where one is suspected."""
    certificate, tries = case.case.certificate, TRIES * board().attempt(visitor, case.key)
    place = facts.tested if facts is not None and facts.kind == "cell" and facts.tested else None
    start = suspected(case.view, place)
    ledger = _ledger(
        visitor, case, model, lambda latest: SmallestAttack(certificate, latest, model, start, tries)
    )

    def finish(found: Any) -> Any:
        if isinstance(found, AttackSearch) and found.certificate is not None:
            ledger.account.certificate = (
                found.certificate
            )  # every test counts, also those that proved nothing
            if found.certificate.verdict != certificate.verdict:
                _kept(visitor, case, found.certificate, model)
        return found

    begin(visitor, f"{case.key}|hunt", "Searching for an attack", ledger, finish=finish)


def _ledger(visitor: str, case: Opened, model: Model, work: Callable[[Certificate], Work]) -> Ledgered:
    """Work on the case's ledger: it waits for other runs on it, and begins with what they have seen."""
    certificate = case.case.certificate
    request = Request(case.case.title, certificate.question, model, case.view.cloud)
    return Ledgered(board().accounts.of(visitor, request), certificate, work)


def _kept(visitor: str, case: Opened, certificate: Certificate, model: Model) -> Case:
    """The new certificate as a case of its own; the page moves on to it."""
    title = case.case.title.removesuffix(", continued") + ", continued"
    title = title if case.case.title else title_of(certificate)
    return keep(visitor, title, certificate, model, case.case.request)


def attack_path(visitor: str, case: Opened, model: Model, z: tuple[float, ...]) -> TaskView | None:
    """The path of the prediction to a parameter, drawn as it comes."""
    key = f"{case.key}|path|{hash(z)}"
    task = board().task(visitor, key)
    if task is None:
        work = Steps(prediction_path, (case.view, model, np.array(z)), PATH_STEPS)
        task = begin(visitor, key, "Following the prediction", work, rank=PROMPT)
    return None if task is None else task.settle(0.6)


def start_sweep(visitor: str, case: Opened, model: Model) -> None:
    """Look at the region with other sigmas."""
    work = Steps(sweep_sigmas, (case.view, model), len(FACTORS), "sigma {step.sigma[0]:g}")
    begin(visitor, f"{case.key}|sweep", "Trying other sigmas", work)


def start_again(
    visitor: str, case: Opened, model: Model, *, sigma: tuple[float, ...] | None = None, protocol: str = ""
) -> None:
    """The same question with one thing changed; the page moves on to the new run when it ends."""
    asked, request = case.case.certificate.question, case.case.request
    options = replace(asked.options, largest=False, budget=Budget(), resolution=None)
    if sigma is not None:
        options = replace(options, sigma=sigma)
    if protocol:
        options = replace(options, protocol="paper" if protocol == "paper" else "adaptive")
    radius = {p.name: p.to_edge(r) for p, r in zip(case.view.transform.radii, case.view.radii, strict=True)}
    name = asked.object if request is None else request.question.object
    question = Question(asked.model, name, asked.points, asked.transform, radius, options)
    private = request is None or request.private
    new = Request(title_of(case.case.certificate), question, model, case.view.cloud, private)
    try:
        st.session_state["debug_awaited"] = board().submit(visitor, new).id
    except TpcError as error:
        st.session_state["debug_notice"] = str(error)


def start_opinions(visitor: str, case: Opened) -> None:
    """Ask every model that could certify this transform."""
    models = [
        cache.model(card.name)
        for card, objection in cache.fitting(case.view.transform.name)
        if objection is None and card.task == "classification"
    ]
    work = Steps(model_opinions, (case.view.cloud, models), len(models), "{step.model}")
    begin(visitor, f"{case.key}|opinions", "Asking the other models", work)
