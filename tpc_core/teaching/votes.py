"""Votes laid open: every draw of the noise with the answer it got."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tpc_core.errors import InvalidValue
from tpc_core.smoothing import NoiseStream, ParameterSmoothing
from tpc_core.votes import BLOCK


@dataclass(frozen=True)
class Ballots:
    """Draws eps (n,) of a one-parameter smoothing, in internal units, and the class (n,) each one voted for."""

    draws: NDArray[np.float64]
    answers: NDArray[np.int64]

    def count(self, target: int) -> int:
        """n_A: the votes for `target`."""
        return int(np.sum(self.answers == target))

    def __len__(self) -> int:
        return len(self.draws)


@torch.inference_mode()
def cast_ballots(
    classifier: Callable[[Tensor], Tensor],
    smoothing: ParameterSmoothing,
    points: Tensor,
    count: int,
    *,
    seed: int = 0,
    stream: str = "lesson",
) -> Ballots:
    """The first `count` votes of a stream on the cloud (N, 3).

    The same draws, in the same blocks, as a `Voter` takes from this seed and stream: a moving slider shows the
    transform and sigma, and not the dice.
    """
    if len(smoothing.scale) != 1:
        raise InvalidValue(f"{smoothing.describe()} has {len(smoothing.scale)} parameters; lessons show one")
    noise = NoiseStream(seed, stream)
    draws, answers = [], []
    for index in range(-(-count // BLOCK)):
        block = points.expand(BLOCK, *points.shape)
        draws.append(noise.block(index).normal(BLOCK, 1)[:, 0].numpy().astype(np.float64))
        answers.append(classifier(smoothing.perturb(block, noise.block(index))).argmax(dim=-1).numpy())
    scale = smoothing.scale[0]
    return Ballots(np.concatenate(draws)[:count] * scale, np.concatenate(answers)[:count].astype(np.int64))
