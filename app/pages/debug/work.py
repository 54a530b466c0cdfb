"""The long work of the page: more votes, new runs, the search for an attack, the path to it, sigmas, other models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from app.pages.certify.estimates import votes_per_second
from app.pages.debug.before_after import begin_step
from app.pages.debug.cases import Case, keep, title_of
from app.pages.debug.opened_case import Opened
from app.server import cache
from app.server.jobs import Ledgered, Request, Task, TaskView
from app.server.visitors import board
from tpc_core import Budget, Certificate, Cloud, Model, Question
from tpc_core.engines import PROMPT, USUAL, Steps, Work
from tpc_core.errors import TpcError
from tpc_core.explain import (
    PATH_STEPS,
    TRIES,
    AttackSearch,
    MoreVotes,
    Remedy,
    SmallestAttack,
    prediction_path,
    suspected,
)
from tpc_core.forecast import FACTORS, rank_models, sweep_sigmas
from tpc_core.proofs import CellStanding
from tpc_core.question import Protocol

_LEAST_MORE = 1_000
_TELLING = 512
"""Votes from which on a run says how fast votes are cast."""
_MOST_POINTS = 4
"""Models that see more than so many times the points of the certificate are too slow to be compared on the way."""


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


def pace(case: Opened, model: Model) -> float:
    """Votes per second: those of the run itself where it was made here, and long enough to tell.

    What a run took over from earlier ones is not counted: its seconds are those of its own votes.
    """
    made = case.case.certificate
    if case.case.cast >= _TELLING and made.seconds > 0:
        return case.case.cast / made.seconds
    return votes_per_second(model, case.view.cloud)


def _seconds(case: Opened, model: Model, votes: float) -> float:
    """What the button said beside its votes; 0 where it said no time."""
    said = votes > 0 and np.isfinite(votes) and model.digest == case.case.certificate.model.digest
    return votes / pace(case, model) if said else 0.0


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

    begin_step(case.case.id, remedy.sentence, remedy.votes, _seconds(case, model, remedy.votes))
    begin(visitor, f"{case.key}|more", "Casting more votes", ledger, finish=finish)


def finish_run(visitor: str, case: Opened, model: Model, remedy: Remedy) -> None:
    """Cast all votes that are missing, as a run of its own that the Certify page shows, too.

    It never casts more than twice the votes that were said; where those do not settle it, the page says what is left.
    """
    certificate = case.case.certificate
    limit = None
    if np.isfinite(remedy.votes):
        limit = certificate.samples + max(2 * int(remedy.votes), _LEAST_MORE)
    asked = certificate.question.options
    options = replace(asked, budget=Budget(samples=limit), complete=not asked.largest)
    request = _request(case, model, replace(certificate.question, options=options))
    _submit(visitor, case, request, remedy.sentence, remedy.votes, certificate)


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
    visitor: str,
    case: Opened,
    model: Model,
    words: str,
    *,
    cloud: Cloud | None = None,
    sigma: tuple[float, ...] | None = None,
    remedy: Remedy | None = None,
    votes: float = 0.0,
) -> None:
    """The same question with one thing changed; the page moves on to the new run when it ends."""
    asked = case.case.certificate.question
    smaller = remedy is not None and remedy.action == "smaller-radius"
    options = replace(
        asked.options,
        largest=smaller and model.task == "classification",
        budget=Budget(),
        resolution=None,
        sigma=sigma if sigma is not None else asked.options.sigma,
    )
    if model.digest != case.case.certificate.model.digest:
        options = replace(options, sigma=None, seed=None)
    if smaller or model.digest != case.case.certificate.model.digest:
        options = replace(options, protocol="adaptive")
    if remedy is not None and remedy.protocol:
        protocol: Protocol = "paper" if remedy.protocol == "paper" else "adaptive"
        options = replace(options, protocol=protocol, resolution=remedy.resolution)
    part = remedy.part if remedy is not None else 1.0
    parameters = zip(case.view.transform.radii, case.view.radii, strict=True)
    radius = {p.name: p.to_edge(part * r) for p, r in parameters}
    points = asked.points if cloud is None else len(cloud)
    question = Question(model.name, asked.object, points, asked.transform, radius, options)
    _submit(visitor, case, _request(case, model, question, cloud), words, votes)


def _request(case: Opened, model: Model, question: Question, cloud: Cloud | None = None) -> Request:
    """A question about the object of a case, called as it was called when it was asked here."""
    request = case.case.request
    name = question.object if request is None else request.question.object
    private = request is None or request.private
    title = title_of(case.case.certificate) if request is None else request.title
    return Request(title, replace(question, object=name), model, cloud or case.view.cloud, private)


def _submit(
    visitor: str,
    case: Opened,
    request: Request,
    words: str,
    votes: float,
    resume: Certificate | None = None,
) -> None:
    try:
        job = board().submit(visitor, request, resume)
    except TpcError as error:
        st.session_state["debug_notice"] = str(error)
        return
    begin_step(case.case.id, words, votes, _seconds(case, request.model, votes))
    st.session_state["debug_awaited"] = job.id


def rivals(case: Opened) -> list[tuple[Model, Cloud]]:
    """The models that could certify this transform by votes, each with the object as it sees it.

    Those that take many more points are left out, and those that were trained for exact proofs, not for votes.
    """
    most = _MOST_POINTS * case.view.certificate.cloud.count
    names = [
        card.name
        for card, objection in cache.fitting(case.view.transform.name)
        if objection is None
        and card.task == "classification"
        and not card.is_for_certainty
        and (card.num_points or 64) <= most
    ]
    found = []
    for name in names:
        model = cache.model(name)
        cloud = _seen_by(case, model)
        if cloud is not None:
            found.append((model, cloud))
    return found


def _seen_by(case: Opened, model: Model) -> Cloud | None:
    """The object with as many points as a model takes; None where only this cloud is known, and it has others."""
    wanted, cloud = model.num_points or len(case.view.cloud), case.view.cloud
    if wanted == len(cloud):
        return cloud
    request = case.case.request
    spec = f"gallery:{cloud.name}" if request is None else request.question.object
    if request is not None and request.private:
        return None
    try:
        shape = cache.shape(spec)
        return shape.cloud(wanted) if shape.cloud(len(cloud)).digest == cloud.digest else None
    except TpcError:
        return None


def start_ranking(visitor: str, case: Opened) -> None:
    """Let every model that could certify this transform look at the region."""
    models = rivals(case)
    work = Steps(rank_models, (case.view, models), len(models), "{step.model}")
    begin(visitor, f"{case.key}|models", "Comparing the models", work)
