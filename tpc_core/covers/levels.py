"""Who may spend how much of alpha: levels need only add up along a path of the tree."""

from __future__ import annotations

from dataclasses import dataclass

from tpc_core.errors import InvalidValue
from tpc_core.statistics import falling_shares


@dataclass(frozen=True)
class PathLevels:
    """The share of alpha of each rank; a true failure z* can be vouched for only by cells on its own path."""

    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.shares or min(self.shares) <= 0 or sum(self.shares) > 1 + 1e-12:
            raise InvalidValue("path levels must be positive and add up to at most 1")

    @staticmethod
    def falling(ranks: int) -> PathLevels:
        """Most cells pass at their first rank, so it gets the most."""
        return PathLevels(falling_shares(ranks))

    def level(self, rank: int, alpha: float) -> float:
        """The error level of a cell of this rank."""
        return alpha * self.shares[rank]
