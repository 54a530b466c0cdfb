"""The path of the prediction from the identity to an attack: who wins where, on the same noise all along."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tpc_core import streams
from tpc_core.certify.run import named
from tpc_core.diagnosis.reopen import check_model, never, voter_of
from tpc_core.diagnosis.subject import Subject
from tpc_core.votes import BaseClassifier

STEPS = 17
VOTES = 128


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
    subject: Subject,
    model: BaseClassifier,
    z: NDArray[np.float64],
    *,
    steps: int = STEPS,
    votes: int = VOTES,
    cancelled: Callable[[], bool] = never,
) -> Iterator[PathStep]:
    """Walk straight from the identity to z; regions are convex, so the way lies inside."""
    check_model(subject, model)
    voter = voter_of(subject, model)
    for part in np.linspace(0.0, 1.0, steps):
        if cancelled():
            return
        counts = voter.count(subject.at(part * z), streams.diagnosis("path"), 0, votes)
        yield PathStep(float(part), named(counts, tuple(model.classes)))


def first_change(path: list[PathStep], name: str) -> float | None:
    """The part of the way at which another class first wins."""
    return next((step.part for step in path if step.winner != name), None)
