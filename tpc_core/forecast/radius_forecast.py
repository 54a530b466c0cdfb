"""The radius that more votes promise, from where the votes are, with what they leave open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tpc_core.case_view import CaseView
from tpc_core.certify.whole import LARGEST_SAMPLES
from tpc_core.forecast.nearby import QUANTILES, Band, band, posterior
from tpc_core.forecast.remaining_cost import place_costs
from tpc_core.proofs import CellStanding
from tpc_core.smoothing import OneProbability
from tpc_core.statistics import lower_confidence_bound
from tpc_core.votes import BLOCK

Array = NDArray[np.float64]

_STEPS = 24


@dataclass(frozen=True)
class RadiusForecast:
    """With this many votes in all, about this radius (in parts of the region looked at)."""

    votes: float
    radius: Band


def radius_by_votes(view: CaseView) -> tuple[RadiusForecast, ...]:
    """The certified radius against the number of votes, from now on; empty where the votes at hand say nothing."""
    rule = view.claim.rule
    if view.cover is not None and any(cell.n for cell in view.leaves):
        return _cover(view)
    if view.proof.kind == "single" and isinstance(rule, OneProbability) and view.leaves and view.leaves[0].n:
        return _one_probability(view, rule, view.leaves[0])
    return ()


def radius_part(rule: OneProbability, p_a: float, radii: Sequence[float]) -> float:
    """The part of some radii that a bound of p_A certifies; it may be more than all of them."""
    found = rule.largest(p_a, tuple(radii))
    return max(min(r / asked for r, asked in zip(found, radii, strict=True)), 0.0)


def sample_radius(rule: OneProbability, radii: Sequence[float], alpha: float, n: int, n_a: int) -> float:
    """The part of some radii that votes (n, n_A) certify, read once at their end."""
    return radius_part(rule, lower_confidence_bound(n_a, n, alpha), radii)


def _one_probability(view: CaseView, rule: OneProbability, cell: CellStanding) -> tuple[RadiusForecast, ...]:
    """The votes so far, and those to come at a rate that they leave open."""
    most = max(LARGEST_SAMPLES, 8 * cell.n)
    now, least = view.certificate.samples, view.certified_part
    found = [RadiusForecast(float(now), (least, least, least))]
    for size in np.unique(np.geomspace(cell.n + BLOCK, most, _STEPS // 2).astype(int)):
        counts = [cell.n_a + int(posterior(cell.n, cell.n_a, q) * (size - cell.n)) for q in QUANTILES]
        radii = [sample_radius(rule, view.radii, view.claim.alpha, int(size), k) for k in counts]
        found.append(RadiusForecast(float(now + size - cell.n), band(radii)))
    return _never_falling(found)


def _cover(view: CaseView) -> tuple[RadiusForecast, ...]:
    """Pay for the cells that have not passed, from the identity outwards."""
    cover = view.cover
    assert cover is not None
    waiting = [cell for cell in view.leaves if cell.state != "passed"]
    boxes = [cell.cell for cell in waiting if cell.cell is not None]
    low = np.array([box.low for box in boxes]).reshape(-1, cover.region.dim)
    high = np.array([box.high for box in boxes]).reshape(-1, cover.region.dim)
    sizes = np.minimum(cover.region.nearest_gauge(low, high), 1.0)
    order = np.argsort(sizes, kind="stable")
    patience = view.certificate.question.options.patience
    curves = []
    for q in QUANTILES:
        costs = place_costs(view, waiting, partial(posterior, quantile=q))[order]
        costs[costs > patience] = np.inf
        curves.append((np.cumsum(costs), sizes[order]))
    ends = [float(paid[np.isfinite(paid)].max(initial=0.0)) for paid, _ in curves]
    now, most = view.certificate.samples, max(*ends, 1000.0)
    least = view.certified_part
    found = [RadiusForecast(float(now), (least, least, least))]
    for extra in np.geomspace(32, 2 * most, _STEPS):
        radii = [max(least, _reached(paid, reached, extra)) for paid, reached in curves]
        found.append(RadiusForecast(float(now + extra), band(radii)))
    return _never_falling(found)


def _reached(paid: Array, sizes: Array, votes: float) -> float:
    """The size of the first cell that the votes do not pay for."""
    unpaid = np.flatnonzero(paid > votes)
    return 1.0 if not len(unpaid) else float(sizes[unpaid[0]])


def _never_falling(found: Sequence[RadiusForecast]) -> tuple[RadiusForecast, ...]:
    """A radius that is certified stays so: each band is at least the one before."""
    highest = np.maximum.accumulate(np.array([forecast.radius for forecast in found]), axis=0)
    return tuple(
        RadiusForecast(forecast.votes, band(row.tolist()))
        for forecast, row in zip(found, highest, strict=True)
    )
