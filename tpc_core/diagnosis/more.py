"""Go on with some cells only, guarantee intact.

The tree, its levels and the stages of every cell were fixed before the first vote (THEORY section 4, (i)), and a
stage that was not read yet has its level reserved. So votes may decide which cells are gone on with, and how far:
whatever is read, the levels along any path add up to at most alpha.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from tpc_core import streams
from tpc_core.certificate.schema import (
    CellRecord,
    CellState,
    Certificate,
    GroupEvidence,
    Prediction,
    Reason,
    SingleEvidence,
    TreeEvidence,
)
from tpc_core.certify.assemble import assemble
from tpc_core.certify.events import CellDecided, CellRefined, CellStarted, Done, Event, VotesCounted
from tpc_core.certify.ledger import rank_ledger, stage_ledger
from tpc_core.certify.run import Outcome, Run, Tally, cast_stage, named
from tpc_core.covers import Cell
from tpc_core.diagnosis.findings import probability
from tpc_core.diagnosis.reopen import never, reopened
from tpc_core.diagnosis.subject import PATIENCE, Subject
from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.statistics import upper_bound
from tpc_core.votes import BaseClassifier

_HOPE = 1e-4
"""A cell is given up only where even the upper bound of p_A at this level would not do."""


def go_on(
    certificate: Certificate,
    model: BaseClassifier,
    cells: Sequence[str] = (),
    *,
    until: int | None = None,
    refine: bool = False,
    samples: int | None = None,
    cancelled: Callable[[], bool] = never,
) -> Iterator[Event]:
    """Continue an undecided certificate, in the given cells only (in all that are open where none is given).

    `until` casts votes at these cells up to that sample size, and splits none; `refine` halves each of them
    first; neither searches as a run does, buying votes or halves, whichever is cheaper. Ends with Done.
    """
    subject = Subject.of(certificate)
    if certificate.verdict == "refuted":
        raise UnsupportedRequest("this claim is refuted; more votes cannot change that")
    if subject.prediction is None:
        raise UnsupportedRequest("the run ended before it knew its class; start it again")
    run = reopened(subject, model, cancelled=cancelled, more_samples=samples)
    evidence = certificate.evidence
    if isinstance(evidence, TreeEvidence):
        work = _TreeWork(subject, run, {r.path: r for r in evidence.cells}, until, refine)
        return _finish(subject, run, model, work.search(_open_cells(subject, cells)))
    if isinstance(evidence, SingleEvidence):
        return _finish(subject, run, model, _single(subject, run, evidence, until))
    if isinstance(evidence, GroupEvidence):
        return _finish(subject, run, model, _group(subject, run, evidence, until))
    raise UnsupportedRequest(
        "no level is reserved for more votes in this certificate (the paper's grid and part segmentation take "
        "one fixed sample); ask again with the adaptive protocol"
    )


def continued(
    certificate: Certificate, model: BaseClassifier, cells: Sequence[str] = (), **how: object
) -> Certificate:
    """The certificate that `go_on` ends with."""
    for event in go_on(certificate, model, cells, **how):  # type: ignore[arg-type]
        if isinstance(event, Done):
            return event.certificate
    raise AssertionError("the work always ends with Done")


def _finish(
    subject: Subject, run: Run, model: BaseClassifier, work: Generator[Event, None, Outcome]
) -> Iterator[Event]:
    outcome = yield from work
    yield Done(assemble(run, model, subject.certificate.protocol, subject.prediction, outcome))


def _open_cells(subject: Subject, paths: Sequence[str]) -> list[Cell]:
    chosen = (
        [subject.cell(path) for path in paths]
        if paths
        else [f for f in subject.leaves if f.state != "passed"]
    )
    closed = [f.path for f in chosen if f.state in ("passed", "refined") or f.cell is None]
    if closed:
        raise InvalidValue(f"cell {closed[0]!r} is not open: it passed, or its parts stand for it")
    return [f.cell for f in chosen if f.cell is not None]


@dataclass
class _TreeWork:
    """The open cells of a tree, and what becomes of them."""

    subject: Subject
    run: Run
    records: dict[str, CellRecord]
    until: int | None
    refine: bool
    halved: set[str] = field(default_factory=set)
    stopped: Reason | None = None

    def search(self, cells: Sequence[Cell]) -> Generator[Event, None, Outcome]:
        tree = self.subject.tree
        assert tree is not None
        queue = list(reversed(cells))
        self.halved = {cell.path for cell in cells} if self.refine else set()
        while queue and self.stopped is None:
            self.stopped = self.run.control.stop_reason()
            if self.stopped is not None:
                break
            cell = queue.pop()
            if not cell.tested:
                queue.extend(reversed(tree.children(cell)))
                continue
            if cell.path in self.halved:
                yield from self._halve(cell, self._tally(cell), queue)
                continue
            yield from self._examine(cell, queue)
        return self._outcome()

    def _tally(self, cell: Cell) -> Tally:
        """The votes of a cell so far."""
        tally = Tally(cell.path, self.run.at(cell.centre), self.subject.target, cell)
        record = self.records.get(cell.path)
        if record is not None and record.readings:
            tally.readings = list(record.readings)
            tally.n, tally.n_a = record.readings[-1].n, record.readings[-1].n_a
        return tally

    def _examine(self, cell: Cell, queue: list[Cell]) -> Generator[Event, None, None]:
        run, monitor = self.run, self.run.monitor
        level = self.subject.levels.level(cell.rank, run.alpha)
        tally = self._tally(cell)
        record = self.records.get(cell.path)
        bound = record.lower_bound if record is not None else 0.0
        yield CellStarted(cell)
        while True:
            choice = self._choose(cell, tally)
            if choice == "split":
                yield from self._halve(cell, tally, queue, bound)
                return
            if choice == "fail":
                break
            stage = len(tally.readings)
            if not (yield from cast_stage(run, tally, monitor.sizes[stage])):
                self.stopped = run.control.stop_reason() or Reason(
                    code="budget", message="the budget of samples ended; continue with a larger one"
                )
                if tally.readings or record is not None:
                    self._note(cell, tally, bound, "waiting")
                return
            bound = max(bound, monitor.bound(tally.n_a, stage, level))
            yield VotesCounted(cell, tally.n, tally.n_a, bound, run.control.samples)
            if bound > cell.needed:
                self._note(cell, tally, bound, "passed")
                yield CellDecided(cell, True, tally.n, tally.n_a, bound, self._covered())
                return
        self._note(cell, tally, bound, "failed")
        yield CellDecided(cell, False, tally.n, tally.n_a, bound, self._covered())

    def _choose(self, cell: Cell, tally: Tally) -> str:
        """ "more" votes, "split", or "fail": as asked, or whatever is cheapest if p_A is as it looks."""
        last = len(tally.readings) == len(self.run.monitor.sizes)
        if self.until is not None:
            following = math.inf if last else self.run.monitor.sizes[len(tally.readings)]
            return "more" if following <= self.until else "fail"
        if not tally.readings:
            return "more"
        prices = self.subject.prices
        guess, hope = tally.guess(), upper_bound(tally.n_a, tally.n, _HOPE)
        stay = prices.stay(guess, cell.reach, cell.rank, tally.n)
        split = prices.split(guess, cell.reach, cell.rank)
        if min(stay, split) <= PATIENCE:
            return "more" if stay <= split else "split"
        stay = prices.stay(hope, cell.reach, cell.rank, tally.n)
        split = prices.split(hope, cell.reach, cell.rank)
        if min(stay, split) > PATIENCE:
            return "fail"
        return "split" if last or stay > split else "more"

    def _halve(
        self, cell: Cell, tally: Tally, queue: list[Cell], bound: float | None = None
    ) -> Generator[Event, None, None]:
        tree = self.subject.tree
        assert tree is not None
        children = tuple(tree.children(cell))
        record = self.records.get(cell.path)
        known = record.lower_bound if record is not None else 0.0
        if not children:
            self._note(cell, tally, known if bound is None else bound, "failed")
            yield CellDecided(cell, False, tally.n, tally.n_a, known, self._covered())
            return
        self._note(cell, tally, known if bound is None else bound, "refined")
        yield CellRefined(cell, children)
        queue.extend(reversed(children))

    def _note(self, cell: Cell, tally: Tally, bound: float, state: CellState) -> None:
        self.records[cell.path] = tally.record(cell, bound, state)

    def _covered(self) -> float:
        whole = float(np.prod(2 * self.subject.tree.region.half_widths))  # type: ignore[union-attr]
        done = sum(
            float(np.prod(np.subtract(r.high, r.low))) for r in self.records.values() if r.state == "passed"
        )
        return min(1.0, done / whole)

    def _outcome(self) -> Outcome:
        """The verdict that follows from all records, old and new."""
        subject, run, certificate = self.subject, self.run, self.subject.certificate
        evidence, tree = certificate.evidence, subject.tree
        assert isinstance(evidence, TreeEvidence)
        assert tree is not None
        draft = evidence.model_copy(
            update={"cells": sorted(self.records.values(), key=lambda r: (len(r.path), r.path))}
        )
        uncovered = list(_uncovered(subject, self.records))
        gauges = [float(tree.region.nearest_gauge(np.array(c.low), np.array(c.high))) for c in uncovered]
        factor = 1.0 if not uncovered else 0.0
        if run.largest and uncovered:
            factor = min(1.0, min(gauges) * (1 - 1e-9))
        draft = draft.model_copy(update={"factor": factor})
        reached = max((tree.descend(path).rank for path in self.records), default=0)
        ledger = rank_ledger(subject.levels, reached + 1, run.alpha)
        radii = tuple(factor * r for r in run.radii) if run.largest else None
        if factor > 0:
            return Outcome("certified", draft, ledger, [], radii)
        return Outcome("undecided", draft, ledger, [self._reason(uncovered)], radii)

    def _reason(self, uncovered: Sequence[Cell]) -> Reason:
        if self.stopped is not None:
            return self.stopped
        tried = [
            self.records[c.path]
            for c in uncovered
            if c.path in self.records and self.records[c.path].readings
        ]
        if not tried:
            return Reason(code="budget", message="a part of the region was not looked at yet; continue")
        worst = min(tried, key=lambda r: r.readings[-1].n_a / r.readings[-1].n)
        place = self.subject.transform.describe((np.array(worst.low) + np.array(worst.high)) / 2)
        share = worst.readings[-1].n_a / worst.readings[-1].n
        return Reason(
            code="not-confident",
            message=f"at {place} p_A is about {share:.3f}, and its bound must exceed {probability(worst.needed)}",
        )


def _uncovered(subject: Subject, records: dict[str, CellRecord]) -> Iterator[Cell]:
    """The parts of the region that no passing cell holds."""
    tree = subject.tree
    assert tree is not None
    visited = {path[:depth] for path in records for depth in range(len(path) + 1)}
    stack = [tree.root()]
    while stack:
        cell = stack.pop()
        record = records.get(cell.path)
        if record is not None and record.state == "passed":
            continue
        opened = record.state == "refined" if record is not None else not cell.tested
        children = tree.children(cell) if opened and cell.path in visited else []
        if children:
            stack.extend(children)
        else:
            yield cell


def _single(
    subject: Subject, run: Run, evidence: SingleEvidence, until: int | None
) -> Generator[Event, None, Outcome]:
    rule = subject.strategy.rule
    assert rule is not None
    needed = 0.5 if run.largest else rule.needed(run.radii)
    tally = Tally(streams.SINGLE, run.cloud.points, subject.target, readings=list(evidence.readings))
    if evidence.readings:
        tally.n, tally.n_a = evidence.readings[-1].n, evidence.readings[-1].n_a
    best, stopped = evidence.lower_bound, None
    for stage in range(len(evidence.readings), len(run.monitor.sizes)):
        size = run.monitor.sizes[stage]
        if (until is not None and size > until) or (best > needed and not run.largest):
            break
        if not (yield from cast_stage(run, tally, size)):
            stopped = run.control.stop_reason() or Reason(
                code="budget", message="the budget of samples ended; continue with a larger one"
            )
            break
        best = max(best, run.monitor.bound(tally.n_a, stage, run.alpha))
        yield VotesCounted(None, tally.n, tally.n_a, best, run.control.samples)
    radii = rule.largest(best, run.radii) if run.largest else None
    certified = max(radii) > 0 if radii is not None else best > needed
    share = tally.n_a / max(tally.n, 1)
    short = Reason(
        code="not-confident",
        message=f"p_A is about {probability(share)}, its lower bound does not pass the needed {probability(needed)}",
    )
    proof = SingleEvidence(rule=rule.name, readings=tally.readings, lower_bound=best, needed=needed)
    ledger = stage_ledger(run.monitor, len(tally.readings), run.alpha)
    reasons = [] if certified else [stopped or short]
    return Outcome("certified" if certified else "undecided", proof, ledger, reasons, radii)


def _group(
    subject: Subject, run: Run, evidence: GroupEvidence, until: int | None
) -> Generator[Event, None, Outcome]:
    prediction = subject.prediction
    assert isinstance(prediction, Prediction)
    stages = list(evidence.stages)
    counts = np.array([stages[-1].get(name, 0) if stages else 0 for name in run.classes], dtype=np.int64)
    p_value, level = evidence.p_value, evidence.level
    certified, stopped = bool(stages) and p_value <= level, None
    for stage in range(len(stages), len(run.monitor.sizes)):
        size, done = run.monitor.sizes[stage], int(counts.sum())
        if certified or (until is not None and size > until):
            break
        more = None
        if run.afford(size - done):
            more = run.cast(run.cloud.points, streams.cell(streams.SINGLE), done, size)
        if more is None:
            stopped = run.control.stop_reason() or Reason(
                code="budget", message="the budget of samples ended"
            )
            break
        counts = counts + more
        stages.append(named(counts, run.classes))
        level = run.monitor.level(stage, run.alpha)
        p_value = run.monitor.top_class(counts.tolist(), prediction.index)
        certified = p_value <= level
        yield VotesCounted(None, size, int(counts[prediction.index]), None, run.control.samples)
    proof = GroupEvidence(stages=stages, p_value=p_value, level=level)
    ledger = stage_ledger(run.monitor, len(stages), run.alpha)
    close = Reason(code="not-confident", message=f"{prediction.name} does not lead by enough votes yet")
    reasons = [] if certified else [stopped or close]
    return Outcome("certified" if certified else "undecided", proof, ledger, reasons, run.radii)
