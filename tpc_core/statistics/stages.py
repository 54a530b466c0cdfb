"""How the votes of one cell are turned into a bound: fixed stages, or a bound that holds at any time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from tpc_core.errors import InvalidValue
from tpc_core.statistics.binomial import lower_bound
from tpc_core.statistics.sequence import BetaPrior, anytime_lower_bound
from tpc_core.statistics.top_class import anytime_top_class_p_value, top_class_p_value


class Monitor(ABC):
    """A rule, fixed before the first vote, that bounds p_A of one cell at a total level alpha.

    `sizes` are the numbers of votes at which the bound may be read, in rising order.
    """

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """The numbers of votes after which a decision may be taken."""

    @abstractmethod
    def level(self, stage: int, alpha: float) -> float:
        """The part of the cell's alpha that reading the bound at this stage spends."""

    @abstractmethod
    def bound(self, count: int, stage: int, alpha: float) -> float:
        """The lower bound of p_A after `sizes[stage]` votes, `count` of them for y_A."""

    @abstractmethod
    def top_class(self, votes: Sequence[int], claimed: int) -> float:
        """The p-value, to be compared with the stage's level, of `claimed` being the top class."""

    def stage_of(self, total: int) -> int:
        """The stage whose size is `total`."""
        try:
            return self.sizes.index(total)
        except ValueError:
            raise InvalidValue(f"{total} votes is not one of the stages {list(self.sizes)}") from None


@dataclass(frozen=True)
class StagedMonitor(Monitor):
    """Clopper-Pearson at a few sizes fixed beforehand, each with its own share of alpha.

    Peeking at the same level after every batch would multiply the error; shares that add up to one do not.
    """

    stage_sizes: tuple[int, ...]
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in zip(self.stage_sizes, self.stage_sizes[1:], strict=False))
        if not self.stage_sizes or self.stage_sizes[0] < 1 or not rising:
            raise InvalidValue(f"stage sizes must be positive and rise, not {list(self.stage_sizes)}")
        if len(self.shares) != len(self.stage_sizes) or min(self.shares) <= 0 or sum(self.shares) > 1 + 1e-12:
            raise InvalidValue("stages need one positive share of alpha each, and at most 1 in all")

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.stage_sizes

    def level(self, stage: int, alpha: float) -> float:
        return alpha * self.shares[stage]

    def bound(self, count: int, stage: int, alpha: float) -> float:
        return lower_bound(count, self.stage_sizes[stage], self.level(stage, alpha))

    def top_class(self, votes: Sequence[int], claimed: int) -> float:
        return top_class_p_value(votes, claimed)


@dataclass(frozen=True)
class AnytimeMonitor(Monitor):
    """A beta-binomial confidence sequence: read it as often as you like, stop or go on at will."""

    stage_sizes: tuple[int, ...]
    prior: BetaPrior = BetaPrior()

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.stage_sizes

    def level(self, stage: int, alpha: float) -> float:
        return alpha

    def bound(self, count: int, stage: int, alpha: float) -> float:
        return anytime_lower_bound(count, self.stage_sizes[stage], alpha, self.prior)

    def top_class(self, votes: Sequence[int], claimed: int) -> float:
        return anytime_top_class_p_value(votes, claimed)


def geometric_stages(first: int, largest: int, factor: int = 4) -> StagedMonitor:
    """Stages first, factor * first, ... up to `largest`, with shares 1, 1/4, 1/9, ... of a whole."""
    sizes = [first]
    while sizes[-1] * factor <= largest:
        sizes.append(sizes[-1] * factor)
    return StagedMonitor(tuple(sizes), falling_shares(len(sizes)))


def falling_shares(count: int) -> tuple[float, ...]:
    """Shares that fall as inverse squares and add up to one.

    The first is tested most often, so it gets the most; the last still gets enough to be of use.
    """
    weights = [1 / (i + 1) ** 2 for i in range(count)]
    return tuple(w / sum(weights) * (1 - 1e-12) for w in weights)
