"""What is left to do: how many votes the open and untested places are expected to take, and which are beyond hope."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tpc_core.case_view import CaseView
from tpc_core.certify.estimate import planned_cover_votes
from tpc_core.certify.whole import planned_votes as planned_whole_votes
from tpc_core.covers import Cell, Prices
from tpc_core.covers.lattice import MOST_FIRST_CELLS, cell_level
from tpc_core.covers.paper import SAMPLES, SINGLE_SAMPLES
from tpc_core.forecast.nearby import Reading, looks_like, middle
from tpc_core.forecast.pass_chance import least_count
from tpc_core.proofs import CellStanding, CoverProof
from tpc_core.smoothing import Threshold
from tpc_core.statistics import expected_votes
from tpc_core.votes import BLOCK

Array = NDArray[np.float64]

_FIRST_BLOCKS = 16
"""Blocks within which chance decides much: a cell that is expected to take more is close to its mean."""
_RARE = 1e-3


@dataclass(frozen=True)
class RemainingCost:
    """The votes that some places are still expected to take."""

    votes: float
    """For all places that can be paid for."""
    cells: int
    """How many those are."""
    hopeless: int
    """Places that would cost more than anyone waits for, if p_A is as it looks."""


def remaining_cost(view: CaseView, cells: Sequence[CellStanding] | None = None) -> RemainingCost:
    """What open and untested places (all of them by default) are expected to take, if p_A is as it is nearby."""
    if view.ledger.chosen is None:
        return RemainingCost(_from_the_start(view), 1, 0)
    chosen = [c for c in view.leaves if c.state != "passed"] if cells is None else list(cells)
    costs = place_costs(view, chosen)
    patience = view.certificate.question.options.patience
    payable = costs[costs <= patience]
    # The votes at the cloud itself are shared by all points of a segmentation.
    total = payable.max(initial=0.0) if view.proof.kind == "points" else payable.sum()
    return RemainingCost(float(total), len(payable), len(costs) - len(payable))


def place_costs(view: CaseView, cells: Sequence[CellStanding], reading: Reading = middle) -> Array:
    """The votes (M,) that each place is still expected to take; infinite where it never would pass."""
    cover = view.cover
    if cover is None:
        return np.array([_cost_of_sample(view, cell, reading) for cell in cells], dtype=np.float64)
    if not cells:
        return np.zeros(0)
    prices, p_a = Prices(cover.alpha, cover.region.dim), looks_like(view, reading)
    pairs = zip(cells, p_a(np.array([cell.z for cell in cells])).tolist(), strict=True)
    return np.array([_cost_of_cell(cover, prices, cell, p, p_a) for cell, p in pairs], dtype=np.float64)


def cover_cost(cover: CoverProof, looks: Array, cells: Sequence[Cell], patience: float) -> float:
    """Votes that fresh cells take if p_A is as it looks at each of them; infinite where one is beyond hope."""
    prices = Prices(cover.alpha, cover.region.dim)
    costs = [_fresh(prices, float(p), min(c.reach, 10.0), c.depth) for c, p in zip(cells, looks, strict=True)]
    return math.inf if max(costs, default=0.0) > patience else float(sum(costs))


def untested_share(view: CaseView) -> float:
    """The part of the region's volume in which no vote was cast."""
    volumes = {c.path: c.cell.volume for c in view.leaves if c.cell is not None}
    return sum(volumes[c.path] for c in view.untested) / (sum(volumes.values()) or 1.0)


def _cost_of_cell(
    cover: CoverProof, prices: Prices, cell: CellStanding, own: float, p_a: Callable[[Array], Array]
) -> float:
    """More votes in a cell, or its halves that meet the region, whichever is cheaper."""
    box = cell.cell
    assert box is not None
    if not cell.n:
        return _fresh(prices, own, min(box.reach, 10.0), box.depth)
    stay = max(prices.stay(own, box.reach, box.depth) - cell.n, BLOCK)
    halves = cover.lattice.children(box, cover.region)
    if stay == BLOCK or not halves:
        return stay
    looks = p_a(np.array([half.centre for half in halves])).tolist()
    pairs = zip(halves, looks, strict=True)
    return min(stay, sum(_fresh(prices, p, min(half.reach, 10.0), half.depth) for half, p in pairs))


def _fresh(prices: Prices, p_a: float, reach: float, depth: int) -> float:
    """The votes of a cell without any: the mean over what its first blocks may show, where it is tested as it is."""
    whole, stay = prices.cell(p_a, reach, depth), prices.stay(p_a, reach, depth)
    if whole < stay or stay > _FIRST_BLOCKS * BLOCK:
        return whole
    return _mean_votes(_height(p_a), Threshold.at(round(reach, 2)), cell_level(prices.alpha, depth))


def sample_cost(p_a: float, threshold: Threshold, alpha: float) -> float:
    """The votes of one sample without any yet, if p_A is as it looks; infinite where it would never pass."""
    expected = expected_votes(float(f"{p_a:.4g}"), threshold.q, alpha, BLOCK)
    return expected if expected > _FIRST_BLOCKS * BLOCK else _mean_votes(_height(p_a), threshold, alpha)


def _height(p_a: float) -> float:
    """p_A on the scale of sigmas, rounded, so that alike places are computed once."""
    return round(float(special.ndtri(min(p_a, 1 - 1e-6))), 1)


@lru_cache(maxsize=1 << 14)
def _mean_votes(height: float, threshold: Threshold, alpha: float) -> float:
    """About how many votes the test takes on average: a block for each reading at which it has not passed."""
    p_a = float(special.ndtr(height))
    votes = float(BLOCK)
    for size in range(BLOCK, 2 * _FIRST_BLOCKS * BLOCK, BLOCK):
        least = least_count(size, threshold, alpha)
        missed = 1.0 if least is None else float(special.bdtr(least - 1, size, p_a))
        if missed < _RARE:
            break
        votes += BLOCK * missed
    return votes


def _cost_of_sample(view: CaseView, cell: CellStanding, reading: Reading) -> float:
    """One probability, a top class, a point, or a cell of the paper's grid, whose sample has one size."""
    if view.certificate.question.options.protocol == "paper":
        size = SAMPLES if cell.kind == "cell" else SINGLE_SAMPLES
        return float(size - cell.n) if cell.n < size else math.inf
    if not cell.n:
        return planned_whole_votes(cell.threshold, cell.level)
    wanted = expected_votes(float(f"{reading(cell.n, cell.n_a):.6g}"), cell.needed, cell.level, BLOCK)
    # The test of a top class counts the votes for the first two classes only.
    cast = view.ledger.tally(view.stream_of(cell)).n
    return max(wanted - cell.n, BLOCK) * cast / cell.n


def _from_the_start(view: CaseView) -> float:
    """The whole run, as it is estimated before the first vote."""
    cover = view.cover
    if view.proof.kind == "grid":
        return math.inf
    if cover is None:
        return planned_whole_votes(view.claim.threshold, view.claim.alpha)
    count = cover.lattice.count_first_cells(cover.region)
    if count > MOST_FIRST_CELLS:
        return math.inf
    return planned_cover_votes(cover, Prices(cover.alpha, cover.region.dim), count)
