"""Part segmentation: the same certificates, one for every point."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from tpc_core import streams
from tpc_core.certificate.schema import PointEvidence, Reason
from tpc_core.certify.events import Event, VotesCounted
from tpc_core.certify.ledger import point_ledger
from tpc_core.certify.run import Outcome, Run
from tpc_core.certify.single import Rule
from tpc_core.statistics import lower_bound, tail


def certify_points(run: Run, rule: Rule | None, samples: int, select: int) -> Generator[Event, None, Outcome]:
    """Certify the label of each point; `rule` None stands for group smoothing (the top-class test).

    Point-wise claims hold at alpha each, and so does "all points keep their label"; a joint claim about the
    points that passed takes alpha / N.
    """
    needed = 0.5 if rule is None else rule.needed(run.radii)
    count = len(run.cloud)
    chosen = run.cast(run.cloud.points, streams.SELECT, 0, select) if run.afford(select + samples) else None
    if chosen is None:
        return _unfinished(run, rule, count, needed)
    predictions = np.argmax(chosen, axis=1)
    total = np.zeros_like(chosen)
    done = 0
    while done < samples:
        end = min(samples, done + run.batch_size)
        more = run.cast(run.cloud.points, streams.cell(streams.SINGLE), done, end)
        if more is None:
            return _unfinished(run, rule, count, needed)
        total, done = total + more, end
        agreeing = int(total[np.arange(count), predictions].sum())
        yield VotesCounted(None, done * count, agreeing, None, run.control.samples)
    evidence = point_evidence(rule, predictions, select, total, needed, run.alpha)
    ledger = point_ledger(count, run.alpha)
    passed = sum(evidence.certified)
    if passed == count:
        return Outcome("certified", evidence, ledger)
    reason = Reason(
        code="not-confident",
        message=f"{passed} of {count} points keep their part; the others need p_A above {needed:.4f}",
    )
    return Outcome("undecided", evidence, ledger, [reason])


def point_evidence(
    rule: Rule | None, predictions: np.ndarray, selection: int, votes: np.ndarray, needed: float, alpha: float
) -> PointEvidence:
    """Bounds and verdicts of every point from its votes (N, classes)."""
    rows = np.arange(len(predictions))
    n_a = votes[rows, predictions]
    others = votes.copy()
    others[rows, predictions] = -1
    runner_up = np.maximum(others.max(axis=1), 0)
    return evidence_from_counts(
        "group" if rule is None else rule.name,
        predictions.tolist(),
        selection,
        int(votes[0].sum()),
        n_a.tolist(),
        runner_up.tolist(),
        needed,
        alpha,
    )


def evidence_from_counts(
    rule: str,
    predictions: list[int],
    selection: int,
    n: int,
    n_a: list[int],
    runner_up: list[int],
    needed: float,
    alpha: float,
) -> PointEvidence:
    """The evidence that follows from the counts alone; `verify` derives it the same way."""

    def passes(own: int, rival: int, level: float) -> bool:
        if rule == "group":
            return own + rival > 0 and tail(own, own + rival, 0.5) <= level
        return lower_bound(own, n, level) > needed

    pairs = list(zip(n_a, runner_up, strict=True))
    return PointEvidence(
        rule=rule,
        predictions=predictions,
        selection=selection,
        n=n,
        n_a=n_a,
        runner_up=runner_up,
        lower_bounds=[lower_bound(own, n, alpha) if n else 0.0 for own in n_a],
        needed=needed,
        certified=[passes(own, rival, alpha) for own, rival in pairs],
        jointly_certified=[passes(own, rival, alpha / len(n_a)) for own, rival in pairs],
    )


def _unfinished(run: Run, rule: Rule | None, count: int, needed: float) -> Outcome:
    nothing = [0] * count
    evidence = PointEvidence(
        rule="group" if rule is None else rule.name,
        predictions=nothing,
        selection=0,
        n=0,
        n_a=nothing,
        runner_up=nothing,
        lower_bounds=[0.0] * count,
        needed=needed,
        certified=[False] * count,
        jointly_certified=[False] * count,
    )
    reason = run.control.stop_reason() or Reason(code="budget", message="the budget of samples ended")
    return Outcome("undecided", evidence, [], [reason])
