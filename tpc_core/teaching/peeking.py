"""Peeking: read a bound after every batch and stop when it pleases. Which bounds survive that?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tpc_core.errors import InvalidValue
from tpc_core.statistics import check_alpha, lower_bound, lower_confidence_bound

Method = Literal["once", "peek", "staged", "anytime"]
METHODS: tuple[Method, ...] = ("once", "peek", "staged", "anytime")


@dataclass(frozen=True)
class PeekingStudy:
    """Runs of votes with true probability p, looked at after every batch.

    `paths` (runs, looks) holds the share of votes at each look. `bounds[method]` (runs, looks) is the bound that
    the method may claim by then, -1 where it may claim nothing yet. `wrong[method]` (looks,) is the share of
    runs that claimed more than p at that look or before.
    """

    p: float
    alpha: float
    sizes: tuple[int, ...]
    paths: NDArray[np.float64]
    bounds: dict[Method, NDArray[np.float64]]
    wrong: dict[Method, NDArray[np.float64]]

    def error(self, method: Method) -> float:
        """The share of runs that ever claimed too much."""
        return float(self.wrong[method][-1])


def study_peeking(p: float, batch: int, looks: int, alpha: float, runs: int, seed: int) -> PeekingStudy:
    """Simulate `runs` people who look after each of `looks` batches and remember the best bound they saw.

    "once" waits for the last look and reads Clopper-Pearson at alpha; "peek" reads it at alpha every time, which
    is the mistake; "staged" gives each look, their number fixed beforehand, an equal share of alpha; "anytime" reads
    the test of this library, which holds at every look at once, however many there are.
    """
    check_alpha(alpha)
    if not 0 <= p <= 1 or min(batch, looks, runs) < 1:
        raise InvalidValue(f"cannot simulate p={p}, batch={batch}, looks={looks}, runs={runs}")
    sizes = tuple(batch * (k + 1) for k in range(looks))
    rng = np.random.default_rng([seed, batch, looks])
    counts = rng.binomial(batch, p, size=(runs, looks)).cumsum(axis=1)
    read: dict[Method, NDArray[np.float64]] = {
        "peek": _read(counts, sizes, lambda count, size: lower_bound(count, size, alpha)),
        "staged": _read(counts, sizes, lambda count, size: lower_bound(count, size, alpha / looks)),
        "anytime": _read(counts, sizes, lambda count, size: lower_confidence_bound(count, size, alpha)),
    }
    once = np.full((runs, looks), -1.0)
    once[:, -1] = read["peek"][:, -1]
    claimed: dict[Method, NDArray[np.float64]] = {"once": once}
    for method, bounds in read.items():
        claimed[method] = np.maximum.accumulate(bounds, axis=1)
    wrong = {method: np.mean(bounds > p, axis=0) for method, bounds in claimed.items()}
    return PeekingStudy(p, alpha, sizes, counts / np.array(sizes), claimed, wrong)


def _read(
    counts: NDArray[np.int64], sizes: tuple[int, ...], bound: Callable[[int, int], float]
) -> NDArray[np.float64]:
    """The bound (runs, looks) that each run reads at each look; equal counts are looked up once."""
    columns = []
    for look, size in enumerate(sizes):
        found, place = np.unique(counts[:, look], return_inverse=True)
        columns.append(np.array([bound(int(count), size) for count in found])[place])
    return np.stack(columns, axis=1)
