"""An empirical map around the identity: a few votes at each place of a grid. It shows, and proves nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from tpc_core.cloud import Cloud
from tpc_core.engines.work import Bench
from tpc_core.ledger import look_stream
from tpc_core.smoothing import Smoothing
from tpc_core.transforms import CoordinateNoise, Linear, Transform
from tpc_core.votes import BLOCK, BaseClassifier, Voter, resolve_device

PLACES = {1: 41, 2: 13}
"""Places along each axis of the map, by the number of its axes."""

MOST_PARAMETERS = 3
"""Of three parameters the map is a slice: the first two, with the third at zero."""


@dataclass(frozen=True)
class Landscape:
    """Shares of votes for one class at grid points (M, dim); NaN where nothing was asked yet."""

    grid: NDArray[np.float64]
    share: NDArray[np.float64]
    winners: list[str]

    @property
    def axes(self) -> int:
        """The number of parameters that vary over the map: at most two."""
        return min(int(self.grid.shape[1]), 2)

    @property
    def is_slice(self) -> bool:
        """Whether a parameter was left at zero."""
        return int(self.grid.shape[1]) > self.axes


def can_be_surveyed(transform: Transform) -> bool:
    """Whether the parameters of a transform fit on a page."""
    return not isinstance(transform, CoordinateNoise | Linear) and transform.dim <= MOST_PARAMETERS


def span(transform: Transform, radii: Sequence[float]) -> NDArray[np.float64]:
    """Half widths (dim,) of a map around a region of these internal radii: twice as wide, and never empty."""
    wide = [p.to_internal(p.high) / 4 for p in transform.radii]
    widths = 2.0 * np.where(np.asarray(radii) > 0, radii, wide)
    return np.broadcast_to(widths, (transform.dim,)).astype(np.float64)


def survey(
    voter: Voter,
    cloud: Cloud,
    transform: Transform,
    half_widths: NDArray[np.float64],
    classes: Sequence[str],
    target: int,
    go_on: Callable[[], bool],
) -> Iterator[Landscape]:
    """Vote at one place after another, nearest to the identity first, and report every few."""
    axes = min(len(half_widths), 2)
    sides = [np.linspace(-half, half, PLACES[axes]) for half in half_widths[:axes]]
    shown = np.stack([side.ravel() for side in np.meshgrid(*sides, indexing="xy")], axis=1)
    grid = np.pad(shown, [(0, 0), (0, len(half_widths) - axes)])
    share = np.full(len(grid), np.nan)
    winners = [""] * len(grid)
    order = np.argsort(np.linalg.norm(grid / half_widths, axis=1))
    for step, place in enumerate(order):
        if not go_on():
            break
        points = transform.apply(cloud.points.double(), torch.from_numpy(grid[place])).float()
        votes = voter.count(points, look_stream(f"map|{place}"), 0, BLOCK)
        share[place] = votes[target] / BLOCK
        winners[place] = classes[int(np.argmax(votes))]
        if step % 8 == 7:
            yield Landscape(grid, share.copy(), list(winners))
    yield Landscape(grid, share.copy(), list(winners))


@dataclass(frozen=True)
class SurveyWork:
    """A survey as a piece of work for an engine: it yields the landscape so far."""

    model: BaseClassifier = field(repr=False)
    smoothing: Smoothing
    cloud: Cloud = field(repr=False)
    transform: Transform
    half_widths: NDArray[np.float64]
    target: int
    seed: int

    def run(self, bench: Bench) -> Iterator[Landscape]:
        voter = Voter(self.model, self.smoothing, seed=self.seed, device=resolve_device())
        yield from survey(
            voter,
            self.cloud,
            self.transform,
            self.half_widths,
            list(self.model.classes),
            self.target,
            lambda: not bench.stop(),
        )
