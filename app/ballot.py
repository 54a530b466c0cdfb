"""One look at a cloud through a model: its own answer, and the answers to random draws of its smoothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tpc_core.smoothing import NoiseStream, Smoothing
from tpc_core.votes import BLOCK

STREAM = "look"


@dataclass(frozen=True)
class Look:
    """What a model says of one cloud; `draws` (k, N, 3) are the first clouds that were voted on."""

    base: NDArray[np.floating]
    votes: NDArray[np.integer]
    draws: NDArray[np.floating]
    answers: list[int]

    @property
    def winner(self) -> int:
        """The smoothed class."""
        return int(np.argmax(self.votes))


@torch.inference_mode()
def look(
    classifier: Callable[[Tensor], Tensor],
    smoothing: Smoothing,
    points: Tensor,
    *,
    votes: int = 64,
    shown: int = 7,
    seed: int = 0,
) -> Look:
    """Ask the classifier about the points (N, 3), and about `votes` random draws around them.

    The noise is the same at every call, so that a moving slider shows the transform and not the dice.
    """
    base = torch.softmax(classifier(points[None]), dim=-1)[0]
    stream = NoiseStream(seed, STREAM)
    counts = torch.zeros(base.shape[-1], dtype=torch.int64)
    kept: list[Tensor] = []
    answers: list[int] = []
    size = min(votes, BLOCK)
    for index in range(max(1, votes // BLOCK)):
        draws = smoothing.perturb(points.expand(size, *points.shape), stream.block(index))
        answer = classifier(draws).argmax(dim=-1)
        counts += torch.bincount(answer, minlength=len(counts))
        missing = shown - len(answers)
        if missing > 0:
            kept.append(draws[:missing])
            answers += answer[:missing].tolist()
    return Look(base.numpy(), counts.numpy(), torch.cat(kept).numpy(), answers)


def votes_that_fit(points: int, *, moving: bool) -> int:
    """How many votes keep a slider fluent: few while it moves, more once it rests."""
    if points > 256:
        return BLOCK if not moving else 8
    return BLOCK if moving else 4 * BLOCK
