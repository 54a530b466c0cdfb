"""How sure must the votes be for a linear map? The joint Neyman-Pearson check of docs/theory.md, "Linear maps".

Under parameter smoothing I + E, an attack I + A turns the noise into A + E(I + A). With the singular values
s of I + A this is a change of scale and a shift. `required_p_a` is the p_A above which no such change, for any
||A||_F <= r, can move the top class: a maximum over s, bounded rigorously over boxes of s.
"""

from __future__ import annotations

import heapq
import itertools
import json
import math
import threading
from functools import cached_property, lru_cache
from pathlib import Path

from scipy import special
from scipy.optimize import brentq

from tpc_core.errors import InvalidValue
from tpc_core.statistics.chi_square import ERROR, WeightedChiSquare

BOXES = 500
"""How many boxes of s are halved; more would lower the answer by less than 1e-3."""

STEP = 0.001
"""The steps of radii in the table, and of the largest radius."""

TABLE = Path(__file__).with_name("linear_table.json")
"""What `computed_p_a` gives for the sigmas of the checkpoints; made by scripts/linear_table.py."""

Interval = tuple[float, float]
Box = tuple[Interval, ...]


def required_p_a(sigma: float, radius: float) -> float:
    """A p_A such that q(y_A) above it certifies every linear map with ||A||_F <= radius.

    Asked of the next whole step, so that a radius and one a hair smaller need the same: the boxes of another radius are
    others, and their bound may be a little higher. What rounding does to a radius is far less than the margin of every
    bound, which covers errors of 1e-7.
    """
    _check(sigma, radius)
    known, steps = _table().get(sigma), max(1, math.ceil(radius / STEP - 1e-9))
    if steps * STEP >= 1:
        return 1.0
    if known is not None:
        return known[steps - 1] if steps <= len(known) else 1.0
    return computed_p_a(sigma, steps * STEP, BOXES)


def computed_p_a(sigma: float, radius: float, boxes: int) -> float:
    """The same by computation; halving more boxes brings the answer closer to the truth, always from above."""
    return _maximum(sigma, radius).after(boxes)


def linear_radius(p_a: float, sigma: float, *, largest: float = 0.95) -> float:
    """The largest radius (in whole steps, rounded down) that p_A certifies; 0 where none."""
    known = _table().get(sigma)

    def is_enough(steps: int) -> bool:
        if known is not None:
            return p_a > (known[steps - 1] if steps <= len(known) else 1.0)
        return _maximum(sigma, steps * STEP).is_below(p_a)

    low, high = 0, math.floor(largest / STEP) + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_enough(middle) else (low, middle)
    return low * STEP


def _check(sigma: float, radius: float) -> None:
    if not (sigma > 0 and math.isfinite(sigma)):
        raise InvalidValue(f"sigma must be a positive, finite number, not {sigma}")
    if not 0 < radius < 1:
        raise InvalidValue(f"a linear radius lies in (0, 1), not {radius}")


@lru_cache(maxsize=1)
def _table() -> dict[float, list[float]]:
    """The needed p_A by sigma, for radii of 1, 2, 3, ... steps; past the last, nothing suffices."""
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    if (table["boxes"], table["step"]) != (BOXES, STEP):
        raise ValueError(f"{TABLE.name} was made with other boxes or steps; run scripts/linear_table.py")
    return {float(sigma): needed for sigma, needed in table["needed"].items()}


@lru_cache(maxsize=4096)
def _maximum(sigma: float, radius: float) -> _Maximum:
    return _Maximum(sigma, radius)


class _Maximum:
    """The largest p_A that any s needs, bounded from above: the worst box is halved, again and again.

    What was halved once is remembered. A question that coarse boxes answer never pays for fine ones, and the answer
    after so many halvings does not depend on what was asked before.
    """

    def __init__(self, sigma: float, radius: float) -> None:
        _check(sigma, radius)
        self.sigma, self.radius = sigma, radius
        self._lock = threading.Lock()
        self._order = itertools.count()
        self._queue: list[tuple[float, int, Box]] = []
        sides: tuple[Interval, Interval] = ((1 - radius, 1.0), (1.0, 1 + radius))
        # Singular values come unordered, so only the number of shrinking ones matters: four octants.
        for octant in itertools.combinations_with_replacement(sides, 3):
            self._push(octant, 1.0)
        self._bounds = [-self._queue[0][0]]
        """The bound after 0, 1, 2, ... halvings; it never rises."""

    def after(self, boxes: int) -> float:
        """The bound after so many halvings; at least one half, which is needed to win at all."""
        with self._lock:
            while len(self._bounds) <= boxes and self._bounds[-1] > 0.5:
                self._halve()
            return max(0.5, self._bounds[min(boxes, len(self._bounds) - 1)])

    def is_below(self, p_a: float) -> bool:
        """Whether `after(BOXES)` is below p_A; it looks no closer than that takes."""
        if p_a <= 0.5 or p_a <= self._least:
            return False
        with self._lock:
            while self._bounds[-1] >= p_a and len(self._bounds) <= BOXES:
                self._halve()
            return self._bounds[min(BOXES, len(self._bounds) - 1)] < p_a

    @cached_property
    def _least(self) -> float:
        """What some single s need, less rounding: all boxes together need that much at least."""
        spread = self.radius / math.sqrt(3)
        some = (
            (1.0, 1.0, 1.0),
            (1 - spread,) * 3,
            (1 + spread,) * 3,
            (1.0, 1.0, 1 - self.radius),
            (1.0, 1.0, 1 + self.radius),
        )
        return max(_needed(tuple((v, v) for v in s), self.sigma, self.radius) for s in some) - 4 * ERROR

    def _halve(self) -> None:
        above, _, box = heapq.heappop(self._queue)
        widest = max(range(3), key=lambda j: box[j][1] - box[j][0])
        low, high = box[widest]
        for half in ((low, (low + high) / 2), ((low + high) / 2, high)):
            child = _trimmed((*box[:widest], half, *box[widest + 1 :]), self.radius)
            if child is not None:
                self._push(child, -above)
        self._bounds.append(-self._queue[0][0])

    def _push(self, box: Box, above: float) -> None:
        """Queue a box; what bounds the box that it was cut from bounds it as well."""
        needed = min(_needed(box, self.sigma, self.radius), above)
        heapq.heappush(self._queue, (-needed, next(self._order), box))


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
