"""A survey: vote at the nodes of a map, coarse first, then where the votes matter most."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tpc_core.cloud import Cloud
from tpc_core.landscape.chart import Array, Chart
from tpc_core.landscape.nodes import Nodes
from tpc_core.lazy_torch import torch
from tpc_core.ledger import look_stream
from tpc_core.statistics import lower_confidence_bound, upper_bound
from tpc_core.votes import BLOCK, Ballot, Voter

if TYPE_CHECKING:
    from torch import Tensor

Counts = NDArray[np.int64]
Target = int | NDArray[np.int64]
"""The class of the cloud, or the part of each point."""

WIDER = {1: 1.5, 2: 1.3, 3: 1.15}
"""How much wider than the region a map is, by the number of its axes: the border of the region is inside."""

AT_ONCE = 24
"""Nodes that are voted on between two pictures."""

MOST_AT_A_NODE = 1024
MOST_VOTES = 100_000
"""Votes after which a map is as good as anyone needs it."""

OTHER = -1
"""The winner where a segmentation says other parts than before: no single class."""


@dataclass(frozen=True)
class Landscape:
    """What is known of a map so far: votes (or, of a plain network, its confidence) at some of its nodes."""

    chart: Chart
    nodes: Nodes
    classes: tuple[str, ...]
    target: str
    """The class whose p_A is shown; empty for segmentation."""
    share: Array
    """p_A^(j) (M,) as the votes at each node show it; NaN where nobody has asked."""
    n: Counts
    """Votes (M,); zero everywhere for a plain network, which gives its confidence instead."""
    n_a: Counts
    winner: Counts
    """The class (M,) that won at each node, or OTHER."""
    rank: int
    """The number of the finest grid of which some nodes were asked."""
    level: float
    """The error level of the bound at each node, taken alone."""
    needed: float
    """The p_A that the question is about; one half where no other is."""
    finished: bool = False

    @property
    def by_votes(self) -> bool:
        """Whether votes were cast; else the plain network was asked once at each node."""
        return bool(self.n.any())

    @property
    def votes(self) -> int:
        """All votes of the map."""
        return int(self.n.sum())

    @cached_property
    def asked(self) -> NDArray[np.bool_]:
        return np.asarray(~np.isnan(self.share))

    @cached_property
    def bound(self) -> Array:
        """What the votes of each node (M,) alone prove p_A to exceed there."""
        pairs = zip(self.n_a.tolist(), self.n.tolist(), strict=True)
        return np.array([lower_confidence_bound(k, n, self.level) if n else np.nan for k, n in pairs])

    def field(self, values: Array | None = None) -> Array:
        """p_A, or other values of the nodes, on the whole of the finest grid that was begun."""
        return self.nodes.spread(self.share if values is None else values, self.asked, self.rank)

    @cached_property
    def rivals(self) -> list[int]:
        """The classes that win somewhere on the map and are not the target, the most frequent first."""
        others = self.winner[self.asked & (self.winner != self._target_index)]
        names, counts = np.unique(others, return_counts=True)
        return [int(name) for name in names[np.argsort(-counts, kind="stable")]]

    @property
    def _target_index(self) -> int:
        return self.classes.index(self.target) if self.target else 0

    def name(self, index: int) -> str:
        """A winner in words."""
        if not self.target:
            return "other parts" if index == OTHER else "the same parts"
        return self.classes[index].replace("_", " ")


def extent(chart: Chart, radii: Sequence[float]) -> Array:
    """Half widths (k,) of a map around a region of these internal radii: somewhat wider, where the transform is."""
    widest = chart.half_widths([p.to_internal(p.largest_radius) for p in chart.transform.radii])
    region = chart.half_widths(radii)
    return np.asarray(np.minimum(WIDER[len(chart.axes)] * region, np.maximum(widest, region)))


@dataclass
class _Sheet:
    """The numbers of a survey under way."""

    chart: Chart
    nodes: Nodes
    classes: tuple[str, ...]
    target: Target
    level: float
    needed: float = 0.5
    share: Array = field(init=False)
    n: Counts = field(init=False)
    n_a: Counts = field(init=False)
    winner: Counts = field(init=False)
    rank: int = 0

    def __post_init__(self) -> None:
        size = len(self.nodes.index)
        self.share = np.full(size, np.nan)
        self.n, self.n_a = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        self.winner = np.zeros(size, dtype=np.int64)

    def take(self, earlier: Landscape) -> None:
        """Go on with a map of the same nodes."""
        self.share, self.n, self.n_a = earlier.share.copy(), earlier.n.copy(), earlier.n_a.copy()
        self.winner, self.rank = earlier.winner.copy(), earlier.rank

    def count(self, node: int, votes: Counts) -> None:
        """Votes (classes,) of one node, or (N, classes) of the points of a segmentation."""
        if isinstance(self.target, int):
            self.n[node] += votes.sum()
            self.n_a[node] += votes[self.target]
            self.winner[node] = int(np.argmax(votes))
        else:  # the share of the points that keep their part, as if each vote were for all of them
            kept = votes[np.arange(len(votes)), self.target].mean()
            self.n[node] += int(votes[0].sum())
            self.n_a[node] += int(kept)
            self.winner[node] = 0 if kept >= votes[0].sum() / 2 else OTHER
        self.share[node] = self.n_a[node] / self.n[node]

    def read(self, nodes: Counts, confidence: Array) -> None:
        """The confidences (M, classes) of a plain network at some nodes, or (M, N, classes) of its points."""
        if isinstance(self.target, int):
            self.share[nodes] = confidence[:, self.target]
            self.winner[nodes] = confidence.argmax(axis=1)
        else:
            kept = (confidence.argmax(axis=2) == self.target).mean(axis=1)
            self.share[nodes], self.winner[nodes] = kept, np.where(kept >= 0.5, 0, OTHER)

    def picture(self, *, finished: bool = False) -> Landscape:
        name = self.classes[self.target] if isinstance(self.target, int) else ""
        return Landscape(
            self.chart,
            self.nodes,
            self.classes,
            name,
            self.share.copy(),
            self.n.copy(),
            self.n_a.copy(),
            self.winner.copy(),
            self.rank,
            self.level,
            self.needed,
            finished,
        )


def survey(
    voter: Voter,
    cloud: Cloud,
    chart: Chart,
    half: Array,
    classes: Sequence[str],
    target: Target,
    go_on: Callable[[], bool] = lambda: True,
    *,
    needed: float = 0.5,
    level: float = 0.001,
    earlier: Landscape | None = None,
    most_votes: int = MOST_VOTES,
) -> Iterator[Landscape]:
    """Vote at the nodes of ever finer grids, and say after every few what is known; `earlier` is gone on with.

    Within a grid, and where nodes get more votes in the end, those come first whose p_A is nearest to `needed`.
    """
    sheet = _Sheet(chart, Nodes(half, chart.is_round), tuple(classes), target, level, needed)
    if earlier is not None:
        sheet.take(earlier)

    def ask(nodes: Counts) -> Landscape:
        ballots = [_ballot(cloud, chart, sheet, int(node)) for node in nodes]
        for node, blocks in zip(nodes.tolist(), voter.cast(ballots), strict=True):
            sheet.count(node, np.asarray(blocks.sum(axis=0)))
        return sheet.picture()

    for rank in range(len(sheet.nodes.fineness)):
        waiting: Counts = np.flatnonzero((sheet.nodes.rank == rank) & (sheet.n == 0))
        while len(waiting):
            if not go_on() or sheet.n.sum() >= most_votes:
                yield sheet.picture(finished=True)
                return
            sheet.rank = rank
            if rank:
                waiting = waiting[np.argsort(_doubt(sheet, waiting, needed), kind="stable")]
            yield ask(waiting[:AT_ONCE])
            waiting = waiting[AT_ONCE:]
    while go_on() and sheet.n.sum() < most_votes:
        unclear = _unclear(sheet, needed)
        if not len(unclear):
            break
        yield ask(unclear[:AT_ONCE])
    yield sheet.picture(finished=True)


def survey_plain(
    classifier: Callable[[Tensor], Tensor],
    cloud: Cloud,
    chart: Chart,
    half: Array,
    classes: Sequence[str],
    go_on: Callable[[], bool] = lambda: True,
) -> Iterator[Landscape]:
    """The same for a plain network: its confidence in the class of the cloud itself, without any noise."""
    with torch.inference_mode():
        answer = classifier(cloud.points[None])[0].argmax(dim=-1).numpy()
    target: Target = int(answer) if answer.ndim == 0 else np.asarray(answer, dtype=np.int64)
    sheet = _Sheet(chart, Nodes(half, chart.is_round), tuple(classes), target, 0.5)
    for rank in range(len(sheet.nodes.fineness)):
        waiting = np.flatnonzero(sheet.nodes.rank == rank)
        for first in range(0, len(waiting), BLOCK):
            if not go_on():
                yield sheet.picture(finished=True)
                return
            nodes = waiting[first : first + BLOCK]
            sheet.rank = rank
            moved = torch.stack([chart.moved(cloud.points, sheet.nodes.places[node]) for node in nodes])
            with torch.inference_mode():
                sheet.read(nodes, torch.softmax(classifier(moved), dim=-1).double().numpy())
            yield sheet.picture()
    yield sheet.picture(finished=True)


def _ballot(cloud: Cloud, chart: Chart, sheet: _Sheet, node: int) -> Ballot:
    """The next votes of a node: a block at first, then as many as it has. Their stream is named by its parameters."""
    place = sheet.nodes.places[node]
    name = ",".join(f"{value:.9g}" for value in place)
    cast = int(sheet.n[node])
    return Ballot(chart.moved(cloud.points, place), look_stream(f"map|{name}"), cast, cast + max(BLOCK, cast))


def _doubt(sheet: _Sheet, waiting: Counts, needed: float) -> Array:
    """How far p_A seems to be from `needed` at nodes that nobody asked yet, by those around them."""
    rank = sheet.rank
    known = sheet.nodes.spread(sheet.share, ~np.isnan(sheet.share), rank)
    step = sheet.nodes.fineness[-1] // sheet.nodes.fineness[rank]
    guess = known[tuple((sheet.nodes.index[waiting] // step).T)]
    return np.asarray(np.abs(_probit(guess) - _probit(np.array(needed))))


def _probit(p: Array) -> Array:
    return np.asarray(special.ndtri(np.clip(np.nan_to_num(p, nan=0.5), 0.01, 0.99)))


def _unclear(sheet: _Sheet, needed: float) -> Counts:
    """The nodes whose votes do not say yet on which side of `needed` p_A lies, the fewest votes first."""
    found = []
    for node in np.flatnonzero(sheet.n < MOST_AT_A_NODE).tolist():
        n, k = int(sheet.n[node]), int(sheet.n_a[node])
        if lower_confidence_bound(k, n, 0.05) < needed < upper_bound(k, n, 0.05):
            found.append((n, abs(k / n - needed), node))
    return np.array([node for _, _, node in sorted(found)], dtype=np.int64)
