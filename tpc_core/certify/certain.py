"""Certify the plain network without votes: branch and bound over exact cells (docs/theory.md, "Certain answers")."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tpc_core.certificate.certain import MOST_CELLS, CertainRecord, CounterexampleRecord
from tpc_core.certificate.schema import Certificate, CloudRecord, ModelRecord, Stop
from tpc_core.certify.events import Done, Event, MarginsFound, Predicted
from tpc_core.cloud import Cloud
from tpc_core.errors import TpcError, UnsupportedRequest
from tpc_core.exact.cells import Array, Cells
from tpc_core.proofs.certain import CertainProof, certain_region
from tpc_core.question import Budget, Question
from tpc_core.version import VERSION
from tpc_core.votes import BaseClassifier

if TYPE_CHECKING:
    from tpc_core.exact import Counterexample, Problem

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
    return _events(_CertainRun(question, model, cloud, problem), limit or question.options.budget, cancelled)


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


def problem_of(model: BaseClassifier, cloud: Cloud, question: Question) -> Problem:
    """What is to be settled: the model's network on this cloud; an UnsupportedRequest where it cannot be bounded."""
    from tpc_core.exact import Problem, network_of

    module: Any = getattr(model, "module", None)
    if module is None or getattr(model, "precision", "float32") != "float32":
        raise UnsupportedRequest(
            f"{model.name} is no plain float32 network: no certain bounds are known for it; "
            "ask for a smoothed certificate"
        )
    if model.task == "segmentation":
        raise UnsupportedRequest(
            "certain certificates are about a class of the whole object, not about parts yet"
        )
    region = certain_region(question)
    network = network_of(module)
    label = int(network.evaluate(cloud.points[None])[0].argmax())
    return Problem(network, question.family, cloud.points, region, label)


@dataclass
class _CertainRun:
    """A question with the problem that it poses."""

    question: Question
    model: BaseClassifier
    cloud: Cloud
    problem: Problem
    started: float = field(default_factory=time.monotonic)

    def certificate(
        self,
        leaves: Cells,
        margins: Array,
        found: Counterexample | None,
        bounded: int,
        reason: str,
    ) -> Certificate:
        from tpc_core.bounds.network import ARITHMETIC

        classes = list(self.model.classes)
        record = CertainRecord(
            network=self.problem.network.digest,
            arithmetic=ARITHMETIC,
            levels=leaves.levels.tolist(),
            indices=leaves.indices.tolist(),
            margins=margins.tolist(),
            counterexample=None
            if found is None
            else CounterexampleRecord(parameter=list(found.z), rival=found.rival, margin=found.margin),
            bounded=bounded,
        )
        stopped = _STOPS.get(reason, "hopeless")
        judgement = CertainProof(self.question, record, self.problem.label, classes).judge(stopped)
        return Certificate(
            library=VERSION,
            verdict=judgement.verdict,
            sentence=judgement.sentence,
            radius=judgement.radius,
            stopped=stopped,
            question=self.question,
            family=1,
            prediction=classes[self.problem.label],
            certain=record,
            model=ModelRecord(
                name=self.model.name,
                digest=self.model.digest,
                classes=classes,
                task="classification",
                smoothing={},
            ),
            cloud=CloudRecord.of(self.cloud),
            device="cpu",
            samples=0,
            seconds=round(time.monotonic() - self.started, 6),
        ).sealed()

    def margins_found(self, cells: Cells, margins: Array, bounded: int, covered: float) -> MarginsFound:
        return MarginsFound(*self.problem.trimmed(cells), np.asarray(margins), bounded, covered)


def _events(run: _CertainRun, budget: Budget, cancelled: Callable[[], bool]) -> Iterator[Event]:
    from tpc_core.exact import Batch, Closer, robust_radius_events, settle_events
    from tpc_core.exact import Budget as CellBudget

    limit = CellBudget(
        cells=min(budget.cells or MOST_CELLS, MOST_CELLS),
        seconds=float("inf") if budget.seconds is None else budget.seconds,
    )
    yield Predicted(list(run.model.classes)[run.problem.label], 0)
    bounded = 0
    if run.question.options.largest:
        for closer in robust_radius_events(run.problem, limit, cancelled=cancelled):
            if isinstance(closer, Closer):
                yield run.margins_found(closer.cells, closer.margins, closer.bounded, closer.certified)
            else:
                end = (closer.leaves, closer.margins, closer.counterexample, closer.bounded, closer.reason)
                yield Done(run.certificate(*end))
        return
    for step in settle_events(run.problem, limit, cancelled=cancelled):
        if isinstance(step, Batch):
            bounded += len(step.cells)
            yield run.margins_found(step.cells, step.margins, bounded, step.share)
        else:
            yield Done(
                run.certificate(step.leaves, step.margins, step.counterexample, step.bounded, step.reason)
            )
