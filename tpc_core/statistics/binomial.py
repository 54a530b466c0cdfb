"""Exact bounds of a probability from counted votes (Clopper-Pearson), rounded to the safe side."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import special

from tpc_core.errors import InvalidValue


def check_alpha(alpha: float) -> float:
    """The error level alpha, which must lie strictly between 0 and 1."""
    if not 0 < alpha < 1:
        raise InvalidValue(
            f"alpha is a probability of error and lies in (0, 1), not {alpha:g}; 0.001 is usual"
        )
    return float(alpha)


def _check_counts(count: int, total: int) -> None:
    if not (0 <= count <= total and total >= 1):
        raise InvalidValue(f"{count} votes of {total} cannot be: need 0 <= count <= total and total >= 1")


@lru_cache(maxsize=65536)
def lower_bound(count: int, total: int, alpha: float) -> float:
    """The largest p that `count` or more successes of `total` would refute at level alpha.

    One-sided Clopper-Pearson: P(lower_bound > p) <= alpha for every true p.
    """
    _check_counts(count, total)
    check_alpha(alpha)
    if count == 0:
        return 0.0
    bound = float(special.betaincinv(count, total - count + 1, alpha))
    # The inverse is rounded; step down until the tail itself confirms the bound.
    while bound > 0 and float(special.betainc(count, total - count + 1, bound)) > alpha * (1 - 1e-12):
        bound = max(0.0, bound * (1 - 1e-12) - 1e-300)
    return bound


@lru_cache(maxsize=65536)
def upper_bound(count: int, total: int, alpha: float) -> float:
    """The smallest p that `count` or fewer successes of `total` would refute at level alpha."""
    return float(np.nextafter(1.0 - lower_bound(total - count, total, alpha), 2.0)) if count < total else 1.0


def tail(count: int, total: int, p: float) -> float:
    """P(Binomial(total, p) >= count)."""
    _check_counts(count, total)
    return 1.0 if count == 0 else float(special.betainc(count, total - count + 1, p))


def saturation(total: int, alpha: float) -> float:
    """The lower bound when every vote agrees, alpha^(1/n): no sample of this size can say more."""
    return lower_bound(total, total, alpha)


def samples_to_reach(threshold: float, p: float, alpha: float, *, limit: int = 1 << 26) -> int | None:
    """About how many samples let the lower bound pass `threshold` if the true probability is p.

    None where no number up to `limit` does.
    """
    if p <= threshold:
        return None

    def passes(total: int) -> bool:
        return lower_bound(int(np.floor(p * total)), total, alpha) > threshold

    total = 8
    while not passes(total):
        total *= 2
        if total > limit:
            return None
    low, high = total // 2, total
    while high - low > max(1, high // 64):
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high
