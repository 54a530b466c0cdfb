"""A smoothing distribution: how the cloud is shaken before the base classifier votes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from torch import Tensor

from tpc_core.smoothing.noise import Noise


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
