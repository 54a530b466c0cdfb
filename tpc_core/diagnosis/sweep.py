"""Is sigma too small or too large? A few votes at a few places, once for each of several sigmas.

The votes have noise of their own: they suggest a sigma, and a certificate for it is a run of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from tpc_core import streams
from tpc_core.certify.single import Rule
from tpc_core.certify.strategy import choose_strategy, with_sigma
from tpc_core.diagnosis.findings import count
from tpc_core.diagnosis.radii import forecast_part
from tpc_core.diagnosis.reopen import check_model, never, voter_of
from tpc_core.diagnosis.subject import PATIENCE, Subject
from tpc_core.errors import UnsupportedRequest
from tpc_core.smoothing import CoverSmoothing, GroupSmoothing, Smoothing
from tpc_core.statistics import lower_bound
from tpc_core.votes import BaseClassifier, Voter

Array = NDArray[np.float64]
Band = tuple[float, float, float]
"""Low, middle, high: the 10 %, 50 % and 90 % points of what the votes leave open."""

FACTORS = (0.5, 0.71, 1.0, 1.41, 2.0)
QUANTILES = (0.1, 0.5, 0.9)
PLACE_VOTES = 128
SINGLE_VOTES = 512
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
    """In edge units, one number for each of the smoothing's own radii."""
    places: tuple[Place, ...]
    radius: Band
    """The radius that could be certified, in parts of the region asked for."""
    votes: float
    """Votes that the whole region is expected to take; infinite where it cannot be certified."""

    @property
    def at_identity(self) -> float:
        return self.places[0].n_a / self.places[0].n

    @property
    def weakest(self) -> float:
        return min(place.n_a / place.n for place in self.places)


def posterior(n: int, n_a: int, quantile: float) -> float:
    """A quantile of Jeffreys' posterior of p_A."""
    return float(stats.beta.ppf(quantile, n_a + 0.5, n - n_a + 0.5))


def sigma_of(smoothing: Smoothing) -> tuple[float, ...]:
    """Sigma in edge units; none for group smoothing."""
    if isinstance(smoothing, GroupSmoothing):
        return ()
    found = smoothing.to_json()["sigma"]
    return (float(found),) if isinstance(found, int | float) else tuple(float(s) for s in found)


def sweep_votes(subject: Subject) -> int:
    """What a sweep costs."""
    if not sigma_of(subject.smoothing):
        return 0
    places = 1 + len(_rays(subject)) * len(_STEPS)
    return len(FACTORS) * (places * PLACE_VOTES if subject.is_cover else SINGLE_VOTES)


def sweep(
    subject: Subject,
    model: BaseClassifier,
    *,
    factors: Sequence[float] = FACTORS,
    cancelled: Callable[[], bool] = never,
) -> Iterator[SigmaLook]:
    """Look at the region with sigma times each factor, one after another."""
    check_model(subject, model)
    own = sigma_of(subject.smoothing)
    if not own:
        raise UnsupportedRequest("group smoothing is uniform: there is no sigma to change")
    for factor in factors:
        sigma = tuple(float(f"{factor * s:.4g}") for s in own)
        smoothing = subject.smoothing if factor == 1.0 else with_sigma(subject.smoothing, sigma)
        voter = voter_of(subject, model, smoothing)
        if subject.is_cover:
            look = _cover_look(subject, voter, factor, sigma, cancelled)
        else:
            look = _single_look(subject, voter, factor, sigma, cancelled)
        if look is None:
            return
        yield look


def best(looks: Sequence[SigmaLook]) -> SigmaLook:
    """The sigma whose radius reaches farthest; among equals, the cheapest, then the nearest to the model's own."""
    return max(looks, key=lambda look: (round(look.radius[1], 2), -look.votes, -abs(math.log(look.factor))))


def judgement(looks: Sequence[SigmaLook]) -> str:
    """Too small, too large, or about right, in one sentence."""
    now = next(look for look in looks if look.factor == 1.0)
    found = best(looks)
    if found.factor == 1.0 or (found.radius[1] <= now.radius[2] and found.votes > 0.5 * now.votes):
        return "Sigma is about right: none of the others would clearly reach farther."
    word = "small" if found.factor > 1 else "large"
    sigma = ", ".join(f"{s:g}" for s in found.sigma)
    if found.radius[1] <= now.radius[2]:
        return (
            f"Sigma is too {word} for this region: sigma {sigma} would reach as far with about "
            f"{count(found.votes)} votes, against {count(now.votes)} with the present one."
        )
    return (
        f"Sigma is too {word} for this region: sigma {sigma} would reach {found.radius[1]:.0%} of the radius asked for "
        f"({found.radius[0]:.0%} to {found.radius[2]:.0%}), against {now.radius[1]:.0%} with the present one."
    )


