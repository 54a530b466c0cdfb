"""The long work of the page, as tasks: votes of a cell, more votes, the hunt, the path, the sweep, other models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from app.pages.debug.cases import Case, keep, title_of
from app.pages.debug.opened_case import Opened
from app.pages.debug.tasks import Task, TaskView, desk
from app.server import cache
from app.server.jobs import Request
from app.server.visitors import board
from tpc_core import Budget, Certificate, Model, Question, certify
from tpc_core.case_view import CaseView
from tpc_core.certify import Done, VotesCounted
from tpc_core.errors import TpcError
from tpc_core.explain import (
    PATH_STEPS,
    TRIES,
    AttackSearch,
    Remedy,
    continue_run,
    find_smallest_attack,
    model_opinions,
    prediction_path,
)
from tpc_core.forecast import FACTORS, sweep_sigmas
from tpc_core.proofs import CellStanding


def begin(visitor: str, key: str, title: str, work: Callable[[Task], Any]) -> Task | None:
    """Start a task; one line on screen where too much is under way."""
    try:
        return desk().start(visitor, key, title, work)
    except TpcError as error:
        st.session_state["debug_notice"] = str(error)
        return None


def view_of(visitor: str, key: str) -> TaskView | None:
    task = desk().get(visitor, key)
    return None if task is None else task.view()


def start_more(visitor: str, case: Opened, model: Model, remedy: Remedy) -> None:
    """Go on with the cells of a remedy only, or with all that is open."""

    def work(task: Task) -> Case | None:
        with _ledger(visitor, case, model, task) as (before, put):
            if before is None:
                return None
            wanted = remedy.votes if np.isfinite(remedy.votes) and remedy.votes > 0 else None
            for event in continue_run(before, model, remedy.focus, cancelled=task.stop):
                if isinstance(event, VotesCounted):
                    cast = event.samples - before.samples
                    part = None if wanted is None else min(1.0, cast / wanted)
                    task.report(None, f"{cast:,} votes cast", part)
                elif isinstance(event, Done):
                    put(event.certificate)
                    return _kept(visitor, case, event.certificate, model)
        raise AssertionError("the work always ends with Done")

    begin(visitor, f"{case.key}|more", "Casting more votes", work)


def start_hunt(visitor: str, case: Opened, model: Model, facts: CellStanding | None) -> None:
    """Search for the smallest attack, beginning at a cell where one is suspected."""
    attempt = desk().attempt(visitor, case.key)
    start = facts.tested if facts is not None and facts.kind == "cell" and facts.tested else None
    if start is not None and case.view.size(np.array(start)) > 1:
        start = None

    def work(task: Task) -> None:
        last: AttackSearch | None = None

        def progress(done: int, expected: int) -> None:
            task.report(last, f"{done:,} of about {expected:,} evaluations", done / max(expected, 1))

        with _ledger(visitor, case, model, task) as (before, put):
            if before is None:
                return
            steps = find_smallest_attack(
                CaseView.of(before),
                model,
                start=start,
                tries=TRIES * attempt,
                cancelled=task.stop,
                progress=progress,
            )
            for last in steps:
                task.report(last, f"{last.evaluations:,} evaluations", task.view().part)
            if last is not None and last.certificate is not None:
                put(last.certificate)  # every test counts, also those that proved nothing
                if last.certificate.verdict != case.case.certificate.verdict:
                    _kept(visitor, case, last.certificate, model)

    begin(visitor, f"{case.key}|hunt", "Searching for an attack", work)


@contextmanager
def _ledger(
    visitor: str, case: Opened, model: Model, task: Task
) -> Iterator[tuple[Certificate | None, Callable[[Certificate], None]]]:
    """The case's question read off the visitor's latest ledger, and a way to put down the next certificate.

    None where the task was stopped while another run was writing into that ledger.
    """
    certificate = case.case.certificate
    request = Request(case.case.title, certificate.question, model, case.view.cloud)
    account = board().accounts.of(visitor, request)

    def put(made: Certificate) -> None:
        account.certificate = made

    task.give_way()
    with account.writing(task.cancelled) as mine:
        latest = account.latest(certificate)
        assert latest is not None
        yield (_read_off(certificate, model, case.view, latest) if mine else None), put


def _read_off(certificate: Certificate, model: Model, view: CaseView, latest: Certificate) -> Certificate:
    """The same question, read off a ledger that has grown since; no vote is cast."""
    if latest.samples <= certificate.samples:
        return certificate
    question = certificate.question
    options = replace(question.options, budget=Budget(samples=latest.samples), device=certificate.device)
    return certify(model, view.cloud, question.transform, question.radius, options, resume=latest)


def _kept(visitor: str, case: Opened, certificate: Certificate, model: Model) -> Case:
    """The new certificate as a case of its own; the page moves on to it."""
    title = case.case.title.removesuffix(", continued") + ", continued"
    title = title if case.case.title else title_of(certificate)
    return keep(visitor, title, certificate, model, case.case.request)


def attack_path(visitor: str, case: Opened, model: Model, z: tuple[float, ...]) -> TaskView | None:
    """The path of the prediction to a parameter, drawn as it comes."""
    key = f"{case.key}|path|{hash(z)}"
    task = desk().get(visitor, key)
    if task is None:

        def work(task: Task) -> list[Any]:
            steps = []
            for step in prediction_path(case.view, model, np.array(z), cancelled=task.stop):
                steps.append(step)
                task.report(list(steps), part=len(steps) / PATH_STEPS)
            return steps

        task = begin(visitor, key, "Following the prediction", work)
    return None if task is None else task.settle(0.6)


def start_sweep(visitor: str, case: Opened, model: Model) -> None:
    """Look at the region with other sigmas."""

    def work(task: Task) -> list[Any]:
        looks = []
        for look in sweep_sigmas(case.view, model, cancelled=task.stop):
            looks.append(look)
            task.report(list(looks), f"sigma {look.sigma[0]:g}", len(looks) / len(FACTORS))
        return looks

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
    names = [
        card.name
        for card, objection in cache.fitting(case.view.transform.name)
        if objection is None and card.task == "classification"
    ]

    def work(task: Task) -> list[Any]:
        heard = []
        models = [cache.model(name) for name in names]
        for opinion in model_opinions(case.view.cloud, models, cancelled=task.stop):
            heard.append(opinion)
            task.report(list(heard), opinion.model, len(heard) / len(models))
        return heard

    begin(visitor, f"{case.key}|opinions", "Asking the other models", work)
