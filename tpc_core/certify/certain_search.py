"""The three searches behind a certain proof: cells of parameters, one ball, and parts point by point."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import numpy as np

from tpc_core.bounds.kinds import kind_of
from tpc_core.certificate.certain import (
    MOST_CELLS,
    MOST_POINT_CELLS,
    BallRecord,
    CellsRecord,
    CounterexampleRecord,
    PartsRecord,
    PointCounterexampleRecord,
    ProvedBall,
)
from tpc_core.certify.events import Event, MarginsFound
from tpc_core.cloud import Cloud
from tpc_core.errors import UnsupportedRequest
from tpc_core.exact.cells import Array, Cells
from tpc_core.proofs.certain import question_region
from tpc_core.question import Budget, Question
from tpc_core.votes import BaseClassifier, require_unchanged

if TYPE_CHECKING:
    from tpc_core.exact import BallProblem, Counterexample, PartsProblem, Problem

    AnyProblem = Problem | BallProblem | PartsProblem

AnyRecord = CellsRecord | BallRecord | PartsRecord
Search = Generator["Event", None, tuple[AnyRecord, str]]
"""Events, and at the end the evidence with the reason why it is not more; no reason where all is settled."""


def problem_of(model: BaseClassifier, cloud: Cloud, question: Question) -> AnyProblem:
    """What is to be settled: the model's network on this cloud; an UnsupportedRequest where it cannot be bounded."""
    from tpc_core.exact import BallProblem, PartsProblem, Problem, network_of
    from tpc_core.models.precision import FULL_PRECISION
    from tpc_core.models.store import Model

    # A wrapper may pass on the network of what it wraps, and answer something else.
    if type(model) is not Model or model.precision != FULL_PRECISION:
        raise UnsupportedRequest(
            f"{model.name} is not a plain float32 network, so there are no exact bounds for it; "
            "ask for a certificate by votes"
        )
    require_unchanged(model)
    kind = kind_of(question.family, model.task)
    if kind == "parts" and question.options.largest:
        raise UnsupportedRequest("part segmentation takes a given radius")
    network = network_of(model.module)
    answer = network.evaluate(cloud.points[None])[0].argmax(dim=-1)
    if kind == "ball":
        (radius,) = question.radii
        return BallProblem(network, cloud.points, radius, int(answer))
    region = question_region(question)
    if kind == "parts":
        return PartsProblem(network, question.family, cloud.points, region, answer)
    return Problem(network, question.family, cloud.points, region, int(answer))


def search(problem: AnyProblem, question: Question, budget: Budget, cancelled: Callable[[], bool]) -> Search:
    """Look for the answer to a question; the kind of problem says how."""
    from tpc_core.exact import BallProblem, PartsProblem

    if isinstance(problem, BallProblem):
        return _search_ball(problem, question, cancelled)
    if isinstance(problem, PartsProblem):
        return _search_parts(problem, budget, cancelled)
    if question.options.largest:
        return _search_largest(problem, budget, cancelled)
    return _search_cells(problem, budget, cancelled)


def _search_cells(problem: Problem, budget: Budget, cancelled: Callable[[], bool]) -> Search:
    from tpc_core.exact import Batch, settle_events

    bounded = 0
    for step in settle_events(problem, _limit(budget), cancelled=cancelled):
        if isinstance(step, Batch):
            bounded += len(step.cells)
            yield _margins_found(problem, step.cells, step.margins, bounded, step.share)
        else:
            found = (step.leaves, step.margins, step.counterexample, step.bounded)
            return _cells_record(problem, *found), step.reason
    raise AssertionError("a search always ends with its result")


def _search_largest(problem: Problem, budget: Budget, cancelled: Callable[[], bool]) -> Search:
    from tpc_core.exact import Closer, robust_radius_events

    for step in robust_radius_events(problem, _limit(budget), cancelled=cancelled):
        if isinstance(step, Closer):
            yield _margins_found(problem, step.cells, step.margins, step.bounded, step.certified)
        else:
            found = (step.leaves, step.margins, step.counterexample, step.bounded)
            return _cells_record(problem, *found), step.reason
    raise AssertionError("a search always ends with its result")


def _search_ball(problem: BallProblem, question: Question, cancelled: Callable[[], bool]) -> Search:
    from tpc_core.exact import largest_ball, settle_ball

    largest = question.options.largest
    result = largest_ball(problem, cancelled=cancelled) if largest else settle_ball(problem)
    nowhere = np.zeros((1, 0))
    yield MarginsFound(nowhere, nowhere, np.array([result.margin]), result.bounded, result.part)
    proved = ProvedBall(part=result.part, margin=result.margin) if result.part else None
    found = None if result.counterexample is None else _counterexample(result.counterexample)
    record = BallRecord(
        **_about(problem, result.bounded),
        proved=proved,
        counterexample=found,
    )
    return record, result.reason


def _search_parts(problem: PartsProblem, budget: Budget, cancelled: Callable[[], bool]) -> Search:
    from tpc_core.exact import PartsBatch, settle_parts_events

    limit = _limit(budget, MOST_POINT_CELLS // len(problem.labels))
    for step in settle_parts_events(problem, limit, cancelled=cancelled):
        if isinstance(step, PartsBatch):
            yield _margins_found(problem, step.cells, step.margins, step.bounded, step.share)
            continue
        margins = [[None if np.isnan(m) else float(m) for m in row] for row in step.margins]
        record = PartsRecord(
            **_about(problem, step.bounded),
            labels=problem.labels.tolist(),
            levels=step.leaves.levels.tolist(),
            indices=step.leaves.indices.tolist(),
            margins=margins,
            counterexamples=[
                PointCounterexampleRecord(
                    point=point, parameter=list(found.z), rival=found.rival, margin=found.margin
                )
                for point, found in sorted(step.refuted.items())
            ],
        )
        return record, step.reason
    raise AssertionError("a search always ends with its result")


def _limit(budget: Budget, most: int = MOST_CELLS) -> Any:
    from tpc_core.exact import Budget as CellBudget

    return CellBudget(
        cells=min(budget.cells or most, most),
        seconds=float("inf") if budget.seconds is None else budget.seconds,
    )


def _about(problem: AnyProblem, bounded: int) -> dict[str, Any]:
    from tpc_core.bounds.network import ARITHMETIC

    return {"network": problem.network.digest, "arithmetic": ARITHMETIC, "bounded": bounded}


def _cells_record(
    problem: Problem, leaves: Cells, margins: Array, found: Counterexample | None, bounded: int
) -> CellsRecord:
    return CellsRecord(
        **_about(problem, bounded),
        levels=leaves.levels.tolist(),
        indices=leaves.indices.tolist(),
        margins=margins.tolist(),
        counterexample=None if found is None else _counterexample(found),
    )


def _counterexample(found: Counterexample) -> CounterexampleRecord:
    return CounterexampleRecord(parameter=list(found.z), rival=found.rival, margin=found.margin)


def _margins_found(
    problem: Problem | PartsProblem, cells: Cells, margins: Array, bounded: int, covered: float
) -> MarginsFound:
    return MarginsFound(*problem.trimmed(cells), np.asarray(margins), bounded, covered)
