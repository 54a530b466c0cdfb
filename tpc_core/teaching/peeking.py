"""Peeking: read a bound after every batch and stop when it pleases. Which bounds survive that?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tpc_core.errors import InvalidValue
from tpc_core.statistics import AnytimeMonitor, Monitor, StagedMonitor, check_alpha

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
    is the mistake; "staged" gives each look an equal share of alpha; "anytime" reads a confidence sequence.
    """
    check_alpha(alpha)
    if not 0 <= p <= 1 or min(batch, looks, runs) < 1:
        raise InvalidValue(f"cannot simulate p={p}, batch={batch}, looks={looks}, runs={runs}")
    sizes = tuple(batch * (k + 1) for k in range(looks))
    rng = np.random.default_rng([seed, batch, looks])
    counts = rng.binomial(batch, p, size=(runs, looks)).cumsum(axis=1)
    staged = StagedMonitor(sizes, ((1 - 1e-12) / looks,) * looks)
    whole = {size: StagedMonitor((size,), (1.0,)) for size in sizes}
    read: dict[Method, NDArray[np.float64]] = {
        "peek": np.stack([_read(whole[n], 0, counts[:, k], alpha) for k, n in enumerate(sizes)], axis=1),
        "staged": np.stack([_read(staged, k, counts[:, k], alpha) for k in range(looks)], axis=1),
        "anytime": np.stack(
            [_read(AnytimeMonitor(sizes), k, counts[:, k], alpha) for k in range(looks)], axis=1
        ),
    }
    once = np.full((runs, looks), -1.0)
    once[:, -1] = read["peek"][:, -1]
    claimed: dict[Method, NDArray[np.float64]] = {"once": once}
    for method, bounds in read.items():
        claimed[method] = np.maximum.accumulate(bounds, axis=1)
    wrong = {method: np.mean(bounds > p, axis=0) for method, bounds in claimed.items()}
    return PeekingStudy(p, alpha, sizes, counts / np.array(sizes), claimed, wrong)


def _read(monitor: Monitor, stage: int, counts: NDArray[np.int64], alpha: float) -> NDArray[np.float64]:
    known = {int(count): monitor.bound(int(count), stage, alpha) for count in np.unique(counts)}
    return np.array([known[int(count)] for count in counts])
