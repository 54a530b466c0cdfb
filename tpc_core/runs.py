"""A certificate as a piece of work for an engine: the events of a run, with what a page shows before and after them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tpc_core.certificate.certain import CellsRecord
from tpc_core.certificate.schema import Certificate
from tpc_core.certify import Done, certify_events
from tpc_core.certify.cover import Focus
from tpc_core.certify.prepare import prepare
from tpc_core.certify.run import Run
from tpc_core.cloud import Cloud
from tpc_core.covers import Cell
from tpc_core.engines.recall import recalling
from tpc_core.engines.work import Bench
from tpc_core.ledger import WHOLE, Ledger, stream_of
from tpc_core.ledger.places import refutation_place
from tpc_core.proofs import Claim, Standing
from tpc_core.proofs.base import State
from tpc_core.proofs.judgement import proven_attack
from tpc_core.question import Question
from tpc_core.verify import certain_case_of
from tpc_core.votes import BaseClassifier

MOST_CELLS = 20_000
"""Cells of an earlier run that are told at the beginning; a map of more would be a blur."""


@dataclass(frozen=True)
class KnownCell:
    """A cell that has votes of an earlier run."""

    cell: Cell
    state: State
    n: int
    n_a: int
    level: float


@dataclass(frozen=True)
class Begun:
    """The question was checked and the votes begin: the claim, and what earlier runs know of it."""

    claim: Claim
    samples: int
    cells: tuple[KnownCell, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What a page shows of a finished run beside its certificate."""

    standing: Standing | None = None
    """What the votes show, in a run without cells."""
    votes: dict[str, int] = field(default_factory=dict)
    """Votes by class, in a run about one top class."""
    attack: tuple[float, ...] | None = None
    """The proven attack of a refuted run."""
    target: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class CertifyWork:
    """Certify one question. It yields Begun, the events of the run and Outcome; certain proofs have no Begun.

    `more` asks for more: the same question, or a larger budget, on the votes of a certificate.
    """

    question: Question
    model: BaseClassifier = field(repr=False)
    cloud: Cloud = field(repr=False)
    resume: Certificate | bytes | None = field(default=None, repr=False)
    """The certificate to go on from, or its JSON."""
    focus: Focus | None = None
    spec: str | None = None
    kept: bytes | None = field(default=None, repr=False)
    """The JSON of what a worker kept that died over this work: its votes are read, and not cast again."""

    def more(self, certificate: Certificate, focus: Focus | None = None) -> CertifyWork:
        """The same question on votes that were cast before."""
        return replace(self, resume=certificate, focus=focus)

    def going_on(self, state: bytes) -> CertifyWork:
        """The same work after its worker died: it takes the same way again, and no vote that was kept is cast again.

        A search that went on from the kept votes would look at cells in another order, and end with other votes.
        """
        return replace(self, kept=state)

    def run(self, bench: Bench) -> Iterator[Any]:
        question, earlier = self.question, self.resume
        resume = Certificate.from_json(earlier) if isinstance(earlier, bytes) else earlier
        asked = (self.model, self.cloud, question.transform, question.radius, question.options)
        if question.options.proof != "smoothed":
            yield from self._certain(bench, resume)
            return
        run = prepare(*asked, resume=resume, spec=self.spec)
        yield _begun(run)
        known = None if self.kept is None else Certificate.from_json(self.kept).votes()

        def keep(so_far: Certificate) -> None:
            if known is None or so_far.samples >= known.samples:
                bench.keep(so_far.to_json().encode())

        events = certify_events(
            *asked,
            cancelled=bench.stop,
            resume=run.ledger,
            focus=self.focus,
            voter=run.voter,
            keep=keep,
            spec=self.spec,
        )
        with recalling({} if known is None else _streams(known)):
            for event in events:
                if isinstance(event, Done):
                    yield _outcome(run, event.certificate)
                yield event

    def _certain(self, bench: Bench, resume: Certificate | None) -> Iterator[Any]:
        question = self.question
        for event in certify_events(
            self.model,
            self.cloud,
            question.transform,
            question.radius,
            question.options,
            cancelled=bench.stop,
            resume=resume if self.kept is None else Certificate.from_json(self.kept),
            focus=self.focus,
            keep=lambda so_far: bench.keep(so_far.to_json().encode()),
            spec=self.spec,
        ):
            if isinstance(event, Done) and event.certificate.certain is not None:
                yield _certain_outcome(event.certificate)
            yield event


def _streams(ledger: Ledger) -> dict[str, NDArray[np.uint8]]:
    """The votes of a ledger by the names of their noise."""
    attacks = enumerate(ledger.refutations, start=1)
    return {stream_of(place): tally.blocks for place, tally in ledger.tallies.items()} | {
        refutation_place(number): attack.votes.blocks for number, attack in attacks
    }


def _begun(run: Run) -> Begun:
    proof, ledger = run.proof, run.ledger
    cells: tuple[KnownCell, ...] = ()
    if proof.kind in ("cover", "grid") and ledger.target is not None:
        known = (cell for cell in proof.standing(ledger).cells if cell.n)
        cells = tuple(
            KnownCell(each.cell, each.state, each.n, each.n_a, each.level)
            for each in known
            if each.cell is not None
        )
    return Begun(replace(proof.claim), ledger.samples, cells[:MOST_CELLS])


def _outcome(run: Run, certificate: Certificate) -> Outcome:
    proof, ledger = run.proof, run.ledger
    outcome = Outcome(target=ledger.target, seed=ledger.seed)
    if certificate.verdict == "refuted":
        number = proven_attack(proof.claim, ledger)
        attack = None if number is None else ledger.refutations[number].parameter
        outcome = replace(outcome, attack=attack)
    if proof.kind in ("cover", "grid") or ledger.chosen is None:
        return outcome
    votes: dict[str, int] = {}
    if proof.kind == "group":
        total = ledger.tally(WHOLE).total
        order = np.argsort(-total, kind="stable")
        votes = {certificate.model.classes[i]: int(total[i]) for i in order if total[i]}
    return replace(outcome, standing=proof.standing(ledger), votes=votes)


def _certain_outcome(certificate: Certificate) -> Outcome:
    points = certain_case_of(certificate).proof.points
    if points is not None:
        return Outcome(standing=Standing(certificate.verdict == "certified", (), points))
    record = certificate.certain
    found = record.counterexample if isinstance(record, CellsRecord) else None
    return Outcome(attack=None if found is None else tuple(found.parameter))
