"""Search over the canonical tree: vote in the weakest cells first, buy votes or halve, stop when hope is lost.

One search serves all: a fixed radius, the largest one, going on, another radius, or some chosen cells. It only decides
where votes are cast; what they prove is read off the ledger afterwards (`tpc_core.proofs.cover`).
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy import special

from tpc_core.certificate.schema import Stop
from tpc_core.certify.events import (
    SHOWN_LIMIT,
    CellDecided,
    CellRefined,
    CellStarted,
    Event,
    Planned,
    VotesCounted,
)
from tpc_core.certify.refute import confirm_attack
from tpc_core.certify.run import Request, Run
from tpc_core.covers import Cell, Prices
from tpc_core.covers.lattice import DEEPEST
from tpc_core.ledger import Tally
from tpc_core.proofs import CoverProof
from tpc_core.statistics import upper_bound
from tpc_core.votes import BLOCK

WIDEST_WAVE = 64
"""How many cells are voted on together at most. The first two go alone, then four: where a region is lost, it is lost
early as a rule, and never much more than twice the votes needed to see it are cast."""

USUAL = 0.99
"""The p_A that is expected where nothing is known yet."""

_HOPE = 1e-4
"""A cell is given up only where even the upper bound of p_A at this level would not do: many cells are looked at, and
one unlucky sample must not end a run."""

_FINENESS = 0.02
"""Where the largest radius is sought, a lost cell is halved until it is this thin, as a part of its distance."""

_LARGEST_PATIENCE = 2_048
"""Votes that one cell may cost where the largest radius is sought: near its end, more votes buy next to nothing."""

_LONGEST_STRIDE = 64

Choice = Literal["more", "split", "fail"]


@dataclass(frozen=True)
class Focus:
    """Some cells only: their paths, the votes that each is to have at least, and whether each is halved first."""

    cells: tuple[str, ...]
    until: int | None = None
    refine: bool = False


@dataclass
class _Search:
    """The queue of cells that wait for votes, and what became of the others."""

    run: Run
    proof: CoverProof
    prices: Prices
    focus: Focus | None = None
    queue: list[tuple[float, float, int, Cell]] = field(default_factory=list)
    order: itertools.count[int] = field(default_factory=itertools.count)
    mass: dict[str, float] = field(default_factory=dict)
    """The share of the region's volume that each cell stands for; its halves share it."""
    covered: float = 0.0
    """The share that passed."""
    lost_at: float = math.inf
    """The smallest factor of the region that a lost cell touches."""
    lost: list[Cell] = field(default_factory=list)

    @property
    def largest(self) -> bool:
        return self.run.question.options.largest

    def push(self, cell: Cell, guess: float = USUAL) -> None:
        """Queue a cell: the weakest first, at first the one farthest out; nearest first for the largest radius."""
        margin = float(special.ndtri(min(max(guess, 1e-6), 1 - 1e-6))) - min(cell.reach, 10.0)
        if guess == USUAL:
            margin += 2.0 - float(self.proof.region.gauge(cell.z[None])[0])
        distance = self.proof.nearest(cell) if self.largest else 0.0
        heapq.heappush(self.queue, (distance, margin, next(self.order), cell))

    def take(self, width: int) -> list[Cell]:
        """The next cells to vote on; those whose centre lies outside of the bound's domain are split on the way."""
        wave: list[Cell] = []
        while self.queue and len(wave) < width:
            distance, _, _, cell = self.queue[0]
            if distance >= self.lost_at:
                break
            heapq.heappop(self.queue)
            self.run.control.cells += 1
            if cell.testable:
                wave.append(cell)
            elif not self.split(cell, USUAL):
                self.give_up(cell)
        return wave

    def split(self, cell: Cell, guess: float) -> tuple[Cell, ...]:
        children = tuple(self.proof.lattice.children(cell, self.proof.region))
        whole = sum(child.volume for child in children) or 1.0
        for child in children:
            self.mass[child.path] = self.mass.get(cell.path, 0.0) * child.volume / whole
            self.push(child, guess)
        return children

    def give_up(self, cell: Cell) -> None:
        self.lost.append(cell)
        self.lost_at = min(self.lost_at, self.proof.nearest(cell))

    def tally(self, cell: Cell) -> Tally:
        return self.run.ledger.tally(self.proof.place(cell))


