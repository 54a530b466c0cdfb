"""How likely more votes are to settle a cell: the stages reserved beforehand, and the votes at hand."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import special, stats

from tpc_core.certificate.schema import GroupEvidence
from tpc_core.diagnosis.cells import CellFacts
from tpc_core.diagnosis.subject import Subject

_GOOD_CHANCE = 0.8
"""The first stage that succeeds this often is the one that is offered."""


@dataclass(frozen=True)
class Stage:
    """A sample size at which the bound may be read next, and how likely it is to pass there."""

    size: int
    votes: int
    """Votes still to cast."""
    chance: float


def stages_ahead(subject: Subject, facts: CellFacts) -> tuple[Stage, ...]:
    """The readings that are still reserved for a cell, each with its chance by the votes at hand.

    What p_A is given those votes is taken from Jeffreys' posterior, and the new votes are drawn from it.
    """
    if facts.kind not in ("cell", "single", "group") or subject.certificate.protocol == "paper":
        return ()
    if facts.state in ("passed", "refined"):
        return ()
    sizes = enumerate(subject.monitor.sizes)
    return tuple(
        Stage(size, size - facts.n, _chance(subject, facts, stage, size))
        for stage, size in sizes
        if size > facts.n
    )


def best_stage(subject: Subject, facts: CellFacts) -> Stage | None:
    """The stage to go on to: the first with a good chance, else the likeliest; None where none is left."""
    ahead = stages_ahead(subject, facts)
    good = [stage for stage in ahead if stage.chance >= _GOOD_CHANCE]
    return good[0] if good else max(ahead, key=lambda stage: stage.chance, default=None)


def _chance(subject: Subject, facts: CellFacts, stage: int, size: int) -> float:
    if facts.kind == "group":
        return _group_chance(subject, facts, stage, size)
    wanted = _least_count(subject, facts, stage, size)
    if wanted is None:
        return 0.0
    missing, left = wanted - facts.n_a, size - facts.n
    if missing <= 0:
        return 1.0
    if missing > left:
        return 0.0
    return float(stats.betabinom.sf(missing - 1, left, facts.n_a + 0.5, facts.n - facts.n_a + 0.5))


def cell_level(subject: Subject, facts: CellFacts) -> float:
    """The level that all readings of a cell share."""
    alpha = subject.certificate.alpha
    return subject.levels.level(facts.cell.rank, alpha) if facts.cell is not None else alpha


def _least_count(subject: Subject, facts: CellFacts, stage: int, size: int) -> int | None:
    """The fewest votes for the class that pass at a stage."""
    level = cell_level(subject, facts)

    def passes(n_a: int) -> bool:
        return subject.monitor.bound(n_a, stage, level) > facts.needed

    if not passes(size):
        return None
    low, high = 0, size
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high


def _group_chance(subject: Subject, facts: CellFacts, stage: int, size: int) -> float:
    """Top-class test: among the votes for the first two classes, the first must lead by enough."""
    evidence, prediction = subject.certificate.evidence, subject.prediction
    assert isinstance(evidence, GroupEvidence)
    assert prediction is not None
    if not evidence.stages:
        return 0.5
    votes = evidence.stages[-1]
    rival = max((v for name, v in votes.items() if name != prediction.name), default=0)
    first, pool = facts.n_a, facts.n_a + rival
    future = round(pool * size / facts.n) - pool
    level = subject.monitor.level(stage, subject.certificate.alpha)
    lead = math.ceil((pool + future) / 2 + float(special.ndtri(1 - level)) * math.sqrt(pool + future) / 2)
    if lead - first > future:
        return 0.0
    return float(stats.betabinom.sf(lead - first - 1, future, first + 0.5, rival + 0.5))
