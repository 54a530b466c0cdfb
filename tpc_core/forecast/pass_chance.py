"""How likely more votes are to settle a place, by the votes at hand."""

from __future__ import annotations

from dataclasses import dataclass

from scipy import stats

from tpc_core.case_view import CaseView
from tpc_core.proofs import CellStanding
from tpc_core.statistics import rejects
from tpc_core.votes import BLOCK

_GOOD_CHANCE = 0.8
"""The first size that passes this often is the one that is offered."""


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
    options = view.certificate.question.options
    if cell.state != "open" or cell.kind == "attack" or options.protocol == "paper":
        return ()
    cast = view.ledger.tally(view.stream_of(cell)).n
    found, added = [], BLOCK
    while added <= options.patience:
        counted = round(added * cell.n / cast) if cell.kind == "group" else added
        found.append(PassChance(cast + added, added, _chance(cell, counted)))
        if found[-1].chance > 0.999:
            break
        added *= 2
    return tuple(found)


def best_pass_chance(view: CaseView, cell: CellStanding) -> PassChance | None:
    """The size to go on to: the first with a good chance, else the likeliest; None where there is none."""
    ahead = pass_chances(view, cell)
    good = [size for size in ahead if size.chance >= _GOOD_CHANCE]
    return good[0] if good else max(ahead, key=lambda size: size.chance, default=None)


def _chance(cell: CellStanding, added: int) -> float:
    """How likely the votes reject p_A <= needed once so many more of them count."""
    wanted = _least_count(cell, cell.n + added)
    if wanted is None:
        return 0.0
    missing = wanted - cell.n_a
    if missing <= 0:
        return 1.0
    if missing > added:
        return 0.0
    return float(stats.betabinom.sf(missing - 1, added, cell.n_a + 0.5, cell.n - cell.n_a + 0.5))


def _least_count(cell: CellStanding, size: int) -> int | None:
    """The fewest votes for the class, of so many, that pass."""

    def passes(n_a: int) -> bool:
        return rejects(n_a, size, cell.threshold.q, cell.level, cell.threshold.complement)

    if not passes(size):
        return None
    low, high = 0, size
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high