def _rays(subject: Subject) -> list[Array]:
    """The directions in which the region is weakest: to its worst cells, else to its corners."""
    if not subject.is_cover or subject.region is None:
        return []
    tried = [f for f in subject.leaves if f.n and f.tested and np.any(f.z) and subject.size(f.z) <= 1]
    ends = [f.z / subject.size(f.z) for f in sorted(tried, key=lambda f: -f.shortfall)]
    if subject.certificate.attack is not None:
        z = np.array(subject.certificate.attack.parameter)
        ends.insert(0, z / max(subject.size(z), 1e-12))
    return [*ends, *subject.region.extremes()][:_RAYS]


def _vote(subject: Subject, voter: Voter, z: Array | None, votes: int, size: float) -> Place:
    points = subject.cloud.points if z is None else subject.at(z)
    # The same noise at every place and for every sigma: differences are the places' and the sigmas'.
    counts = voter.count(points, streams.diagnosis("sweep"), 0, votes)
    return Place(() if z is None else tuple(float(v) for v in z), size, votes, int(counts[subject.target]))


def _cover_look(
    subject: Subject, voter: Voter, factor: float, sigma: tuple[float, ...], cancelled: Callable[[], bool]
) -> SigmaLook | None:
    assert subject.region is not None
    identity = np.zeros(subject.region.dim)
    places = [_vote(subject, voter, identity, PLACE_VOTES, 0.0)]
    rays: list[list[Place]] = []
    for end in _rays(subject):
        ray = [places[0]]
        for step in _STEPS:
            if cancelled():
                return None
            ray.append(_vote(subject, voter, step * end, PLACE_VOTES, step))
        rays.append(ray)
        places += ray[1:]
    radius = tuple(min(_crossing(ray, q, _critical(subject)) for ray in rays) for q in QUANTILES)
    assert isinstance(voter.smoothing, CoverSmoothing)
    return SigmaLook(factor, sigma, tuple(places), radius, _region_votes(subject, voter.smoothing, places))  # type: ignore[arg-type]


def _critical(subject: Subject) -> float:
    """The smallest p_A at which cells, however small, can still be paid for."""
    prices = subject.prices
    low, high = 0.5, 1.0 - 1e-6
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (low, middle) if prices.cell(middle, 1.4, 0) <= PATIENCE else (middle, high)
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


def _region_votes(subject: Subject, smoothing: CoverSmoothing, places: Sequence[Place]) -> float:
    assert subject.region is not None
    half = subject.region.half_widths
    known = np.array([place.z for place in places]) / half

    def guess(z: Array) -> float:
        nearest = places[int(np.argmin(np.sum((known - z / half) ** 2, axis=1)))]
        return (nearest.n_a + 0.5) / (nearest.n + 1)

    return subject.planned_votes(smoothing, guess)


def _single_look(
    subject: Subject, voter: Voter, factor: float, sigma: tuple[float, ...], cancelled: Callable[[], bool]
) -> SigmaLook | None:
    if cancelled():
        return None
    place = _vote(subject, voter, None, SINGLE_VOTES, 0.0)
    rule = choose_strategy(subject.transform, voter.smoothing, subject.cloud).rule
    assert rule is not None
    size = subject.monitor.sizes[-1]
    radius = tuple(single_radius(subject, rule, place.p_a(q), size) for q in QUANTILES)
    enough = radius[1] > 1 or (subject.certificate.claim.largest and radius[1] > 0)
    return SigmaLook(factor, sigma, (place,), radius, float(size) if enough else math.inf)  # type: ignore[arg-type]


def single_radius(subject: Subject, rule: Rule, p_a: float, votes: int) -> float:
    """The radius, in parts of the one asked for, that a sample of this size would certify if p_A is this large."""
    level = subject.monitor.level(len(subject.monitor.sizes) - 1, subject.certificate.alpha)
    bound = lower_bound(math.floor(p_a * votes), votes, level)
    return forecast_part(rule, bound, subject.radii)
