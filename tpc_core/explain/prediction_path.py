"""The path of the prediction from the identity to an attack: who wins where, on the same noise all along."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tpc_core.case_view import CaseView, named
from tpc_core.explain.continue_run import never
from tpc_core.ledger import look_stream
from tpc_core.votes import BaseClassifier

PATH_STEPS = 17
_VOTES = 128


@dataclass(frozen=True)
class PathStep:
    """Votes by class at a part of the way."""

    part: float
    votes: dict[str, int]

    @property
    def winner(self) -> str:
        return max(self.votes, key=lambda name: self.votes[name])

    def share(self, name: str) -> float:
        return self.votes.get(name, 0) / max(sum(self.votes.values()), 1)


def prediction_path(
    view: CaseView,
    model: BaseClassifier,
    z: NDArray[np.float64],
    *,
    steps: int = PATH_STEPS,
    votes: int = _VOTES,
    cancelled: Callable[[], bool] = never,
) -> Iterator[PathStep]:
    """Walk straight from the identity to z; regions are convex, so the way lies inside."""
    view.check_model(model)
    voter = view.voter(model)
    for part in np.linspace(0.0, 1.0, steps):
        if cancelled():
            return
        counts = voter.count(view.at(part * z), look_stream("path"), 0, votes)
        yield PathStep(float(part), named(counts, tuple(model.classes)))


def first_change(path: list[PathStep], name: str) -> float | None:
    """The part of the way at which another class first wins."""
    return next((step.part for step in path if step.winner != name), None)
