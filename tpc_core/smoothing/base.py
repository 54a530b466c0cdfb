"""A smoothing distribution: how the cloud is shaken before the base classifier votes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from tpc_core.smoothing.noise import Noise
from tpc_core.transforms import Reach, Transform


class Smoothing(ABC):
    """The random eps of q(y|x) = P_eps[h(phi(x, eps)) = y]."""

    @abstractmethod
    def perturb(self, points: Tensor, noise: Noise) -> Tensor:
        """One independent draw phi(x_b, eps_b) for each cloud of (B, N, 3)."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """A description in edge units; smoothing_from_json reads it back."""

    @abstractmethod
    def describe(self) -> str:
        """The distribution in a few words."""


class CoverSmoothing(Smoothing):
    """A smoothing that certifies regions cell by cell: a tested point vouches for what is near it, in sigmas."""

    sigma: float

    @abstractmethod
    def reach(self, transform: Transform, points: NDArray[np.float64]) -> Reach:
        """How far the points of a cell are from its tested point, for one cloud (N, 3), where noise is `sigma`."""
