"""More votes and searches for attacks as pieces of work for an engine: both write into a ledger.

Each begins with the latest certificate of the ledger, which may have grown since the case was made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from tpc_core.case_view import CaseView
from tpc_core.certificate.schema import Certificate
from tpc_core.certify import Budget, Done, Focus, VotesCounted, certify
from tpc_core.engines.work import Bench, Report
from tpc_core.explain.continue_run import continue_run
from tpc_core.explain.smallest_attack import TRIES, AttackSearch, find_smallest_attack
from tpc_core.votes import BaseClassifier


@dataclass(frozen=True)
class MoreVotes:
    """Go on with some cells, or with all that is open; the last report is the new certificate."""

    certificate: Certificate = field(repr=False)
    latest: Certificate = field(repr=False)
    model: BaseClassifier = field(repr=False)
    focus: Focus | None = None
    wanted: float | None = None
    """The votes that will do, where that is known."""

    def going_on(self, state: bytes) -> MoreVotes:
        """The same after the worker died: the votes that were kept stay."""
        return replace(self, latest=Certificate.from_json(state))

    def run(self, bench: Bench) -> Iterator[Report]:
        before = read_off(self.certificate, self.model, self.latest)
        if bench.stop():
            return
        events = continue_run(
            before,
            self.model,
            self.focus,
            cancelled=bench.stop,
            keep=lambda so_far: bench.keep(so_far.to_json().encode()),
        )
        for event in events:
            if isinstance(event, VotesCounted):
                cast = event.samples - before.samples
                part = None if self.wanted is None else min(1.0, cast / self.wanted)
                yield Report(None, f"{cast:,} votes cast", part)
            elif isinstance(event, Done):
                yield Report(event.certificate)


@dataclass(frozen=True)
class SmallestAttack:
    """Search for the smallest attack, beginning at a place where one is suspected."""

    certificate: Certificate = field(repr=False)
    latest: Certificate = field(repr=False)
    model: BaseClassifier = field(repr=False)
    start: tuple[float, ...] | None = None
    tries: int = TRIES

    def run(self, bench: Bench) -> Iterator[Report]:
        before = read_off(self.certificate, self.model, self.latest)
        last: AttackSearch | None = None

        def progress(done: int, expected: int) -> None:
            bench.tell(Report(last, f"{done:,} of about {expected:,} evaluations", done / max(expected, 1)))

        steps = find_smallest_attack(
            CaseView.of(before),
            self.model,
            start=self.start,
            tries=self.tries,
            cancelled=bench.stop,
            progress=progress,
        )
        for last in steps:
            yield Report(last, f"{last.evaluations:,} evaluations")


def read_off(certificate: Certificate, model: BaseClassifier, latest: Certificate) -> Certificate:
    """The same question, read off a ledger that has grown since; no vote is cast."""
    if latest.samples <= certificate.samples:
        return certificate
    question = certificate.question
    options = replace(question.options, budget=Budget(samples=latest.samples), device=certificate.device)
    cloud = certificate.cloud.cloud()
    return certify(model, cloud, question.transform, question.radius, options, resume=latest)


def suspected(view: CaseView, tested: tuple[float, ...] | None) -> tuple[float, ...] | None:
    """Where a search begins: a tested place, unless it lies outside of the region."""
    return None if tested is None or view.size(np.array(tested)) > 1 else tested
