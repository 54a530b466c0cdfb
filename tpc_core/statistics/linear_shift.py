"""How sure must the votes be for a linear map? The joint Neyman-Pearson check of THEORY section 5.

Under parameter smoothing I + E, an attack I + A turns the noise into A + E(I + A). With the singular values
s of I + A this is a change of scale and a shift. `required_p_a` is the p_A above which no such change, for any
||A||_F <= r, can move the top class: a maximum over s, bounded rigorously over boxes of s.
"""

from __future__ import annotations

import heapq
import itertools
import math
from functools import lru_cache

from scipy import special
from scipy.optimize import brentq

from tpc_core.errors import InvalidValue
from tpc_core.statistics.chi_square import ERROR, WeightedChiSquare

_BOXES = 500
"""How many boxes of s may be examined; more would lower the answer by less than 1e-3."""

Interval = tuple[float, float]
Box = tuple[Interval, ...]


@lru_cache(maxsize=4096)
def required_p_a(sigma: float, radius: float, boxes: int = _BOXES) -> float:
    """A p_A such that q(y_A) above it certifies every linear map with ||A||_F <= radius.

    Examining more boxes brings the answer closer to the truth, always from above.
    """
    if not (sigma > 0 and math.isfinite(sigma)):
        raise InvalidValue(f"sigma must be a positive, finite number, not {sigma}")
    if not 0 < radius < 1:
        raise InvalidValue(f"a linear radius lies in (0, 1), not {radius}")
    sides: tuple[Interval, Interval] = ((1 - radius, 1.0), (1.0, 1 + radius))
    # Singular values come unordered, so only the number of shrinking ones matters: four octants.
    octants = itertools.combinations_with_replacement(sides, 3)
    queue: list[tuple[float, int, Box]] = []
    order = itertools.count()
    for octant in octants:
        box: Box = octant
        heapq.heappush(queue, (-_needed(box, sigma, radius), next(order), box))
    for _ in range(boxes):
        worst, _, box = queue[0]
        if worst > -0.5:
            break
        heapq.heappop(queue)
        widest = max(range(3), key=lambda j: box[j][1] - box[j][0])
        low, high = box[widest]
        for half in ((low, (low + high) / 2), ((low + high) / 2, high)):
            child = _trimmed((*box[:widest], half, *box[widest + 1 :]), radius)
            if child is not None:
                heapq.heappush(queue, (-_needed(child, sigma, radius), next(order), child))
    return max(0.5, -queue[0][0])


def linear_radius(p_a: float, sigma: float, *, largest: float = 0.95, tolerance: float = 1e-3) -> float:
    """The largest radius (to the tolerance, rounded down) that p_A certifies; 0 where none."""
    steps = math.floor(largest / tolerance)
    low, high = 0, steps + 1
    while high - low > 1:
        middle = (low + high) // 2
        if _certifies(p_a, sigma, middle * tolerance):
            low = middle
        else:
            high = middle
    return low * tolerance


def _certifies(p_a: float, sigma: float, radius: float) -> bool:
    """Whether p_A is enough for this radius; the cheap checks that settle most cases come first."""
    spread = radius / math.sqrt(3)
    for s in (
        (1.0, 1.0, 1.0),
        (1 - spread,) * 3,
        (1 + spread,) * 3,
        (1.0, 1.0, 1 - radius),
        (1.0, 1.0, 1 + radius),
    ):
        if p_a <= _needed(tuple((v, v) for v in s), sigma, radius):
            return False
    return any(p_a > required_p_a(sigma, radius, boxes) for boxes in (_BOXES // 8, _BOXES))


def _trimmed(box: Box, radius: float) -> Box | None:
    """The box cut down to sum (s_j - 1)^2 <= r^2 and s sorted; None where nothing is left."""
    least = [_least_change(side) for side in box]
    if sum(least) > radius**2 * (1 + 1e-12):
        return None
    if any(box[i][0] > box[j][1] for i, j in ((0, 1), (0, 2), (1, 2))):
        return None  # its mirror image, with s in rising order, is examined instead
    sides = []
    for j, (low, high) in enumerate(box):
        room = math.sqrt(max(radius**2 - (sum(least) - least[j]), 0.0)) * (1 + 1e-12)
        sides.append((max(low, 1 - room), min(high, 1 + room)))
    return tuple(sides)


def _least_change(side: Interval) -> float:
    """The least (s - 1)^2 over an interval that does not cross 1."""
    return min((side[0] - 1) ** 2, (side[1] - 1) ** 2)


def _needed(box: Box, sigma: float, radius: float) -> float:
    """An upper bound of the p_A needed at every s of the box, 1 where nothing suffices."""
    lows = [side[0] for side in box]
    smallest = min(lows)
    shift = radius**2 / smallest**2
    shift += sum(_least_change(side) * (1 / side[0] ** 2 - 1 / smallest**2) for side in box)
    target = float(special.ndtr(math.sqrt(max(shift, 0.0)) / sigma)) + 1e-12
    if target >= 1 - 4 * ERROR:
        return 1.0
    # p~ falls as any s_j moves away from 1, so the corner farthest from 1 is the worst of the box.
    far = [side[0] if side[1] <= 1 else side[1] for side in box]
    attacked = WeightedChiSquare(tuple(s * s - 1 for s in far))
    if not any(attacked.weights):
        return target
    clean = WeightedChiSquare(tuple(1 - 1 / (s * s) for s in far))
    low, high = attacked.bracket()
    if attacked.cdf(high) - 2 * ERROR <= target:
        return 1.0
    threshold = brentq(lambda t: attacked.cdf(t) - 2 * ERROR - target, low, high, xtol=1e-10 * (high - low))
    step = 1e-9 * (high - low)
    while attacked.cdf(threshold) - 1.5 * ERROR < target:
        threshold += step
        step *= 2
    return min(1.0, clean.cdf(threshold) + ERROR)
