"""Part segmentation, point by point: which points keep their part over the whole region, and which do not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tpc_core.bounds.network import Network
from tpc_core.bounds.segments import PointMargins, point_margins
from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.exact.cells import DEEPEST, Array, Cells, join, root
from tpc_core.exact.problem import CLEAR, Counterexample, check_dimensions, first_places, pieces, side_lengths
from tpc_core.exact.search import DEFAULT_BUDGET, Budget
from tpc_core.machinery.thread_pool import share_out
from tpc_core.transforms import Region, Transform

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class PartsProblem:
    """Which points keep their labels (N,) for phi(x, z) at every z of the region? points: (N, 3) float32."""

    network: Network
    transform: Transform
    points: Tensor
    region: Region
    labels: Tensor

    def __post_init__(self) -> None:
        if not self.network.segments:
            raise UnsupportedRequest("this network labels clouds, not points; ask for its class (Problem)")
        check_dimensions(self.transform, self.region)
        if self.labels.shape != (len(self.points),):
            raise InvalidValue(
                f"{len(self.points)} points need as many labels, not {tuple(self.labels.shape)}"
            )

    def bound(self, cells: Cells) -> tuple[PointMargins, Array]:
        """Every point's margins in every cell, and how far each side of it moves the cloud (M, d)."""
        low, high = (torch.from_numpy(edge) for edge in self.trimmed(cells))
        chunks = pieces(len(cells), len(self.points))

        def one(chunk: slice) -> tuple[PointMargins, Tensor]:
            form = self.transform.form(self.points, low[chunk], high[chunk])
            return point_margins(self.network, form, self.labels), side_lengths(form.generators)

        found = list(share_out(one, chunks, crew="exact"))
        margins = PointMargins(
            *(torch.cat([getattr(m, name) for m, _ in found]) for name in ("lower", "middle", "slopes"))
        )
        return margins, torch.cat([sides for _, sides in found]).numpy()

    def trimmed(self, cells: Cells) -> tuple[Array, Array]:
        """The smallest boxes around cell and region together: what is bounded of every cell."""
        return self.region.trim(*cells.edges(self.region))

    def attack(self, z: Array) -> dict[int, Counterexample]:
        """For every point that loses its part at one of the parameters (M, d) of the region: where it does clearest."""
        z = z[self.region.contains(z)]
        if len(z) == 0:
            return {}
        moved = self.transform.apply(self.points.to(torch.float64), torch.from_numpy(z))
        logits = self.network.evaluate(moved)
        own = self.labels.expand(len(z), -1).unsqueeze(2)
        margins = (logits.gather(2, own) - logits).scatter_(2, own, torch.inf)
        worst, rivals = margins.min(dim=2)
        least, place = worst.min(dim=0)
        return {
            n: Counterexample(tuple(z[place[n]].tolist()), int(rivals[place[n], n]), float(least[n]))
            for n in torch.nonzero(least < -CLEAR).flatten().tolist()
        }


@dataclass(frozen=True)
class SettledParts:
    """The end of a search. A point is certified if the leaves where it was proved cover the region.

    `margins` (L, N) holds the margins of the points that were proved in a leaf, and NaN for the others: those were
    proved before, in a larger cell, later, in smaller ones, or not at all.
    """

    certified: Mask
    refuted: dict[int, Counterexample]
    leaves: Cells
    margins: Array
    bounded: int
    seconds: float
    reason: str = ""
    """Why points are left undecided, if any are."""

    def leaves_of(self, point: int) -> Cells:
        """The cells in which one point was proved."""
        return self.leaves[~np.isnan(self.margins[:, point])]


@dataclass(frozen=True)
class PartsBatch:
    """Some cells were bounded. `margins` (M,) are of the worst open point; a cell where it is below zero is split."""

    cells: Cells
    margins: Array
    bounded: int
    share: float
    """How much is settled: of the region's box and of the points, a refuted point counting as a whole."""


def settle_parts(problem: PartsProblem, budget: Budget = DEFAULT_BUDGET, *, batch: int = 16) -> SettledParts:
    """The verdict on every point."""
    *_, result = settle_parts_events(problem, budget, batch=batch)
    assert isinstance(result, SettledParts)
    return result


def settle_parts_events(
    problem: PartsProblem,
    budget: Budget = DEFAULT_BUDGET,
    *,
    batch: int = 16,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[PartsBatch | SettledParts]:
    """The same, with an event for every batch of cells; the last one is the verdict."""
    started = time.monotonic()
    count, dim = len(problem.labels), problem.region.dim
    refuted = problem.attack(first_places(problem.region, 24))
    waiting: list[tuple[Cells, Mask]] = [(root(dim), np.ones(count, bool))]
    lost = np.zeros(count, bool)
    leaves: list[Cells] = []
    margins: list[Array] = []
    bounded, reason = 0, ""
    volume = np.zeros(count)
    while waiting:
        late = time.monotonic() - started >= budget.seconds
        if cancelled() or late or bounded >= budget.cells:
            reason = "budget" if late or bounded >= budget.cells else "cancelled"
            for _, mask in waiting:
                lost |= mask
            break
        taken, waiting = waiting[-batch:], waiting[:-batch]
        settled = np.isin(np.arange(count), list(refuted)) | lost
        taken = [(cell, mask & ~settled) for cell, mask in taken if bool((mask & ~settled).any())]
        if not taken:
            continue
        cells, pending = join([cell for cell, _ in taken], dim), np.array([mask for _, mask in taken])
        result, sides = problem.bound(cells)
        bounded += len(cells)
        lower = result.lower.numpy()
        proved = pending & (lower > 0)
        volume += (2.0 ** -cells.levels.sum(axis=1)) @ proved
        some: Mask = np.any(proved, axis=1)
        leaves.append(cells[some])
        margins.append(np.where(proved, lower, np.nan)[some])
        rest = pending & ~proved
        for point, found in problem.attack(_suspects(problem, cells, result, rest)).items():
            refuted.setdefault(point, found)
        for number in np.flatnonzero(rest.any(axis=1)):
            if bool((cells.levels[number] >= DEEPEST - 1).any()):
                lost |= rest[number]
                reason = "a margin below what the bounds can tell"
                continue
            axis = int(np.argmax(sides[number]))
            halves = cells[number : number + 1].halved(np.array([axis]))
            halves = halves[halves.meets(problem.region)]
            waiting += [(halves[k : k + 1], rest[number]) for k in range(len(halves))]
        volume[list(refuted)] = 1.0
        worst = np.where(pending, lower, np.inf).min(axis=1)
        yield PartsBatch(cells, worst, bounded, float(volume.mean()))
    gone = np.isin(np.arange(count), list(refuted)) | lost
    joined = np.concatenate([np.zeros((0, count)), *margins])
    seconds = time.monotonic() - started
    yield SettledParts(~gone, refuted, join(leaves, dim), joined, bounded, seconds, reason)


def _suspects(problem: PartsProblem, cells: Cells, result: PointMargins, rest: Mask) -> Array:
    """Centres and, for the worst open point, the worst corner of every cell where a margin may be negative."""
    low, high = problem.trimmed(cells)
    estimate = result.middle - result.slopes.abs().sum(dim=1)
    estimate = torch.where(torch.from_numpy(rest), estimate, torch.inf)
    worst, point = estimate.min(dim=1)
    steep = result.slopes[torch.arange(len(cells)), :, point].numpy()
    doubtful = worst.numpy() < 0
    corners = np.where(steep > 0, low, high)
    return np.concatenate([((low + high) / 2)[doubtful], corners[doubtful]])
