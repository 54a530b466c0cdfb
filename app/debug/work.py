"""The long work of the page, as tasks: votes of a cell, more votes, the hunt, the path, the sweep, other models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st

from app import cache
from app.debug.cases import Case, keep, title_of
from app.debug.opened import Opened
from app.debug.tasks import Task, TaskView, desk
from app.jobs import Request
from app.visitors import board
from tpc_core import Certificate, Model, Options
from tpc_core.certify import Done, VotesCounted
from tpc_core.certify.run import named
from tpc_core.diagnosis import (
    CellFacts,
    Quarry,
    Remedy,
    go_on,
    hunt,
    prediction_path,
    refutation_of,
    sweep,
)
from tpc_core.diagnosis.hunt import TRIES
from tpc_core.diagnosis.others import opinions
from tpc_core.diagnosis.path import STEPS
from tpc_core.diagnosis.reopen import voter_of
from tpc_core.diagnosis.sweep import FACTORS, sigma_of
from tpc_core.errors import TpcError
from tpc_core.votes import BLOCK

_SHOWN_VOTES = 1024


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


def cell_votes(visitor: str, case: Opened, model: Model, facts: CellFacts) -> TaskView | None:
    """The votes of a cell by class, cast again on their own noise (at most the first 1,024 of them)."""
    key = f"{case.key}|votes|{facts.path}"
    task = desk().get(visitor, key)
    if task is None:

        def work(task: Task) -> dict[str, int]:
            subject = case.subject
            voter = voter_of(subject, model)
            points, stream = subject.points_of(facts), subject.stream_of(facts)
            total = np.zeros(len(model.classes), dtype=np.int64)
            wanted = min(facts.n, _SHOWN_VOTES)
            for start in range(0, wanted, 4 * BLOCK):
                if task.stop():
                    break
                counted = voter.count(points, stream, start, min(start + 4 * BLOCK, wanted))
                total += counted[int(facts.path)] if facts.kind == "point" else counted
                task.report(named(total, tuple(model.classes)), part=(start + 4 * BLOCK) / wanted)
            return named(total, tuple(model.classes))

        task = begin(visitor, key, "Casting the votes of this cell again", work)
    return None if task is None else task.settle(1.0)


def start_more(visitor: str, case: Opened, model: Model, remedy: Remedy) -> None:
    """Go on with the cells of a remedy only, or with all that is open."""

    def work(task: Task) -> Case:
        before = case.case.certificate
        events = go_on(
            before,
            model,
            remedy.cells,
            until=remedy.until if remedy.action == "more-votes" else None,
            refine=remedy.action == "refine",
            cancelled=task.stop,
        )
        for event in events:
            if isinstance(event, VotesCounted):
                cast = event.samples - before.samples
                finite = remedy.votes if np.isfinite(remedy.votes) and remedy.votes > 0 else None
                task.report(None, f"{cast:,} votes cast", None if finite is None else min(1.0, cast / finite))
            elif isinstance(event, Done):
                return _kept(visitor, case, event.certificate, model)
        raise AssertionError("the work always ends with Done")

    begin(visitor, f"{case.key}|more", "Casting more votes", work)


def start_hunt(visitor: str, case: Opened, model: Model, facts: CellFacts | None) -> None:
    """Search for the smallest attack, beginning at a cell where one is suspected."""
    attempt = desk().attempt(visitor, case.key)
    start = facts.tested if facts is not None and facts.kind == "cell" and facts.tested else None
    if start is not None and case.subject.size(np.array(start)) > 1:
        start = None

    def work(task: Task) -> Case | None:
        last: Quarry | None = None

        def progress(done: int, expected: int) -> None:
            task.report(last, f"{done:,} of about {expected:,} evaluations", done / max(expected, 1))

        steps = hunt(
            case.subject,
            model,
            start=start,
            attempt=attempt,
            tries=TRIES * attempt,
            cancelled=task.stop,
            progress=progress,
        )
        for last in steps:
            task.report(last, f"{last.evaluations:,} evaluations", task.view().part)
        changed = None if last is None else refutation_of(case.case.certificate, last)
        if changed is not None:
            _kept(visitor, case, changed, model)
        return None

    begin(visitor, f"{case.key}|hunt", "Searching for an attack", work)


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
            for step in prediction_path(case.subject, model, np.array(z), cancelled=task.stop):
                steps.append(step)
                task.report(list(steps), part=len(steps) / STEPS)
            return steps

        task = begin(visitor, key, "Following the prediction", work)
    return None if task is None else task.settle(0.6)


def start_sweep(visitor: str, case: Opened, model: Model) -> None:
    """Look at the region with other sigmas."""

    def work(task: Task) -> list[Any]:
        looks = []
        for look in sweep(case.subject, model, cancelled=task.stop):
            looks.append(look)
            task.report(list(looks), f"sigma {look.sigma[0]:g}", len(looks) / len(FACTORS))
        return looks

    begin(visitor, f"{case.key}|sweep", "Trying other sigmas", work)


def start_again(
    visitor: str,
    case: Opened,
    model: Model,
    *,
    sigma: tuple[float, ...] | None = None,
    protocol: str = "",
    statistics: str = "",
) -> None:
    """A new run of the same question with one thing changed; the page moves on to it when it ends."""
    certificate, subject = case.case.certificate, case.subject
    own = sigma_of(model.smoothing)
    used = sigma or sigma_of(subject.smoothing)
    paper = (protocol or certificate.protocol) == "paper"
    staged = paper or (statistics or certificate.statistics.kind) == "staged"
    options = Options(
        alpha=certificate.alpha,
        protocol="paper" if paper else "adaptive",
        statistics="staged" if staged else "anytime",
        sigma=None if used == own else used,
        seed=certificate.seed + 1,
    )
    asked = case.case.request
    request = Request(
        title=title_of(certificate),
        spec="" if asked is None else asked.spec,
        model=model,
        cloud=subject.cloud,
        transform=subject.transform,
        radius=[p.to_edge(r) for p, r in zip(subject.transform.radii, subject.radii, strict=True)],
        options=options,
    )
    try:
        st.session_state["debug_awaited"] = board().submit(visitor, request).id
    except TpcError as error:
        st.session_state["debug_notice"] = str(error)


def start_opinions(visitor: str, case: Opened) -> None:
    """Ask every model that could certify this transform."""
    names = [
        card.name
        for card, objection in cache.fitting(case.subject.transform.name)
        if objection is None and card.task == "classification"
    ]

    def work(task: Task) -> list[Any]:
        heard = []
        models = [cache.model(name) for name in names]
        for opinion in opinions(case.subject.cloud, models, cancelled=task.stop):
            heard.append(opinion)
            task.report(list(heard), opinion.model, len(heard) / len(models))
        return heard

    begin(visitor, f"{case.key}|opinions", "Asking the other models", work)
