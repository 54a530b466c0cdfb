"""Repeat an experiment with a known truth: how often does a Clopper-Pearson bound lie above it?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tpc_core.errors import InvalidValue
from tpc_core.statistics import check_alpha, lower_bound


@dataclass(frozen=True)
class Repeated:
    """Repetitions of "count n votes, take the lower bound" where the true probability is p."""

    p: float
    n: int
    alpha: float
    counts: NDArray[np.int64]
    bounds: NDArray[np.float64]

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Which repetitions claim more than is true."""
        return np.asarray(self.bounds > self.p)

    @property
    def error(self) -> float:
        """The share of repetitions that claim too much; alpha allows this much in the long run."""
        return float(np.mean(self.wrong))


def repeat_experiment(p: float, n: int, alpha: float, runs: int, seed: int) -> Repeated:
    """`runs` independent experiments of n votes each."""
    check_alpha(alpha)
    if not 0 <= p <= 1 or n < 1 or runs < 1:
        raise InvalidValue(f"need 0 <= p <= 1, n >= 1 and runs >= 1, not p={p}, n={n}, runs={runs}")
    counts = np.random.default_rng([seed, n]).binomial(n, p, size=runs)
    bounds = np.array([lower_bound(int(count), n, alpha) for count in counts])
    return Repeated(p, n, alpha, counts.astype(np.int64), bounds)
