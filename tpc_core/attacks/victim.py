"""What is attacked: the base classifier, or the smoothed one. A victim says how close an attack comes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tpc_core.cloud import Cloud
from tpc_core.ledger import look_stream
from tpc_core.smoothing import NoiseStream, Smoothing
from tpc_core.transforms import Transform

Array = NDArray[np.float64]
_CLOUDS_PER_PASS = 256


class Victim(ABC):
    """A classifier under attack. Margins below zero mean that the class has changed."""

    evaluations: int = 0
    at_once: int = 64
    """Parameters between two looks at the cancel signal."""

    @abstractmethod
    def margins(self, z: Array) -> Array:
        """The margin of the attacked class at each parameter (M, dim): (M,)."""

    @abstractmethod
    def loss(self, z: Tensor) -> Tensor:
        """A differentiable margin (M,) of parameters (M, dim); gradient attacks walk down on it."""


@dataclass
class BaseVictim(Victim):
    """h itself: the margin is the lead of the class's logit."""

    logits: Callable[[Tensor], Tensor]
    smooth_logits: Callable[[Tensor], Tensor]
    """The same function as `logits`, on a slower path through which gradients flow."""
    cloud: Cloud
    transform: Transform
    target: int
    evaluations: int = 0

    @torch.inference_mode()
    def margins(self, z: Array) -> Array:
        found = []
        for piece in torch.from_numpy(z).split(_CLOUDS_PER_PASS):
            found.append(self._lead(self.logits(self._moved(piece))))
            self.evaluations += len(piece)
        return torch.cat(found).double().cpu().numpy()

    def loss(self, z: Tensor) -> Tensor:
        self.evaluations += len(z)
        return self._lead(self.smooth_logits(self._moved(z)))

    def _moved(self, z: Tensor) -> Tensor:
        return self.transform.apply(self.cloud.points.double(), z).to(torch.float32)

    def _lead(self, scores: Tensor) -> Tensor:
        others = scores.clone()
        others[:, self.target] = -torch.inf
        return scores[:, self.target] - others.amax(dim=1)


@dataclass
class SmoothedVictim(Victim):
    """The smoothed classifier: the margin is the lead of the class in votes, on the same noise for all z."""

    logits: Callable[[Tensor], Tensor]
    smooth_logits: Callable[[Tensor], Tensor]
    cloud: Cloud
    transform: Transform
    target: int
    smoothing: Smoothing
    seed: int
    votes: int = 32
    evaluations: int = 0
    at_once: int = 4

    @torch.inference_mode()
    def margins(self, z: Array) -> Array:
        rows = torch.from_numpy(z)
        return np.array([float(self._lead(self._answers(row, self.logits), hard=True)) for row in rows])

    def loss(self, z: Tensor) -> Tensor:
        return torch.stack([self._lead(self._answers(row, self.smooth_logits), hard=False) for row in z])

    def _answers(self, z: Tensor, logits: Callable[[Tensor], Tensor]) -> Tensor:
        moved = self.transform.apply(self.cloud.points.double(), z).to(torch.float32)
        noise = NoiseStream(self.seed, look_stream("attack")).block(0)
        self.evaluations += self.votes
        return logits(self.smoothing.perturb(moved.expand(self.votes, *moved.shape), noise))

    def _lead(self, scores: Tensor, *, hard: bool) -> Tensor:
        if hard:
            shares = torch.nn.functional.one_hot(scores.argmax(dim=1), scores.shape[1]).double().mean(dim=0)
        else:
            shares = torch.softmax(scores, dim=1).mean(dim=0)
        others = shares.clone()
        others[self.target] = -1.0
        return shares[self.target] - others.max()
