"""A look at a region: a few votes at a few places say about how far a certificate would reach, and what it would cost.

The votes have noise of their own. They suggest what to ask next, and prove nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tpc_core.case_view import CaseView, shortfall
from tpc_core.certify.whole import LARGEST_SAMPLES
from tpc_core.covers import Prices
from tpc_core.covers.lattice import MOST_FIRST_CELLS
from tpc_core.forecast.nearby import QUANTILES, Band, band, between, middle, posterior
from tpc_core.forecast.radius_forecast import sample_radius
from tpc_core.forecast.remaining_cost import cover_cost
from tpc_core.ledger import look_stream
from tpc_core.proofs import Claim, CoverProof
from tpc_core.question import Options
from tpc_core.smoothing import Cover, OneProbability
from tpc_core.votes import Voter

Array = NDArray[np.float64]

PLACE_VOTES = 128
WHOLE_VOTES = 512
_RAYS = 3
_STEPS = (1 / 3, 2 / 3, 1.0)


@dataclass(frozen=True)
class Place:
    """Votes at one parameter, of the given size in parts of the region."""

    z: tuple[float, ...]
    size: float
    n: int
    n_a: int

    def p_a(self, quantile: float) -> float:
        """A quantile of p_A by Jeffreys' posterior."""
        return posterior(self.n, self.n_a, quantile)


@dataclass(frozen=True)
class RegionLook:
    """What a certificate of this region is expected to come to."""

    places: tuple[Place, ...]
    """The first is the object itself."""
    radius: Band
    """The radius that could be certified, in parts of the region."""
    votes: float
    """Votes that the whole region is expected to take; infinite where it cannot be certified."""

    @property
    def at_identity(self) -> float:
        return self.places[0].n_a / self.places[0].n

    @property
    def weakest(self) -> float:
        return min(place.n_a / place.n for place in self.places)


def weakest_rays(view: CaseView) -> tuple[Array, ...]:
    """The directions in which a region is weakest: to its worst cells, else to its corners."""
    if view.region is None:
        return ()
    tried = [c for c in view.leaves if c.n and c.tested and np.any(c.z) and view.size(c.z) <= 1]
    ends = [c.z / view.size(c.z) for c in sorted(tried, key=lambda c: -shortfall(c))]
    if view.attack is not None:
        z = np.array(view.attack.parameter)
        ends.insert(0, z / max(view.size(z), 1e-12))
    return (*ends, *view.region.extremes())[:_RAYS]


def look_votes(claim: Claim, rays: Sequence[Array]) -> int:
    """What one look costs."""
    return (1 + len(rays) * len(_STEPS)) * PLACE_VOTES if isinstance(claim.rule, Cover) else WHOLE_VOTES


def look_at_region(
    claim: Claim,
    voter: Voter,
    target: int,
    rays: Sequence[Array],
    options: Options,
    *,
    cancelled: Callable[[], bool] = lambda: False,
) -> RegionLook | None:
    """Vote for the class `target` at a few places; None where it was stopped."""
    look = _look_at_cells if isinstance(claim.rule, Cover) else _look_at_whole
    return None if cancelled() else look(claim, voter, target, rays, options, cancelled)


def _vote(claim: Claim, voter: Voter, target: int, z: Array | None, votes: int, size: float) -> Place:
    points = claim.cloud.points if z is None else claim.at(z)
    # The same noise at every place and for every voter: differences are the places' and the voters'.
    counts = voter.count(points, look_stream("sweep"), 0, votes)
    return Place(() if z is None else tuple(float(v) for v in z), size, votes, int(counts[target]))


def _look_at_cells(
    claim: Claim,
    voter: Voter,
    target: int,
    ends: Sequence[Array],
    options: Options,
    cancelled: Callable[[], bool],
) -> RegionLook | None:
    cover = CoverProof(claim)
    places = [_vote(claim, voter, target, np.zeros(cover.region.dim), PLACE_VOTES, 0.0)]
    rays: list[list[Place]] = []
    for end in ends:
        ray = [places[0]]
        for step in _STEPS:
            if cancelled():
                return None
            ray.append(_vote(claim, voter, target, step * end, PLACE_VOTES, step))
        rays.append(ray)
        places += ray[1:]
    critical = _critical(cover, options.patience)
    radius = band([min(_crossing(ray, q, critical) for ray in rays) for q in QUANTILES])
    return RegionLook(tuple(places), radius, _region_votes(cover, places, options.patience))


def _critical(cover: CoverProof, patience: int) -> float:
    """The smallest p_A at which cells, however small, can still be paid for."""
    prices = Prices(cover.alpha, cover.region.dim)
    low, high = 0.5, 1.0 - 1e-6
    for _ in range(12):
        p_a = (low + high) / 2
        low, high = (low, p_a) if prices.cell(p_a, 1.4, 0) <= patience else (p_a, high)
    return high


def _crossing(ray: Sequence[Place], quantile: float, critical: float) -> float:
    """How far along a ray p_A stays above what can be paid for; read between places on the scale of sigmas."""
    wanted = float(special.ndtri(critical))
    before: tuple[float, float] | None = None
    for place in ray:
        height = float(special.ndtri(min(max(place.p_a(quantile), 1e-6), 1 - 1e-6))) - wanted
        if height <= 0:
            if before is None:
                return 0.0
            return before[0] + (place.size - before[0]) * before[1] / (before[1] - height)
        before = (place.size, height)
    return 1.0


def _region_votes(cover: CoverProof, places: Sequence[Place], patience: float) -> float:
    """Votes that the whole region is expected to take, if p_A is as it is at the nearest place."""
    if cover.lattice.count_first_cells(cover.region) > MOST_FIRST_CELLS:
        return math.inf
    known = np.array([place.z for place in places])
    values = np.array([middle(place.n, place.n_a) for place in places])
    cells = cover.first_cells
    looks = between(known, values, cover.region.half_widths)(np.array([cell.centre for cell in cells]))
    return cover_cost(cover, looks, cells, patience)


def _look_at_whole(
    claim: Claim,
    voter: Voter,
    target: int,
    _ends: Sequence[Array],
    options: Options,
    _cancelled: Callable[[], bool],
) -> RegionLook:
    place = _vote(claim, voter, target, None, WHOLE_VOTES, 0.0)
    if not isinstance(claim.rule, OneProbability):  # a top class is one under the whole group
        leads = [float(place.p_a(q) > 0.5) for q in QUANTILES]
        return RegionLook((place,), band(leads), float(WHOLE_VOTES) if leads[1] else math.inf)
    rule, size = claim.rule, LARGEST_SAMPLES
    radii = [sample_radius(rule, claim.radii, claim.alpha, size, int(place.p_a(q) * size)) for q in QUANTILES]
    radius = band(radii)
    enough = radius[1] >= 1 or (options.largest and radius[1] > 0)
    return RegionLook((place,), radius, float(size) if enough else math.inf)