def search_cover(run: Run, focus: Focus | None = None) -> Generator[Event, None, Stop]:
    """Vote until the region is covered, or a part of it is beyond hope."""
    proof = run.proof
    assert isinstance(proof, CoverProof)
    search = _Search(run, proof, Prices(proof.alpha, proof.region.dim), focus)
    yield from _begin(search)
    width = 2
    while search.queue:
        stopped = run.control.stop(run.ledger.samples)
        if stopped is not None:
            return stopped
        wave = search.take(width)
        if not wave:
            break
        finished = yield from _vote(search, wave)
        if not finished:
            return run.stop_reason()
        if search.lost and not search.largest and not run.question.options.complete and focus is None:
            break
        width = min(2 * width, WIDEST_WAVE)
    if search.lost and not search.largest:
        _refute(search)
    return "hopeless" if search.lost and not search.largest else "settled"


def _begin(search: _Search) -> Generator[Event, None, None]:
    """Queue what is open: all cells that the ledger does not settle, or those that were chosen."""
    proof, ledger, focus = search.proof, search.run.ledger, search.focus
    chosen = None if focus is None else set(focus.cells)
    leaves = [(cell, state) for cell, state in proof.walk(ledger) if state != "refined"]
    volume = sum(cell.volume for cell, _ in leaves) or 1.0
    search.mass = {cell.path: cell.volume / volume for cell, _ in leaves}
    search.covered = sum(search.mass[cell.path] for cell, state in leaves if state == "passed")
    waiting = [c for c, state in leaves if state != "passed" and (chosen is None or c.path in chosen)]
    for cell in waiting:
        tally = search.tally(cell)
        guess = _guess(tally, search.run.target) if tally.n else USUAL
        if focus is not None and focus.refine:
            yield CellRefined(cell, search.split(cell, guess))
        else:
            search.push(cell, guess)
    if not search.largest:
        shown = tuple(waiting) if len(waiting) <= SHOWN_LIMIT else ()
        yield Planned(len(waiting), planned_votes(search.prices, waiting), shown)


