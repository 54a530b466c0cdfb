"""Certify the plain network without votes: branch and bound over exact cells (docs/theory.md, "Certain answers")."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from tpc_core.certificate.schema import Certificate, CloudRecord, ModelRecord, Stop
from tpc_core.certify.certain_search import AnyRecord, problem_of, search
from tpc_core.certify.events import Done, Event, Predicted
from tpc_core.cloud import Cloud
from tpc_core.errors import TpcError, UnsupportedRequest
from tpc_core.proofs.certain import certain_proof
from tpc_core.question import Budget, Question
from tpc_core.version import VERSION
from tpc_core.votes import BaseClassifier

AUTO = Budget(cells=2_000, seconds=10.0)
"""What `auto` spends on certainty before it turns to votes."""

_STOPS: dict[str, Stop] = {"": "settled", "cancelled": "cancelled", "budget": "budget"}
"""The other reason, a margin that the bounds cannot tell from zero, is hopeless."""


def certain_events(
    model: BaseClassifier,
    cloud: Cloud,
    question: Question,
    cancelled: Callable[[], bool] = lambda: False,
    limit: Budget | None = None,
) -> Iterator[Event]:
    """The events of a certain proof, with Done at the end. What cannot be bounded is refused at once."""
    problem = problem_of(model, cloud, question)

    def events() -> Iterator[Event]:
        started = time.monotonic()
        name = None if problem.network.segments else model.classes[problem.label]  # type: ignore[union-attr]
        yield Predicted(name, 0)
        record, reason = yield from search(problem, question, limit or question.options.budget, cancelled)
        yield Done(_certificate(question, model, cloud, record, name, reason, started))

    return events()


def certain_first(
    model: BaseClassifier,
    cloud: Cloud,
    question: Question,
    cancelled: Callable[[], bool],
    by_votes: Callable[[], Iterator[Event]],
) -> Iterator[Event]:
    """A certain answer where it comes soon, else the smoothed one."""
    budget = question.options.budget
    limit = Budget(
        cells=min(budget.cells or AUTO.cells, AUTO.cells),  # type: ignore[type-var]
        seconds=min(budget.seconds or AUTO.seconds, AUTO.seconds),  # type: ignore[type-var]
    )
    try:
        certain = certain_events(model, cloud, question, cancelled, limit)
    except UnsupportedRequest:
        return by_votes()
    return _else_votes(certain, by_votes)


def _else_votes(certain: Iterator[Event], by_votes: Callable[[], Iterator[Event]]) -> Iterator[Event]:
    for event in certain:
        if isinstance(event, Done) and event.certificate.stopped in ("budget", "hopeless"):
            try:
                votes = by_votes()
            except TpcError:  # no smoothing of this model answers: what is known is the answer
                yield event
                return
            yield from votes
            return
        yield event


def _certificate(
    question: Question,
    model: BaseClassifier,
    cloud: Cloud,
    record: AnyRecord,
    name: str | None,
    reason: str,
    started: float,
) -> Certificate:
    stopped = _STOPS.get(reason, "hopeless")
    judgement = certain_proof(question, record, name, list(model.classes)).judge(stopped)
    return Certificate(
        library=VERSION,
        verdict=judgement.verdict,
        sentence=judgement.sentence,
        radius=judgement.radius,
        stopped=stopped,
        question=question,
        family=1,
        prediction=name,
        certain=record,
        model=ModelRecord.of(model, {}),
        cloud=CloudRecord.of(cloud),
        device="cpu",
        samples=0,
        seconds=round(time.monotonic() - started, 6),
    ).sealed()
