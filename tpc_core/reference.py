"""The whole method on one screen: plain numpy, no speed, no options. Read this first; the engine is tested against it.

`vote(points, place, block)` stands for the smoothed classifier: it shakes the cloud 32 times with the noise of one
block of the stream named `place`, and returns how many of the 32 answers each class got. Four theorems follow:

    additive(...)   one probability decides a whole ball of parameters (rotation, shear, twist, and l2 noise)
    top_class(...)  a class on top of a group's votes stays on top under the whole group
    taper(...)      cells: the votes at a cell's centre vouch for all of the cell
    e_value(...)    the one statistical test behind all of them, which may be read after every block
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaln, ndtr

Array = NDArray[np.float64]
Vote = Callable[[Array, str, int], NDArray[np.int64]]
A, B = 1.0, 0.3  # the prior Beta(1, 0.3), fixed for ever


def e_value(k: float, n: float, q: float) -> float:
    """ln of the mean of (p/q)^k ((1-p)/(1-q))^(n-k) over p ~ Beta(A, B) on (q, 1]: k of n votes against p_A <= q."""
    tail = math.log(betainc(B + n - k, A + k, 1 - q)) - math.log(betainc(B, A, 1 - q))
    return float(betaln(A + k, B + n - k) - betaln(A, B) + tail - k * math.log(q) - (n - k) * math.log(1 - q))


def choose(vote: Vote, x: Array) -> int:
    """y_A: the majority of a stream of its own, after 32, 128 or 512 votes."""
    votes, seen = vote(x, "select", 0), 1
    for size, lead in ((32, 12), (128, 24), (512, 0)):
        while 32 * seen < size:
            votes, seen = votes + vote(x, "select", seen), seen + 1
        first, second = np.sort(votes)[::-1][:2]
        if first - second >= lead:
            break
    return int(np.argmax(votes))


def proves(vote: Vote, x: Array, place: str, y: int, q: float, alpha: float, blocks: int) -> bool:
    """Whether votes at x prove p_A > q: E must reach 1/alpha at some block. P(it ever does while p_A <= q) <= alpha."""
    hits = 0
    for block in range(blocks):
        hits += int(vote(x, place, block)[y])
        if e_value(hits, 32 * (block + 1), q) >= math.log(1 / alpha):
            return True
    return False


def additive(vote: Vote, x: Array, radius: float, sigma: float, alpha: float, blocks: int = 64) -> bool:
    """Every attack of size `radius` keeps y_A if radius < sigma Phi^-1(p_A), that is p_A > Phi(radius / sigma)."""
    return proves(vote, x, "whole", choose(vote, x), float(ndtr(radius / sigma)), alpha, blocks)


def top_class(vote: Vote, x: Array, alpha: float, blocks: int = 64) -> bool:
    """Under uniform noise on a group q(.|x) is invariant: it is enough that y_A beats every rival, each on its own."""
    y = choose(vote, x)
    votes = np.cumsum([vote(x, "whole", block) for block in range(blocks)], axis=0)
    best = [
        max(e_value(row[y], row[y] + row[rival], 0.5) for row in votes)
        for rival in range(votes.shape[1])
        if rival != y
    ]
    return min(best) >= math.log(1 / alpha)


def taper(
    vote: Vote, x: Array, radius: float, sigma: float, alpha: float, blocks: int = 4, depth: int = 6
) -> bool:
    """Every z-taper within `radius` keeps y_A if each cell passes: p_A(centre) > Phi(D / sigma).

    A taper moves the cloud by exactly |da| sqrt(S_2), S_2 = sum (x^2 + y^2) z^2. First cells lie around the identity,
    their half width moves the cloud by 0.6 sigma; halves below. A point that fails lies in one cell of each depth, so
    the levels need only add up along a path: alpha_d = 3 alpha / ((d + 3)(d + 4)). No cell vouches for a neighbour.
    """
    slope = math.sqrt(float(np.sum((x[:, 0] ** 2 + x[:, 1] ** 2) * x[:, 2] ** 2)))
    width = _few_digits(2 * min(0.6 * sigma / slope, 0.95))
    y = choose(vote, x)

    def covered(low: float, high: float, path: str, d: int) -> bool:
        if low > radius or high < -radius:
            return True
        centre = (low + high) / 2
        far = max(min(high, radius) - centre, centre - max(low, -radius))
        q, level = (
            float(ndtr((far * slope + 2**-20 * float(np.linalg.norm(x))) / sigma)),
            3 * alpha / ((d + 3) * (d + 4)),
        )
        moved = x * np.stack([1 + centre * x[:, 2], 1 + centre * x[:, 2], np.ones(len(x))], axis=1)
        if proves(vote, moved, f"cell|1|{path}", y, q, level, blocks):
            return True
        return (
            d < depth and covered(low, centre, path + "0", d + 1) and covered(centre, high, path + "1", d + 1)
        )

    most = math.floor(radius / width + 0.5)
    return all(covered((i - 0.5) * width, (i + 0.5) * width, f"{i}:", 0) for i in range(-most, most + 1))


def _few_digits(spacing: float) -> float:
    """Rounded down to 24 binary digits: every edge, an integer times it over a power of two, is then exact."""
    mantissa, exponent = math.frexp(spacing)
    return math.ldexp(math.floor(mantissa * 2**24), exponent - 24)
