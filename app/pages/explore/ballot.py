"""One look at a cloud through a model: its own answer, and the answers to random draws of its smoothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tpc_core.machinery import share_out
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

    The noise is the same at every call, so that a moving slider shows the transform and not the dice. The looks of all
    visitors share a few threads of their own, first come, first served: twenty at once would only slow each other
    down, and none waits behind a certificate.
    """
    stream = NoiseStream(seed, STREAM)
    size = min(votes, BLOCK)

    @torch.inference_mode()
    def ask(index: int | None) -> tuple[Tensor, Tensor]:
        """The points themselves and their confidences, or one block of draws and the answers to them."""
        if index is None:
            return points, torch.softmax(classifier(points[None]), dim=-1)[0]
        draws = smoothing.perturb(points.expand(size, *points.shape), stream.block(index))
        return draws, classifier(draws).argmax(dim=-1)

    (_, base), *blocks = share_out(ask, [None, *range(max(1, votes // BLOCK))], crew="looks")
    answers = torch.cat([answer for _, answer in blocks])
    draws = torch.cat([drawn for drawn, _ in blocks[: -(-shown // size)]])[:shown]
    counts = torch.bincount(answers, minlength=len(base))
    return Look(base.numpy(), counts.numpy(), draws.numpy(), answers[:shown].tolist())


def votes_that_fit(points: int, *, moving: bool) -> int:
    """How many votes keep a slider fluent: few while it moves, more once it rests."""
    if points > 256:
        return BLOCK if not moving else 8
    return BLOCK if moving else 4 * BLOCK
