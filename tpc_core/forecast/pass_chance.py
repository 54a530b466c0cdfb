"""How likely more votes are to settle a place, by the votes at hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special

from tpc_core.case_view import CaseView
from tpc_core.proofs import CellStanding
from tpc_core.smoothing import Threshold
from tpc_core.statistics import rejects
from tpc_core.votes import BLOCK

_GOOD_CHANCE = 0.8
"""The first size that passes this often is the one that is offered."""

_SURE = 0.999


_POSTERIOR = (np.arange(256) + 0.5) / 256
"""Quantiles of the posterior over which the chance is averaged: the exact sum has as many terms as there are votes."""


@dataclass(frozen=True)
class PassChance:
    """A number of votes at a place, and how likely it is to have passed by then."""

    size: int
    votes: int
    """Votes still to cast."""
    chance: float


def pass_chances(view: CaseView, cell: CellStanding) -> tuple[PassChance, ...]:
    """Some sizes ahead, each with its chance by the votes at hand; none for a fixed sample, or where it passed.

    What p_A is given those votes is taken from Jeffreys' posterior, and the new votes are drawn from it. The test may
    pass earlier, too, so the true chance is a little larger.
    """
    return tuple(_ahead(view, cell))


def best_pass_chance(view: CaseView, cell: CellStanding) -> PassChance | None:
    """The size to go on to: the first with a good chance, else the likeliest; None where there is none."""
    likeliest: PassChance | None = None
    for size in _ahead(view, cell):
        if size.chance >= _GOOD_CHANCE:
            return size
        if likeliest is None or size.chance > likeliest.chance:
            likeliest = size
    return likeliest


def _ahead(view: CaseView, cell: CellStanding) -> Iterator[PassChance]:
    """Ever larger sizes, up to the one that is all but sure to do, or to what anyone would wait for."""
    options = view.certificate.question.options
    if cell.state != "open" or cell.kind == "attack" or options.protocol == "paper":
        return
    cast = view.ledger.tally(view.stream_of(cell)).n
    added, chance = BLOCK, 0.0
    while added <= options.patience and chance < _SURE:
        counted = round(
            added * cell.n / cast
        )  # the test of a top class counts the votes for two classes only
        chance = _chance(cell.n, cell.n_a, counted, cell.threshold, cell.level)
        yield PassChance(cast + added, added, chance)
        added *= 2


@lru_cache(maxsize=8192)
def _chance(n: int, n_a: int, added: int, threshold: Threshold, level: float) -> float:
    """How likely the votes reject p_A <= q once so many more of them count."""
    wanted = least_count(n + added, threshold, level)
    if wanted is None or wanted - n_a > added:
        return 0.0
    if wanted <= n_a:
        return 1.0
    p_a = special.betaincinv(n_a + 0.5, n - n_a + 0.5, _POSTERIOR)
    return float(np.mean(special.bdtrc(wanted - n_a - 1, added, p_a)))


def least_count(size: int, threshold: Threshold, level: float) -> int | None:
    """The fewest votes for the class, of so many, that pass."""

    def passes(n_a: int) -> bool:
        return rejects(n_a, size, threshold.q, level, threshold.complement)

    if not passes(size):
        return None
    low, high = 0, size
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high
