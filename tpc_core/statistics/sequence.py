"""A confidence sequence: a lower bound that may be watched live and stopped at any time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from scipy import special

from tpc_core.errors import InvalidValue
from tpc_core.statistics.binomial import check_alpha


@dataclass(frozen=True)
class BetaPrior:
    """The Beta mixture of a confidence sequence; it must be fixed before the first vote."""

    successes: float = 0.5
    failures: float = 0.5

    def __post_init__(self) -> None:
        if not (self.successes > 0 and self.failures > 0):
            raise InvalidValue("the prior of a confidence sequence needs two positive numbers")


@lru_cache(maxsize=65536)
def anytime_lower_bound(count: int, total: int, alpha: float, prior: BetaPrior = BetaPrior()) -> float:
    """The lower end of {p : M_n(p) < 1/alpha}; it holds at all sample sizes at once with probability 1 - alpha.

    M_n(p) = B(a + k, b + n - k) / (B(a, b) p^k (1-p)^(n-k)) is a martingale at the true p, so by Ville's
    inequality it ever exceeds 1/alpha with probability at most alpha.
    """
    check_alpha(alpha)
    if not 0 <= count <= total:
        raise InvalidValue(f"{count} votes of {total} cannot be")
    if count == 0:
        return 0.0
    a, b = prior.successes, prior.failures
    evidence = float(special.betaln(a + count, b + total - count) - special.betaln(a, b))
    limit = -math.log(alpha) + 1e-9

    def log_martingale(p: float) -> float:
        likelihood = count * math.log(p)
        if count < total:
            likelihood += (total - count) * math.log1p(-p)
        return evidence - likelihood

    # M falls from infinity at p = 0 to at most 1 at p = k / n (a mean of likelihoods over their maximum).
    low, high = 0.0, count / total
    for _ in range(80):
        middle = 0.5 * (low + high)
        if middle <= 0.0 or log_martingale(middle) >= limit:
            low = middle
        else:
            high = middle
    return low
