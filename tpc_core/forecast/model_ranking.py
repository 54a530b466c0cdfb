"""Which model would do better? Each looks at the same region; those that are right and reach farthest come first.

A look has noise of its own, and the certificate that follows is a run of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tpc_core.case_view import CaseView
from tpc_core.cloud import Cloud
from tpc_core.errors import TpcError
from tpc_core.forecast.region_look import RegionLook, look_at_region, weakest_rays
from tpc_core.ledger import look_stream
from tpc_core.votes import BaseClassifier, Voter, resolve_device

_VOTES = 64


@dataclass(frozen=True)
class RankedModel:
    """What one smoothed model says of the object, and how far its certificate is expected to reach."""

    model: str
    says: str
    right: bool
    """Whether it says the true class, or the class of the certificate where no true class is known."""
    share: float
    """Votes for that class, without an attack."""
    look: RegionLook | None
    """None where it is not right, or cannot answer for this region."""

    @property
    def reach(self) -> float:
        """The radius that it is expected to certify, in parts of the one asked for."""
        return 0.0 if self.look is None else self.look.radius[1]

    @property
    def votes(self) -> float:
        """Votes that the whole region is expected to take."""
        return math.inf if self.look is None else self.look.votes


def rank_models(
    view: CaseView,
    models: Iterable[tuple[BaseClassifier, Cloud]],
    *,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[RankedModel]:
    """Ask every model, one after another, each on the object with as many points as it was trained for."""
    wanted = view.certificate.cloud.label or view.class_name
    rays = weakest_rays(view)
    for model, cloud in models:
        if cancelled():
            return
        voter = Voter(model, model.smoothing, seed=0, device=resolve_device("auto"))
        votes = voter.count(cloud.points, look_stream("opinion"), 0, _VOTES)
        says = model.classes[int(np.argmax(votes))]
        share = int(votes[model.classes.index(wanted)]) / _VOTES if wanted in model.classes else 0.0
        look = None
        if says == wanted:
            claim = replace(
                view.claim, cloud=cloud, smoothing=model.smoothing, protocol="adaptive", resolution=None
            )
            options, target = view.certificate.question.options, model.classes.index(says)
            try:
                look = look_at_region(claim, voter, target, rays, options, cancelled=cancelled)
            except TpcError:  # its smoothing has no rule for this region
                look = None
        yield RankedModel(model.name, says, says == wanted, share, look)


def best_first(ranked: Sequence[RankedModel]) -> list[RankedModel]:
    """Right before wrong, then by the radius, then by what the region costs, then by the share of the votes."""
    return sorted(ranked, key=lambda each: (not each.right, -round(each.reach, 2), each.votes, -each.share))
