"""What would it take? The radius that the votes at hand promise for more votes, with what they leave open."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tpc_core.certificate.schema import GridEvidence, PointEvidence, SingleEvidence, TreeEvidence
from tpc_core.diagnosis.cells import CellFacts
from tpc_core.diagnosis.radii import certified_part
from tpc_core.diagnosis.subject import PATIENCE, Subject
from tpc_core.diagnosis.sweep import QUANTILES, Band, posterior, single_radius

_CELLS = 500


@dataclass(frozen=True)
class Promise:
    """With this many votes in all, about this radius (in parts of the region asked for)."""

    votes: float
    radius: Band


def radius_by_votes(subject: Subject) -> tuple[Promise, ...]:
    """The certified radius against the number of votes; empty where the votes at hand say nothing."""
    evidence = subject.certificate.evidence
    if isinstance(evidence, SingleEvidence) and evidence.readings:
        return _single(subject, evidence)
    if isinstance(evidence, TreeEvidence) and any(facts.n for facts in subject.leaves):
        return _cover(subject)
    return ()


def certified_size(subject: Subject) -> float:
    """The part of the region that the votes at hand certify already.

    The scaled regions are nested, so the largest one whose cells all passed holds at the same level
    (THEORY section 4, claim).
    """
    certificate = subject.certificate
    evidence = certificate.evidence
    if subject.prediction is None and not isinstance(evidence, PointEvidence):
        return 0.0
    if isinstance(evidence, SingleEvidence):
        rule = subject.strategy.rule
        assert rule is not None
        return certified_part(rule, evidence.lower_bound, subject.radii)
    if isinstance(evidence, TreeEvidence | GridEvidence):
        blocked = [_nearest(subject, facts) for facts in subject.leaves if facts.state != "passed"]
        return min(1.0, min(blocked, default=1.0) * (1 - 1e-9)) if blocked else 1.0
    return 1.0 if certificate.verdict == "certified" else 0.0


def _nearest(subject: Subject, facts: CellFacts) -> float:
    assert facts.cell is not None
    assert subject.region is not None
    low, high = np.array(facts.cell.low), np.array(facts.cell.high)
    if subject.is_polar:
        return float(low[2] / max(f.cell.high[2] for f in subject.leaves if f.cell is not None))
    return float(subject.region.nearest_gauge(low, high))


def _single(subject: Subject, evidence: SingleEvidence) -> tuple[Promise, ...]:
    rule = subject.strategy.rule
    assert rule is not None
    last = evidence.readings[-1]
    most = max(subject.monitor.sizes[-1], 4 * last.n)
    sizes = np.unique(np.geomspace(64, most, 13).astype(int))
    return tuple(
        Promise(
            float(size),
            _band(
                [single_radius(subject, rule, posterior(last.n, last.n_a, q), int(size)) for q in QUANTILES]
            ),
        )
        for size in sizes
    )


def _cover(subject: Subject) -> tuple[Promise, ...]:
    """Pay for first cells from the identity outwards, each at the price of the nearest cell that has votes."""
    tree = subject.tree
    assert tree is not None
    total, centres, reaches = tree.first_cells(_CELLS)
    half = tree.region.half_widths
    side = half / np.array(tree.units)
    sizes = tree.region.nearest_gauge(centres - side, centres + side)
    order = np.argsort(sizes, kind="stable")
    voted = [facts for facts in subject.leaves if facts.n]
    places = np.array([facts.z for facts in voted]) / half
    nearest = [voted[int(np.argmin(np.sum((places - z / half) ** 2, axis=1)))] for z in centres]
    weight = total / len(centres)
    curves = []
    for q in QUANTILES:
        cost = np.array(
            [
                subject.prices.cell(posterior(f.n, f.n_a, q), float(reach), 0)
                for f, reach in zip(nearest, reaches, strict=True)
            ],
            dtype=np.float64,
        )
        cost[cost > PATIENCE] = math.inf
        curves.append((weight * np.cumsum(cost[order]), sizes[order]))
    finite = [c[np.isfinite(c)] for c, _ in curves]
    most = max([float(c[-1]) for c in finite if len(c)] + [1000.0])
    grid = np.geomspace(64, 2 * most, 25)
    return tuple(Promise(float(votes), _band([_reached(c, s, votes) for c, s in curves])) for votes in grid)


def _reached(paid: np.ndarray, sizes: np.ndarray, votes: float) -> float:
    """The size of the first cell that the votes do not pay for."""
    unpaid = np.flatnonzero(paid > votes)
    return 1.0 if not len(unpaid) else float(sizes[unpaid[0]])


def _band(values: Sequence[float]) -> Band:
    low, middle, high = sorted(values)
    return low, middle, high