def planned_votes(prices: Prices, cells: list[Cell], p_a: float = USUAL) -> float:
    """About how many votes these cells take, if p_A is as is usual; many cells are judged by some of them."""
    some = cells[:: max(1, len(cells) // 500)]
    costs = [prices.cell(p_a, min(cell.reach, 10.0), cell.depth) for cell in some]
    return len(cells) * float(np.mean(costs)) if some else 0.0


def _guess(tally: Tally, target: int) -> float:
    """What p_A looks like."""
    return (int(tally.total[target]) + 0.5) / (tally.n + 1)


def _vote(search: _Search, wave: list[Cell]) -> Generator[Event, None, bool]:
    """Cast votes at the cells of a wave until each is settled; False where the run must stop first."""
    run, proof = search.run, search.proof
    for cell in wave:
        yield CellStarted(cell)
    while wave:
        requests = [Request(proof.place(cell), run.claim.at(cell.z), _stride(search, cell)) for cell in wave]
        asked = {request.place: request.blocks for request in requests}
        by_place = dict(zip(asked, wave, strict=True))
        sizes = {place: run.ledger.tally(place).size for place in asked}
        for place in run.cast(requests):
            yield _counted(search, by_place[place])
        if any(run.ledger.tally(place).size < sizes[place] + asked[place] for place in asked):
            return False
        still: list[Cell] = []
        for cell in wave:
            still.extend((yield from _decide(search, cell)))
        wave = still
        if search.lost and not (search.largest or run.question.options.complete or search.focus):
            return True
    return True


def _counted(search: _Search, cell: Cell) -> VotesCounted:
    tally = search.tally(cell)
    hits = int(tally.total[search.run.target])
    return VotesCounted(cell, tally.n, hits, search.proof.level(cell), search.run.ledger.samples)


def _decide(search: _Search, cell: Cell) -> Generator[Event, None, list[Cell]]:
    """What follows from the votes of a cell; the cell again where it takes more of them."""
    proof, tally, target = search.proof, search.tally(cell), search.run.target
    hits, level = int(tally.total[target]), proof.level(cell)
    if proof.passes(cell, tally, target):
        search.covered = min(1.0, search.covered + search.mass.get(cell.path, 0.0))
        yield CellDecided(cell, True, tally.n, hits, level, search.covered)
        return []
    choice = _choose(search, cell, tally)
    if choice == "more":
        return [cell]
    if choice == "split":
        children = search.split(cell, _guess(tally, target))
        if children:
            yield CellRefined(cell, children)
            return []
    search.give_up(cell)
    yield CellDecided(cell, False, tally.n, hits, level, search.covered)
    return []


def _choose(search: _Search, cell: Cell, tally: Tally) -> Choice:
    """More votes here, two halves, or no hope: whatever is cheapest if p_A is as it looks."""
    focus, prices = search.focus, search.prices
    if focus is not None and focus.until is not None:
        return "more" if tally.n < focus.until else "fail"
    patience = search.run.question.options.patience
    if search.largest:
        patience = min(patience, _LARGEST_PATIENCE)
    hits = int(tally.total[search.run.target])
    for p in (_guess(tally, search.run.target), upper_bound(hits, tally.n, _HOPE)):
        stay = max(prices.stay(p, cell.reach, cell.depth) - tally.n, BLOCK)
        split = prices.split(p, cell.reach, cell.depth) if cell.depth < DEEPEST else math.inf
        if min(stay, split) <= patience:
            return "more" if stay <= split else "split"
    # The centre is beyond hope. Parts nearer to the identity may still pass where the largest radius is sought.
    return "split" if search.largest and _is_thick(search, cell) else "fail"


def _is_thick(search: _Search, cell: Cell) -> bool:
    """Whether halving a lost cell would still sharpen the largest radius."""
    near = search.proof.nearest(cell)
    corner = np.maximum(np.abs(cell.low), np.abs(cell.high))
    far = float(search.proof.region.gauge(corner[None])[0])
    return far - near > _FINENESS * far and cell.depth < DEEPEST


def _stride(search: _Search, cell: Cell) -> int:
    """Blocks to cast before the next reading: one by one at first, then half of what is expected to be missing."""
    tally, focus = search.tally(cell), search.focus
    if focus is not None and focus.until is not None:
        return int(min(_LONGEST_STRIDE, max(1, (focus.until - tally.n) // BLOCK)))
    if tally.size < 2:
        return 1
    wanted = search.prices.stay(_guess(tally, search.run.target), cell.reach, cell.depth)
    missing = wanted - tally.n if math.isfinite(wanted) else tally.n
    return int(min(_LONGEST_STRIDE, max(1, missing // (2 * BLOCK))))


def _refute(search: _Search) -> None:
    """Where a lost cell shows another class on top, put the nearest place of the region to the test."""
    run, region = search.run, search.proof.region
    for cell in sorted(search.lost, key=lambda lost: _guess(search.tally(lost), run.target)):
        tally = search.tally(cell)
        if not tally.n or upper_bound(int(tally.total[run.target]), tally.n, 1e-3) >= 0.5:
            return
        place = cell.z if region.contains(cell.z[None])[0] else region.project(cell.z[None])[0] * (1 - 1e-12)
        votes = tally.total.copy()
        votes[run.target] = -1
        confirm_attack(run, place, "centre of a lost cell", rival=int(np.argmax(votes)))
        return
