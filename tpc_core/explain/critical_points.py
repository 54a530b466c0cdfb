"""Which points matter: the critical points that two places share, and those that only one has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from tpc_core.models import Model
from tpc_core.models.critical import critical_counts


@dataclass(frozen=True)
class CriticalChange:
    """For each point, how many pooled features it decides at the first and at the second place."""

    first: NDArray[np.floating]
    second: NDArray[np.floating]

    @property
    def kept(self) -> NDArray[np.bool_]:
        return np.asarray((self.first > 0) & (self.second > 0))

    @property
    def lost(self) -> NDArray[np.bool_]:
        return np.asarray((self.first > 0) & (self.second == 0))

    @property
    def gained(self) -> NDArray[np.bool_]:
        return np.asarray((self.first == 0) & (self.second > 0))

    @property
    def moved(self) -> float:
        """The share of the pooled features that another point decides now (at least)."""
        total = max(float(self.first.sum()), 1.0)
        return float(np.abs(self.first - self.second).sum()) / 2 / total

    @property
    def sentence(self) -> str:
        """The change in one sentence."""
        return (
            f"{int(self.kept.sum())} critical points kept, {int(self.lost.sum())} lost, {int(self.gained.sum())} new; "
            f"at least {self.moved:.0%} of the pooled features are decided by other points."
        )


def critical_change(model: Model, first: Tensor, second: Tensor) -> CriticalChange | None:
    """The critical points of two clouds (N, 3) of the same points; None for a network without a max pool."""
    before, after = critical_counts(model.module, first), critical_counts(model.module, second)
    return None if before is None or after is None else CriticalChange(before, after)
