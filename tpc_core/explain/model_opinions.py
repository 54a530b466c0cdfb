"""Who gets it right? A few votes of every other model, without an attack."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tpc_core.cloud import Cloud
from tpc_core.explain.continue_run import never
from tpc_core.ledger import look_stream
from tpc_core.votes import BaseClassifier, Voter, resolve_device

_VOTES = 64


@dataclass(frozen=True)
class Opinion:
    """What one smoothed model says of the object as it is."""

    model: str
    says: str
    share: float
    right: bool | None


def model_opinions(
    cloud: Cloud, models: Sequence[BaseClassifier], *, seed: int = 0, cancelled: Callable[[], bool] = never
) -> Iterator[Opinion]:
    """Ask every model, one after another, on as many points as the cloud has."""
    for model in models:
        if cancelled():
            return
        voter = Voter(model, model.smoothing, seed=seed, device=resolve_device("auto"))
        votes = voter.count(cloud.points, look_stream("opinion"), 0, _VOTES)
        says = model.classes[int(np.argmax(votes))]
        right = None if cloud.label is None else says == cloud.label
        yield Opinion(model.name, says, int(votes.max()) / _VOTES, right)
