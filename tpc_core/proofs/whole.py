"""Proofs from the votes on the cloud itself: one probability, or the top class of a group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tpc_core.ledger import WHOLE, Ledger, Tally
from tpc_core.proofs.base import CellStanding, Proof, Standing, no_such_place
from tpc_core.smoothing import OneProbability, Threshold
from tpc_core.statistics import best_lower_bound, log_e, needed_log_e

if TYPE_CHECKING:
    from torch import Tensor


class WholeProof(Proof):
    """All votes are cast at one place: the cloud."""

    def check_place(self, place: str) -> None:
        if place != WHOLE:
            raise no_such_place(place)

    def tested_cloud(self, place: str) -> Tensor:
        self.check_place(place)
        return self.claim.cloud.points


class OneProbabilityProof(WholeProof):
    """The claim holds if p_A exceeds what its radius needs."""

    kind = "single"

    def standing(self, ledger: Ledger) -> Standing:
        target, tally, threshold = ledger.target, ledger.tally(WHOLE), self.claim.threshold
        hits, totals = tally.readings(target) if target is not None else _none()
        passed = proves(hits, totals, threshold, self.claim.alpha)
        state = "passed" if passed else "open" if tally.n else "untested"
        cell = CellStanding(WHOLE, "whole", state, threshold, self.claim.alpha, hits, totals)  # type: ignore[arg-type]
        return Standing(passed, (cell,))

    def largest_part(self, ledger: Ledger) -> float:
        rule, radii, target = self.claim.rule, self.claim.radii, ledger.target
        assert isinstance(rule, OneProbability)
        if target is None:
            return 0.0
        bound = best_lower_bound(*ledger.tally(WHOLE).readings(target), self.claim.alpha)
        found = rule.largest(bound, radii)
        return max(0.0, min(1.0, *(f / r for f, r in zip(found, radii, strict=True))))


class TopClassProof(WholeProof):
    """The claim holds, whatever its radius, if y_A is the top class: every rival must fall.

    See docs/theory.md, "Uniform smoothing over a group".
    """

    kind = "group"

    def standing(self, ledger: Ledger) -> Standing:
        target, tally = ledger.target, ledger.tally(WHOLE)
        passed = target is not None and is_top_class(tally, target, self.claim.alpha)
        hits, totals = _none() if target is None else against_runner_up(tally, target)
        state = "passed" if passed else "open" if tally.n else "untested"
        threshold = self.claim.threshold
        cell = CellStanding(WHOLE, "group", state, threshold, self.claim.alpha, hits, totals)  # type: ignore[arg-type]
        return Standing(passed, (cell,))

    def largest_part(self, ledger: Ledger) -> float:
        return 1.0 if self.standing(ledger).certified else 0.0


def _none() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)


def proves(hits: NDArray[np.int64], totals: NDArray[np.int64], threshold: Threshold, level: float) -> bool:
    """Whether some reading (k, n) proves that p_A exceeds the threshold, at this level."""
    if not len(hits):
        return False
    return bool(np.max(log_e(hits, totals, threshold.q, threshold.complement)) >= needed_log_e(level))


def against_runner_up(tally: Tally, target: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(k, n) after every block among the votes for y_A and for its strongest rival as it stands now."""
    rivals = tally.total.copy()
    rivals[target] = -1
    rival = int(np.argmax(rivals))
    hits = np.cumsum(tally.blocks[:, target].astype(np.int64))
    return hits, hits + np.cumsum(tally.blocks[:, rival].astype(np.int64))


def is_top_class(tally: Tally, target: int, level: float) -> bool:
    """Whether y_A beats every rival: against each, the votes for the two reject one half at some reading.

    If a rival is truly as likely as y_A, its own test errs with probability at most `level`: no correction is due.
    """
    if not tally.size:
        return False
    counts = np.cumsum(tally.blocks.astype(np.int64), axis=0)
    own = counts[:, target : target + 1]
    both = own + counts
    tests = log_e(np.broadcast_to(own, both.shape), both, 0.5)
    best = np.max(tests, axis=0)
    best[target] = np.inf
    return bool(np.min(best) >= needed_log_e(level))
