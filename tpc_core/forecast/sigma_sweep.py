"""Is sigma too small or too large? A few votes at a few places, once for each of several sigmas.

The votes have noise of their own: they suggest a sigma, and a certificate for it is a run of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tpc_core.case_view import CaseView, shortfall
from tpc_core.certify.whole import LARGEST_SAMPLES
from tpc_core.covers import Prices
from tpc_core.covers.lattice import MOST_FIRST_CELLS
from tpc_core.errors import UnsupportedRequest
from tpc_core.forecast.nearby import QUANTILES, Band, band, between, middle, posterior
from tpc_core.forecast.radius_forecast import sample_radius
from tpc_core.forecast.remaining_cost import cover_cost
from tpc_core.ledger import look_stream
from tpc_core.proofs import CoverProof
from tpc_core.smoothing import OneProbability
from tpc_core.votes import BaseClassifier, Voter

Array = NDArray[np.float64]

FACTORS = (0.5, 0.71, 1.0, 1.41, 2.0)
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
class SigmaLook:
    """What one sigma would give."""

    factor: float
    sigma: tuple[float, ...]
    """In edge units, one number for each of the smoothing's own sigmas."""
    places: tuple[Place, ...]
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

    @property
    def words(self) -> str:
        """The sigmas as people write them."""
        return ", ".join(f"{s:g}" for s in self.sigma)


def sweep_votes(view: CaseView) -> int:
    """What a sweep costs; 0 where there is nothing to sweep."""
    if not view.smoothing.sigmas or view.proof.kind == "points":
        return 0
    places = 1 + len(_rays(view)) * len(_STEPS)
    return len(FACTORS) * (places * PLACE_VOTES if view.is_cover else WHOLE_VOTES)


def sweep_sigmas(
    view: CaseView,
    model: BaseClassifier,
    *,
    factors: Sequence[float] = FACTORS,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[SigmaLook]:
    """Look at the region with all sigmas times each factor, one after another."""
    view.check_model(model)
    own = tuple(view.smoothing.sigmas.values())
    if not own:
        raise UnsupportedRequest("group smoothing is uniform: there is no sigma to change")
    if view.proof.kind == "points":
        raise UnsupportedRequest(
            "a sweep follows the class of a cloud; part segmentation has one for each point"
        )
    for factor in factors:
        sigma = own if factor == 1.0 else tuple(float(f"{factor * s:.4g}") for s in own)
        voter = view.voter(model, view.smoothing.with_sigmas(sigma))
        look = (_look_at_cells if view.is_cover else _look_at_whole)(view, voter, factor, sigma, cancelled)
        if look is None:
            return
        yield look


def best_sigma(looks: Sequence[SigmaLook]) -> SigmaLook:
    """The sigma whose radius reaches farthest; among equals, the cheapest, then the nearest to the model's own."""
    return max(looks, key=lambda look: (round(look.radius[1], 2), -look.votes, -abs(math.log(look.factor))))


def sweep_judgement(looks: Sequence[SigmaLook]) -> str:
    """Too small, too large, or about right, in one sentence."""
    now = next(look for look in looks if look.factor == 1.0)
    found = best_sigma(looks)
    if found.factor == 1.0 or (found.radius[1] <= now.radius[2] and found.votes > 0.5 * now.votes):
        return "Sigma is about right: none of the others would clearly reach farther."
    word = "small" if found.factor > 1 else "large"
    if found.radius[1] <= now.radius[2]:
        present = f"{now.votes:,.0f}" if math.isfinite(now.votes) else "no number of them"
        return (
            f"Sigma is too {word} for this region: sigma {found.words} would reach as far with about "
            f"{found.votes:,.0f} votes, against {present} with the present one."
        )
    return (
        f"Sigma is too {word} for this region: sigma {found.words} would reach {found.radius[1]:.0%} of the radius "
        f"asked for ({found.radius[0]:.0%} to {found.radius[2]:.0%}), against {now.radius[1]:.0%} with the present one."
    )


def _rays(view: CaseView) -> list[Array]:
    """The directions in which the region is weakest: to its worst cells, else to its corners."""
    if not view.is_cover or view.region is None:
        return []
    tried = [c for c in view.leaves if c.n and c.tested and np.any(c.z) and view.size(c.z) <= 1]
    ends = [c.z / view.size(c.z) for c in sorted(tried, key=lambda c: -shortfall(c))]
    if view.attack is not None:
        z = np.array(view.attack.parameter)
        ends.insert(0, z / max(view.size(z), 1e-12))
    return [*ends, *view.region.extremes()][:_RAYS]


def _vote(view: CaseView, voter: Voter, z: Array | None, votes: int, size: float) -> Place:
    points = view.cloud.points if z is None else view.at(z)
    # The same noise at every place and for every sigma: differences are the places' and the sigmas'.
    counts = voter.count(points, look_stream("sweep"), 0, votes)
    return Place(() if z is None else tuple(float(v) for v in z), size, votes, int(counts[view.target]))


def _look_at_cells(
    view: CaseView, voter: Voter, factor: float, sigma: tuple[float, ...], cancelled: Callable[[], bool]
) -> SigmaLook | None:
    assert view.region is not None
    places = [_vote(view, voter, np.zeros(view.region.dim), PLACE_VOTES, 0.0)]
    rays: list[list[Place]] = []
    for end in _rays(view):
        ray = [places[0]]
        for step in _STEPS:
            if cancelled():
                return None
            ray.append(_vote(view, voter, step * end, PLACE_VOTES, step))
        rays.append(ray)
        places += ray[1:]
    cover = CoverProof(replace(view.claim, smoothing=voter.smoothing, protocol="adaptive", resolution=None))
    critical = _critical(cover, view.certificate.question.options.patience)
    radius = band([min(_crossing(ray, q, critical) for ray in rays) for q in QUANTILES])
    return SigmaLook(factor, sigma, tuple(places), radius, _region_votes(view, cover, places))


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


def _region_votes(view: CaseView, cover: CoverProof, places: Sequence[Place]) -> float:
    """Votes that the whole region is expected to take, if p_A is as it is at the nearest place."""
    if cover.lattice.count_first_cells(cover.region) > MOST_FIRST_CELLS:
        return math.inf
    known = np.array([place.z for place in places])
    values = np.array([middle(place.n, place.n_a) for place in places])
    cells = cover.first_cells
    looks = between(known, values, cover.region.half_widths)(np.array([cell.centre for cell in cells]))
    return cover_cost(cover, looks, cells, view.certificate.question.options.patience)


def _look_at_whole(
    view: CaseView, voter: Voter, factor: float, sigma: tuple[float, ...], cancelled: Callable[[], bool]
) -> SigmaLook | None:
    if cancelled():
        return None
    place = _vote(view, voter, None, WHOLE_VOTES, 0.0)
    claim = replace(view.claim, smoothing=voter.smoothing)
    assert isinstance(claim.rule, OneProbability)
    size = LARGEST_SAMPLES
    radius = band(
        [
            sample_radius(claim.rule, view.radii, claim.alpha, size, int(place.p_a(q) * size))
            for q in QUANTILES
        ]
    )
    enough = radius[1] >= 1 or (view.certificate.question.options.largest and radius[1] > 0)
    return SigmaLook(factor, sigma, (place,), radius, float(size) if enough else math.inf)
