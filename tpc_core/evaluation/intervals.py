"""How sure a share is: confidence intervals over the sampled objects."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import special

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Share:
    """A share of objects in percent, with the interval that the choice of objects leaves open."""

    value: float
    low: float
    high: float

    def to_json(self) -> dict[str, float]:
        """Rounded to what the sample can tell."""
        return {"value": round(self.value, 2), "low": round(self.low, 2), "high": round(self.high, 2)}


def share_of(count: int, total: int, confidence: float = CONFIDENCE) -> Share:
    """Clopper-Pearson, two-sided: exact for objects that either count or do not."""
    if total == 0:
        return Share(math.nan, 0.0, 100.0)
    miss = (1 - confidence) / 2
    low = float(special.betaincinv(count, total - count + 1, miss)) if count else 0.0
    high = float(special.betaincinv(count + 1, total - count, 1 - miss)) if count < total else 1.0
    return Share(100 * count / total, 100 * low, 100 * high)


def share_from_sums(
    total: int, first: float, second: float, whole: int, confidence: float = CONFIDENCE
) -> Share:
    """The mean of per-object numbers as a share of `whole`, with Student's interval, from their sum and their squares'.

    Points of one object are not independent, so objects are what is counted.
    """
    if total == 0:
        return Share(math.nan, 0.0, 100.0)
    mean = first / (total * whole)
    if total == 1:
        return Share(100 * mean, 0.0, 100.0)
    variance = max(second - first * first / total, 0.0) / (total - 1) / whole**2
    reach = float(special.stdtrit(total - 1, (1 + confidence) / 2)) * math.sqrt(variance / total)
    return Share(100 * mean, 100 * max(mean - reach, 0.0), 100 * min(mean + reach, 1.0))
