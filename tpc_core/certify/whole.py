"""Search where all votes are cast on the cloud itself: one probability, the top class of a group, or every point."""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np

from tpc_core.certificate.schema import Stop
from tpc_core.certify.events import Event, Planned, VotesCounted
from tpc_core.certify.run import Request, Run
from tpc_core.covers.paper import SINGLE_SAMPLES
from tpc_core.ledger import WHOLE, Tally
from tpc_core.proofs import OneProbabilityProof, PointProof, TopClassProof
from tpc_core.smoothing import Threshold
from tpc_core.statistics import expected_votes, upper_bound
from tpc_core.votes import BLOCK

LARGEST_SAMPLES = 10_016
"""Votes behind a largest radius, unless a budget says otherwise: more buy little radius."""

POINT_SAMPLES = 2_048
"""Votes at most for part segmentation, unless a budget says otherwise."""

_HOPE = 1e-4
"""A claim is given up only where even the upper bound of p_A at this level would not do."""

_LONGEST_STRIDE = 64
"""Blocks cast at most before the votes are read again."""


def search_whole(run: Run, until: int | None = None) -> Generator[Event, None, Stop]:
    """Cast votes until the claim is proved, or never will be; `until` is a number of votes to go to at least."""
    if run.question.options.protocol == "paper":
        return (yield from _fixed_sample(run))
    claim = run.claim
    threshold = claim.threshold
    yield Planned(1, planned_votes(threshold, claim.alpha))
    while True:
        tally = run.ledger.tally(WHOLE)
        forced = until is not None and tally.n < until
        if not forced and tally.n:
            if not run.question.options.largest and run.proof.standing(run.ledger).certified:
                return "settled"
            if _is_over(run, tally):
                return "hopeless" if not run.question.options.largest else "settled"
        blocks = (until - tally.n) // BLOCK or 1 if forced and until is not None else _stride(run, tally)
        grown = False
        for _ in run.cast([Request(WHOLE, claim.cloud.points, blocks)]):
            grown = True
            yield _counted(run)
        if not grown:
            return run.stop_reason()


def _fixed_sample(run: Run) -> Generator[Event, None, Stop]:
    """The paper's protocol: a sample of one size, read once."""
    missing = SINGLE_SAMPLES - run.ledger.tally(WHOLE).n
    yield Planned(1, float(SINGLE_SAMPLES))
    if missing > 0 and not run.affordable(missing):
        return "budget"
    if missing > 0:
        for _ in run.cast([Request(WHOLE, run.claim.cloud.points, missing // BLOCK)]):
            yield _counted(run)
    if run.ledger.tally(WHOLE).n < SINGLE_SAMPLES:
        return run.stop_reason()
    return "settled" if run.proof.standing(run.ledger).certified else "hopeless"


def planned_votes(threshold: Threshold, alpha: float, p_a: float = 0.99) -> float:
    """About how many votes the claim takes, if p_A is as is usual."""
    votes = expected_votes(max(p_a, (threshold.q + 1) / 2), threshold.q, alpha, BLOCK)
    return votes if math.isfinite(votes) else float(LARGEST_SAMPLES)


def _counted(run: Run) -> VotesCounted:
    tally, chosen = run.ledger.tally(WHOLE), run.ledger.chosen
    assert chosen is not None
    if chosen.ndim:
        own = int(tally.total[np.arange(len(chosen)), chosen].sum())
        return VotesCounted(None, tally.n * len(chosen), own, run.claim.alpha, run.ledger.samples)
    return VotesCounted(None, tally.n, int(tally.total[run.target]), run.claim.alpha, run.ledger.samples)


def _is_over(run: Run, tally: Tally) -> bool:
    """Whether going on would not help: out of hope, or enough votes for a largest radius."""
    options = run.question.options
    if isinstance(run.proof, PointProof):
        return _points_over(run, tally)
    if options.largest:
        return (
            tally.n >= (run.control.budget.samples or LARGEST_SAMPLES)
            or run.proof.largest_part(run.ledger) >= 1.0
        )
    if isinstance(run.proof, TopClassProof):
        rivals = np.delete(tally.total, run.target)
        own, rival = int(tally.total[run.target]), int(rivals.max(initial=0))
        if own + rival == 0:
            return tally.n >= options.patience
        hope = upper_bound(own, own + rival, _HOPE)
        pooled = (own + rival) / tally.n
        return expected_votes(round(hope, 3), 0.5, run.claim.alpha, BLOCK) / pooled > options.patience
    threshold = run.claim.threshold
    hope = upper_bound(int(tally.total[run.target]), tally.n, _HOPE)
    return hope <= threshold.q or _votes_for(hope, threshold, run.claim.alpha) > options.patience


def _votes_for(p: float, threshold: Threshold, alpha: float) -> float:
    return expected_votes(float(f"{p:.6g}"), threshold.q, alpha, BLOCK)


def _points_over(run: Run, tally: Tally) -> bool:
    """All points that can pass have passed, or the usual sample is full."""
    proof = run.proof
    assert isinstance(proof, PointProof)
    limit = run.control.budget.samples
    if tally.n >= (POINT_SAMPLES if limit is None else limit):
        return True
    standing = proof.standing(run.ledger)
    assert standing.points is not None
    still = [cell for cell, done in zip(standing.cells, standing.points.jointly, strict=True) if not done]
    return all(upper_bound(cell.n_a, cell.n, _HOPE) <= cell.needed for cell in still)


def _stride(run: Run, tally: Tally) -> int:
    """Blocks to cast before the next reading: one by one at first, then half of what is expected to be missing."""
    if isinstance(run.proof, PointProof):
        return max(1, tally.size)
    if run.question.options.largest:
        return min(_LONGEST_STRIDE, max(2, tally.size))
    if tally.size < 4:
        return 1
    own = int(tally.total[run.target])
    if isinstance(run.proof, OneProbabilityProof):
        guess, threshold, pool = (own + 0.5) / (tally.n + 1), run.claim.threshold, 1.0
    else:
        rival = int(np.delete(tally.total, run.target).max(initial=0))
        guess, threshold = (own + 0.5) / (own + rival + 1), Threshold(0.5, 0.5)
        pool = max((own + rival) / tally.n, 0.01)
    wanted = _votes_for(guess, threshold, run.claim.alpha) / pool
    missing = wanted - tally.n if math.isfinite(wanted) else tally.n
    return int(min(_LONGEST_STRIDE, max(1, missing // (2 * BLOCK))))
