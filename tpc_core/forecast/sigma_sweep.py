"""Is sigma too small or too large? A few votes at a few places, once for each of several sigmas.

The votes have noise of their own: they suggest a sigma, and a certificate for it is a run of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from tpc_core.case_view import CaseView
from tpc_core.errors import UnsupportedRequest
from tpc_core.forecast.region_look import RegionLook, look_at_region, look_votes, weakest_rays
from tpc_core.votes import BaseClassifier

FACTORS = (0.5, 0.71, 1.0, 1.41, 2.0)


@dataclass(frozen=True)
class SigmaLook(RegionLook):
    """What one sigma would give."""

    factor: float
    sigma: tuple[float, ...]
    """In edge units, one number for each of the smoothing's own sigmas."""

    @property
    def words(self) -> str:
        """The sigmas as people write them."""
        return ", ".join(f"{s:g}" for s in self.sigma)


def sweep_votes(view: CaseView) -> int:
    """What a sweep costs; 0 where there is nothing to sweep."""
    if not view.smoothing.sigmas or view.proof.kind == "points":
        return 0
    return len(FACTORS) * look_votes(view.claim, weakest_rays(view))


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
        claim = replace(view.claim, smoothing=voter.smoothing, protocol="adaptive", resolution=None)
        options = view.certificate.question.options
        look = look_at_region(claim, voter, view.target, weakest_rays(view), options, cancelled=cancelled)
        if look is None:
            return
        yield SigmaLook(look.places, look.radius, look.votes, factor, sigma)


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
        present = f"needs {now.votes:,.0f}" if math.isfinite(now.votes) else "cannot reach it with any number"
        return (
            f"Sigma is too {word} for this region: sigma {found.words} would reach as far with about "
            f"{found.votes:,.0f} votes; the present sigma {present}."
        )
    return (
        f"Sigma is too {word} for this region: sigma {found.words} would reach {found.radius[1]:.0%} of the radius "
        f"asked for ({found.radius[0]:.0%} to {found.radius[2]:.0%}), against {now.radius[1]:.0%} with the present one."
    )
