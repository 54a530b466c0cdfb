"""The search for the smallest attack, and the gap that it leaves to what is certified."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from tpc_core.attacks import METHODS, attack
from tpc_core.case_view import CaseView
from tpc_core.certificate.schema import Certificate
from tpc_core.certify import Budget, prepare
from tpc_core.certify.control import Control
from tpc_core.certify.refute import confirm_attack
from tpc_core.certify.run import Run
from tpc_core.errors import UnsupportedRequest
from tpc_core.explain.continue_run import never
from tpc_core.ledger import Refutation, look_stream
from tpc_core.proofs.judgement import is_proven
from tpc_core.statistics import upper_bound
from tpc_core.votes import BaseClassifier

TRIES = 96
"""Parameters that each method tries in the first round."""

TEST_VOTES = 512
"""About what it takes to prove an attack at a place where another class clearly wins, its rival's votes included."""

_VOTES_PER_TRY = 32
_ROUNDS = 3
_STEPS = 5
_LOOK = 64

Progress = Callable[[int, int], None]
"""Told of the evaluations made, and of those expected in all."""


@dataclass(frozen=True)
class AttackSearch:
    """What the search has come to: the smallest attack so far, or none."""

    attack: Refutation | None
    rival: str | None
    """The class that it leads to."""
    size: float | None
    """In parts of the region."""
    certified: float
    evaluations: int
    closest: float | None
    """The smallest lead of the class that was seen where nothing was found."""
    certificate: Certificate | None = None
    """At the end: the certificate with all tests in its ledger, refuted where an attack lies inside its region."""

    @property
    def done(self) -> bool:
        return self.certificate is not None

    @property
    def gap(self) -> tuple[float, float] | None:
        """From the certified radius to the smallest attack, in parts of the region; None without an attack."""
        return None if self.size is None else (self.certified, self.size)


def search_votes(tries: int = TRIES) -> int:
    """About what a search costs: every method once over."""
    return len(METHODS) * tries * _VOTES_PER_TRY


def find_smallest_attack(
    view: CaseView,
    model: BaseClassifier,
    *,
    start: tuple[float, ...] | None = None,
    tries: int = TRIES,
    cancelled: Callable[[], bool] = never,
    progress: Progress = lambda done, expected: None,
) -> Iterator[AttackSearch]:
    """Search the region, then shrink what was found; a report after every step, the last one `done`.

    `start` is a parameter to try first. Every test goes into the ledger and the k-th one of its whole life has the
    level alpha / 2^k, so all refutations together are wrong with probability at most alpha, however often this is done.
    """
    if view.proof.kind == "points":
        raise UnsupportedRequest("attacks change the class of a cloud, and a segmentation model gives none")
    search = _Search(view, model, cancelled, progress)
    if search.found is None and start is not None:
        search.test(np.array(start), "centre of a failing cell")
        yield search.report()
    factor = 1.0
    for turn in range(_ROUNDS):
        share = (
            tries if turn == 0 else tries // 2
        )  # later searches look inside a smaller region, for half as long
        if search.found is not None:
            yield from search.shrink(search_votes(share))
            factor = 0.9 * search.size
        if cancelled() or factor <= view.certified_part or not search.look(factor, share):
            break
        yield search.report()
    yield search.report(done=True)


@dataclass
class _Search:
    """The certificate's run opened again, and what was found so far."""

    view: CaseView
    model: BaseClassifier
    cancelled: Callable[[], bool]
    progress: Progress
    run: Run = field(init=False)
    found: Refutation | None = field(init=False)
    closest: float | None = None
    looked: int = 0
    """Evaluations that are no votes of the ledger."""

    def __post_init__(self) -> None:
        self.view.check_model(self.model)
        certificate, question = self.view.certificate, self.view.certificate.question
        options = replace(question.options, device=certificate.device)
        run = prepare(
            self.model, self.view.cloud, question.transform, question.radius, options, resume=certificate
        )
        run.control = Control(Budget(), self.cancelled)
        self.run = run
        proven = [
            refutation
            for number, refutation in enumerate(run.ledger.refutations, start=1)
            if is_proven(refutation, run.ledger, run.claim.alpha, number)
        ]
        self.found = min(proven, key=lambda r: self.view.size(np.array(r.parameter)), default=None)
        self.view.target  # noqa: B018  (a run that does not know its class has nothing to attack)

    @property
    def size(self) -> float:
        """The size of the attack that was found."""
        assert self.found is not None
        return self.view.size(np.array(self.found.parameter))

    @property
    def made(self) -> int:
        return self.run.ledger.samples - self.view.certificate.samples + self.looked

    def report(self, *, done: bool = False) -> AttackSearch:
        found = self.found
        return AttackSearch(
            attack=found,
            rival=None if found is None else self.model.classes[found.rival],
            size=None if found is None else self.size,
            certified=self.view.certified_part,
            evaluations=self.made,
            closest=self.closest,
            certificate=self.run.certificate(self.view.certificate.stopped) if done else None,
        )

    def test(self, z: np.ndarray, how: str, rival: int | None = None) -> bool:
        """Put a place to the test; a proven attack is the smallest one so far."""
        proven = confirm_attack(self.run, z, how, rival)
        if proven:
            self.found = self.run.ledger.refutations[-1]
        return proven

    def look(self, factor: float, tries: int) -> bool:
        """Search the region scaled by a factor with every method, until one of them finds an attack."""
        view, run, begun = self.view, self.run, self.looked
        expected = self.made + search_votes(tries)
        before = run.ledger.samples

        def searching(evaluations: int) -> None:
            self.looked = begun + evaluations - (run.ledger.samples - before)
            self.progress(self.made, max(expected, self.made))

        parameters = zip(view.transform.radii, view.radii, strict=True)
        report = attack(
            self.model,
            view.cloud,
            view.transform,
            {p.name: p.to_edge(factor * r) * (1 - 1e-12) for p, r in parameters},
            replace(run.question.options, budget=Budget()),
            tries=tries,
            search_seed=len(run.ledger.refutations),
            resume=run.ledger,
            cancelled=self.cancelled,
            progress=searching,
        )
        searching(report.evaluations)
        if report.attack is None:
            self.closest = report.closest.margin
            return False
        self.found = run.ledger.refutations[-1]
        return True

    def shrink(self, ahead: int) -> Iterator[AttackSearch]:
        """Halve the way between what is certified and the attack, along its own direction."""
        assert self.found is not None
        found, target = self.found, self.view.target
        z, size = np.array(found.parameter), self.size
        low, high = min(self.view.certified_part, size), size
        for step in range(_STEPS):
            middle = (low + high) / 2
            if self.cancelled() or high - low < 0.01:
                break
            place = z * (middle / size)
            counts = self.run.voter.count(self.run.claim.at(place), look_stream("shrink"), 0, _LOOK)
            self.looked += _LOOK
            likely = upper_bound(int(counts[target]), _LOOK, 0.05) < 0.5
            proven = likely and self.test(place, found.method, found.rival)
            low, high = (low, middle) if proven else (middle, high)
            self.progress(self.made, self.made + (_STEPS - step - 1) * TEST_VOTES + ahead)
            yield self.report()
