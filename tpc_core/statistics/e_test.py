"""The one test: is p_A larger than q? Read it after every block of votes, stop or go on at will.

For a prior on (q, 1] that is fixed beforehand, E_n(q) is the mean of the likelihood ratio of p against q. Where the
true p_A is at most q, E is a supermartingale that begins at 1, so it ever reaches 1/alpha with probability at most
alpha (Ville's inequality): votes may be read at every block, and more may be cast whatever was read (see
docs/theory.md, "One test that may be read at any time"). The constants are part of the method: a verifier uses its
own, not those of a certificate.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from tpc_core.errors import InvalidValue
from tpc_core.statistics.binomial import check_alpha

PRIOR_A = 1.0
PRIOR_B = 0.3
"""The prior Beta(1, 0.3), cut to (q, 1]: it expects p_A near one, as it is where certificates are made."""

ROUNDING = 1e-8
"""Taken off ln E before it is compared: more than the special functions can be wrong by at a million votes."""

ROUNDING_PER_VOTE = 1e-14
"""Taken off ln E for every vote: its terms grow with the votes, and what rounding does to them grows along."""

Array = NDArray[np.float64]


def log_e(count: ArrayLike, total: ArrayLike, q: float, complement: float | None = None) -> Array:
    """ln E_n(q) after `count` votes of `total` for the class; `complement` is 1 - q where it is known better.

    Underflow gives minus infinity, which passes nothing.
    """
    k = np.asarray(count, dtype=np.float64)
    n = np.asarray(total, dtype=np.float64)
    rest = 1.0 - q if complement is None else complement
    if q >= 1.0 or rest <= 0.0:
        return np.full(np.broadcast(k, n).shape, -np.inf)
    if q <= 0.0:
        return np.where(k > 0, np.inf, 0.0)
    a, b = PRIOR_A + k, PRIOR_B + (n - k)
    # 1 - I_q(a, b) = I_(1-q)(b, a): the second form keeps its digits where 1 - q is small.
    with np.errstate(divide="ignore"):
        upper = np.log(special.betainc(b, a, rest))
        prior = math.log(float(special.betainc(PRIOR_B, PRIOR_A, rest)))
    mixture = special.betaln(a, b) + upper - float(special.betaln(PRIOR_A, PRIOR_B)) - prior
    return np.asarray(mixture - k * math.log(q) - (n - k) * math.log(rest) - ROUNDING_PER_VOTE * n)


def needed_log_e(alpha: float) -> float:
    """What ln E must reach at level alpha."""
    return ROUNDING - math.log(alpha)


def rejects(count: int, total: int, q: float, alpha: float, complement: float | None = None) -> bool:
    """Whether these votes prove p_A > q at level alpha."""
    return bool(log_e(count, total, q, complement) >= needed_log_e(alpha))


@lru_cache(maxsize=65536)
def lower_confidence_bound(count: int, total: int, alpha: float) -> float:
    """The largest q that these votes reject, rounded down; its running maximum over all readings holds as well.

    E falls in q up to k / (n + b) and is at most e^b beyond, so for alpha below .74 the rejected set is an interval.
    """
    check_alpha(alpha)
    if not 0 <= count <= total:
        raise InvalidValue(f"{count} votes of {total} cannot be")
    if alpha >= 0.7:
        raise InvalidValue(f"a level of {alpha:g} is too large for a confidence bound")
    low, high = 0.0, count / (total + PRIOR_B)
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if rejects(count, total, middle, alpha) else (low, middle)
        if high - low < 1e-13:
            break
    return low


def best_lower_bound(counts: ArrayLike, totals: ArrayLike, alpha: float) -> float:
    """The running maximum of the bound over all readings (n, k) of one stream."""
    k, n = np.asarray(counts), np.asarray(totals)
    if not len(k):
        return 0.0
    best = lower_confidence_bound(int(k[-1]), int(n[-1]), alpha)
    # Only a reading that rejects what the best one so far leaves open can do better.
    while True:
        above = log_e(k, n, min(best + 1e-12, 1.0))
        better: NDArray[np.intp] = np.flatnonzero(above >= needed_log_e(alpha))
        if not len(better):
            return best
        improved = max(lower_confidence_bound(int(k[i]), int(n[i]), alpha) for i in better)
        if improved <= best + 1e-12:
            return max(best, improved)
        best = improved


def divergence(p: float, q: float) -> float:
    """KL(p, q) of two coins; infinite where q excludes what p makes."""

    def term(x: float, y: float) -> float:
        return 0.0 if x == 0 else math.inf if y == 0 else x * math.log(x / y)

    return term(p, q) + term(1 - p, 1 - q)


def fewest_votes(p: float, q: float, alpha: float) -> float:
    """Wald's bound: no test of power one and error alpha needs fewer votes on average where the true p_A is p."""
    return math.log(1 / alpha) / divergence(p, q) if p > q else math.inf


@lru_cache(maxsize=65536)
def expected_votes(p: float, q: float, alpha: float, block: int, most: int = 1 << 24) -> float:
    """About how many votes the test takes where the true p_A is p: the size at which the mean count passes."""
    if p <= q or q >= 1:
        return math.inf

    def passes(blocks: int) -> bool:
        n = blocks * block
        return rejects(math.floor(p * n), n, q, alpha)

    high = 1
    while not passes(high):
        high *= 2
        if high * block > most:
            return math.inf
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return float(high * block)
