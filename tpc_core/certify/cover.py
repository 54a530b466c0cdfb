"""The adaptive cover: test the weakest cells first, buy votes or halve, stop as soon as hope is lost."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from scipy import special

from tpc_core import streams
from tpc_core.certificate.schema import (
    AttackRecord,
    CellRecord,
    CellState,
    GrownEvidence,
    Prediction,
    Reason,
    TreeEvidence,
)
from tpc_core.certify.core import holds
from tpc_core.certify.events import (
    SHOWN_LIMIT,
    CellDecided,
    CellRefined,
    CellStarted,
    Event,
    Planned,
    VotesCounted,
)
from tpc_core.certify.ledger import rank_ledger
from tpc_core.certify.probe import Probes, extra_places
from tpc_core.certify.refute import confirm_attack
from tpc_core.certify.run import Outcome, Run, Tally, cast_stages
from tpc_core.covers import Cell, CoverTree, PathLevels, PriceList
from tpc_core.smoothing import CoverSmoothing
from tpc_core.statistics import upper_bound

_PLAN_LIMIT = 500
"""How many first cells a plan looks at; they stand for the others."""

_HOPE = 1e-4
"""A cell is given up only where even the upper bound of p_A at this level would not do: many cells are looked at,
and one unlucky sample must not end a run."""

WIDEST_WAVE = 64
"""How many cells are tested together at most. The first goes alone, then two, then four: where a region is lost, it
is lost early as a rule, and never much more than twice the votes needed to see it are cast."""

_LARGEST_DIMENSION = 4
"""Past this, halving a cell hardly shrinks it: a region that one cell cannot hold is out of reach."""


def build_tree(run: Run) -> CoverTree:
    """The tree of this run's region; it depends on the cloud, the region and sigma alone."""
    smoothing = run.voter.smoothing
    assert isinstance(smoothing, CoverSmoothing)
    points = run.cloud.points.double().numpy()
    return CoverTree(
        region=run.transform.region(run.radii),
        reach=smoothing.reach(run.transform, points),
        sigma=smoothing.sigma,
        cloud_norm=float(np.linalg.norm(points)),
    )


@dataclass
class _Visit:
    """A cell under test: its share of the region, its votes, and the best bound of p_A read so far."""

    cell: Cell
    mass: float
    tally: Tally
    bound: float = 0.0


@dataclass
class _Search:
    """The state of one adaptive cover: the queue, what passed, and what is known of p_A nearby."""

    run: Run
    target: int
    tree: CoverTree
    levels: PathLevels
    prices: PriceList
    queue: list[tuple[float, float, int, Cell, float]] = field(default_factory=list)
    order: itertools.count[int] = field(default_factory=itertools.count)
    records: list[CellRecord] = field(default_factory=list)
    covered: float = 0.0
    deepest: int = 0
    """The largest rank at which votes were cast, now or in the core."""
    failed_at: float = math.inf
    """The smallest factor of the region that a failed cell touches."""

    def push(self, cell: Cell, guess: float, mass: float) -> None:
        """Queue a cell, weakest first; where the largest radius is sought, nearest to the identity first."""
        # A cell that is too wide to be tested counts as its first tested parts will; the newest goes first, so
        # that the search dives to the weakest place instead of unfolding the whole tree.
        reach = min(cell.reach, self.tree.start)
        margin = float(special.ndtri(min(max(guess, 1e-6), 1 - 1e-6))) - reach
        distance = self.distance(cell) if self.run.largest else 0.0
        heapq.heappush(self.queue, (distance, margin, -next(self.order), cell, mass))

    def distance(self, cell: Cell) -> float:
        """The smallest factor of the region that meets the cell."""
        return float(self.tree.region.nearest_gauge(np.asarray(cell.low), np.asarray(cell.high)))

    def record(self, cell: Cell, tally: Tally, bound: float, state: CellState) -> None:
        self.deepest = max(self.deepest, cell.rank)
        self.records.append(tally.record(cell, bound, state))

    def take(self, width: int, guess: Callable[[Cell], float]) -> list[_Visit]:
        """The next cells to test, at most `width` of them; wider ones are split on the way, by `guess`."""
        wave: list[_Visit] = []
        control = self.run.control
        while self.queue and len(wave) < width:
            if wave and control.cells >= (control.budget.cells or math.inf):
                break
            _, _, _, cell, mass = heapq.heappop(self.queue)
            control.cells += 1
            if cell.tested:
                tally = Tally(self.key(cell), self.run.at(cell.centre), self.target, cell)
                wave.append(_Visit(cell, mass, tally))
            else:
                self.split(cell, guess, mass)
        return wave

    def split(self, cell: Cell, guess: Callable[[Cell], float], mass: float) -> tuple[Cell, ...]:
        """Queue the parts of a cell in its place; `guess` says what p_A is expected in each."""
        children = self.tree.children(cell)
        assert children, "a cell that meets the region has a part that meets it"
        whole = sum(child.volume for child in children) or 1.0
        open_parts = tuple(child for child in children if not self.vouched(child))
        for child in open_parts:
            self.push(child, guess(child), mass * child.volume / whole)
        self.covered += mass * (1 - sum(child.volume for child in open_parts) / whole)
        return open_parts

    def vouched(self, cell: Cell) -> bool:
        """Whether an earlier certificate vouches for the whole cell."""
        return self.run.core is not None and holds(self.run.core.region, cell)

    def key(self, cell: Cell) -> str:
        """The key of the cell's stream."""
        return streams.shell(len(self.run.core.trees) if self.run.core is not None else 0, cell.path)


def certify_cover(run: Run, prediction: Prediction) -> Generator[Event, None, Outcome]:
    """Certify a region, or find the largest factor of it, by an adaptive tree with path-wise levels."""
    tree = build_tree(run)
    if tree.region.dim > _LARGEST_DIMENSION and not tree.root().tested:
        return _too_many(run, tree)
    levels = PathLevels.falling(tree.ranks)
    prices = PriceList(run.monitor, levels, run.alpha, tree.region.dim)
    search = _Search(run, prediction.index, tree, levels, prices, deepest=_deepest_of_core(run))
    probes = Probes(tree.region)
    attack = None
    if not run.largest:
        attack = probes.cast(run, prediction, tree.region.extremes())
        if attack is None:
            _, votes = planned_votes(tree, prices, probes.guess)
            attack = probes.cast(run, prediction, extra_places(tree.region, votes, run.voter.seed))
        if attack is not None:
            return _outcome(search, [], attack)
        count, votes = planned_votes(tree, prices, probes.guess)
        waiting = tree.frontier(SHOWN_LIMIT) if count <= SHOWN_LIMIT else None
        yield Planned(count, votes, tuple(waiting or ()))
    search.push(tree.root(), 1.0, 1.0)
    reasons: list[Reason] = []
    width = 1
    while search.queue:
        stopped = run.control.stop_reason()
        if stopped is not None:
            reasons.append(stopped)
            break
        wave = search.take(width, lambda child: probes.guess(child.centre))
        failures = yield from _examine(search, wave)
        for cell, reason in failures:
            search.failed_at = min(search.failed_at, search.distance(cell))
            if not reasons:
                reasons.append(reason)
                if reason.code == "wrong-class" and not run.largest:
                    attack = confirm_attack(run, prediction, cell.centre, "centre of a failing cell")
        if any(reason.code in ("budget", "cancelled") or not run.complete for _, reason in failures):
            break
        width = min(2 * width, WIDEST_WAVE)
    return _outcome(search, reasons, attack)


def _deepest_of_core(run: Run) -> int:
    """The largest rank that the trees of the core reached."""
    deepest = 0
    for recorded in run.core.trees if run.core is not None else ():
        radii = tuple(recorded.root_radius[p.name] for p in run.transform.radii)
        tree = build_tree(replace(run, radii=radii))
        deepest = max([deepest, *(tree.descend(cell.path).rank for cell in recorded.cells)])
    return deepest


def _too_many(run: Run, tree: CoverTree) -> Outcome:
    evidence = TreeEvidence(
        start=tree.start, path_shares=[1.0], root_radius=_named_radii(run), factor=0.0, cells=[]
    )
    reason = Reason(
        code="too-coarse",
        message=f"a cover in {tree.region.dim} dimensions would need too many cells at this radius; take a model "
        f"smoothed by {run.transform.name}, a smaller radius or a larger sigma",
    )
    return Outcome("undecided", evidence, [], [reason], (0.0,) * len(run.radii) if run.largest else None)


def _named_radii(run: Run) -> dict[str, float]:
    return dict(zip([p.name for p in run.transform.radii], run.radii, strict=True))


def planned_votes(
    tree: CoverTree, prices: PriceList, guess: Callable[[np.ndarray], float]
) -> tuple[int, float]:
    """The number of first cells, and about how many votes they will take."""
    count, centres, reaches = tree.first_cells(_PLAN_LIMIT)
    costs = [prices.cell(guess(z), float(reach), 0) for z, reach in zip(centres, reaches, strict=True)]
    return count, count * float(np.mean(costs))


def _examine(search: _Search, wave: list[_Visit]) -> Generator[Event, None, list[tuple[Cell, Reason]]]:
    """Cast votes at the cells of a wave until each passes, is split, or fails for good; those that did not pass."""
    run = search.run
    for visit in wave:
        yield CellStarted(visit.cell)
    failures: list[tuple[Cell, Reason]] = []
    for stage, size in enumerate(run.monitor.sizes):
        finished = yield from cast_stages(run, [visit.tally for visit in wave], size)
        undecided: list[_Visit] = []
        for visit, got_there in zip(wave, finished, strict=True):
            if not got_there:
                failures.append(_waiting(search, visit))
                continue
            reason = yield from _decide(search, visit, stage)
            if reason == "more":
                undecided.append(visit)
            elif reason is not None:
                failures.append((visit.cell, reason))
        wave = undecided
        if failures and not run.complete:
            # The region is lost: what is still open in this wave stays open.
            return failures + [_waiting(search, visit) for visit in wave]
        if not wave:
            break
    return failures


def _waiting(search: _Search, visit: _Visit) -> tuple[Cell, Reason]:
    search.record(visit.cell, visit.tally, visit.bound, "waiting")
    ended = Reason(code="budget", message="the budget of samples ended; continue with a larger one")
    return visit.cell, search.run.control.stop_reason() or ended


def _decide(
    search: _Search, visit: _Visit, stage: int
) -> Generator[Event, None, Reason | Literal["more"] | None]:
    """What follows from the votes of a stage: None where the cell is settled, "more" votes, or why it failed."""
    run, cell, tally = search.run, visit.cell, visit.tally
    level = search.levels.level(cell.rank, run.alpha)
    visit.bound = bound = max(visit.bound, run.monitor.bound(tally.n_a, stage, level))
    yield VotesCounted(cell, tally.n, tally.n_a, bound, run.control.samples)
    if bound > cell.needed:
        search.covered += visit.mass
        search.record(cell, tally, bound, "passed")
        yield CellDecided(cell, True, tally.n, tally.n_a, bound, search.covered)
        return None
    last = stage + 1 == len(run.monitor.sizes)
    choice = _choose(search, cell, tally, last=last)
    if choice == "split":
        search.record(cell, tally, bound, "refined")
        yield CellRefined(cell, search.split(cell, tally.guess, visit.mass))
        return None
    if choice == "more" and not last:
        return "more"
    search.record(cell, tally, bound, "failed")
    yield CellDecided(cell, False, tally.n, tally.n_a, bound, search.covered)
    return _why(search, cell, tally)


def _choose(search: _Search, cell: Cell, tally: Tally, *, last: bool) -> str:
    """ "more" votes here, "split", or "fail": whatever is cheapest if p_A is as it looks."""
    prices, run = search.prices, search.run
    can_split = cell.rank + 1 < search.tree.ranks
    guess = tally.guess(cell)
    hope = upper_bound(tally.n_a, tally.n, _HOPE)
    for p in (guess, hope):
        stay = prices.stay(p, cell.reach, cell.rank, tally.n)
        split = prices.split(p, cell.reach, cell.rank)
        if min(stay, split) == math.inf:
            continue
        if min(stay, split) > run.patience:
            if p == hope:
                return "fail"
        elif p == guess:
            return "more" if stay <= split else "split"
        else:
            return "split" if last else "more"
    # The centre is beyond hope. Halves nearer to the identity may still pass where the largest radius is sought.
    return "split" if run.largest and can_split else "fail"


def _why(search: _Search, cell: Cell, tally: Tally) -> Reason:
    run = search.run
    edge = run.transform.describe(cell.centre)
    estimate = tally.n_a / max(tally.n, 1)
    inside = bool(search.tree.region.contains(cell.centre[None])[0])
    if upper_bound(tally.n_a, tally.n, 1e-3) < 0.5 and inside:
        return Reason(
            code="wrong-class", message=f"at {edge} the class gets only {estimate:.1%} of the votes"
        )
    cost = search.prices.cell(upper_bound(tally.n_a, tally.n, _HOPE), cell.reach, cell.rank)
    if math.isfinite(cost):
        return Reason(
            code="not-confident",
            message=f"at {edge} p_A is about {estimate:.3f}: this part of the region alone would need at least "
            f"{cost:,.0f} samples",
        )
    return Reason(
        code="not-confident",
        message=f"at {edge} p_A is about {estimate:.3f}, too close to 1/2 for any cell: train a surer model, "
        "choose another sigma, or a smaller radius",
    )


def _outcome(search: _Search, reasons: list[Reason], attack: AttackRecord | None) -> Outcome:
    run = search.run
    unresolved = [search.distance(entry[3]) for entry in search.queue]
    blocked = min([search.failed_at, *unresolved], default=math.inf)
    factor = 1.0 if math.isinf(blocked) and not reasons and attack is None else 0.0
    if run.largest and not math.isinf(blocked):
        factor = min(1.0, blocked * (1 - 1e-9))
    tree = TreeEvidence(
        start=search.tree.start,
        path_shares=list(search.levels.shares),
        root_radius=_named_radii(run),
        factor=factor,
        cells=sorted(search.records, key=lambda record: (len(record.path), record.path)),
    )
    evidence = tree if run.core is None else GrownEvidence(trees=[*run.core.trees, tree])
    ledger = rank_ledger(search.levels, search.deepest + 1, run.alpha)
    radii = tuple(factor * r for r in run.radii) if run.largest else None
    if attack is not None:
        return Outcome("refuted", evidence, ledger, reasons, radii, attack)
    if factor > 0:
        return Outcome("certified", evidence, ledger, [], radii)
    if run.largest and not reasons:
        reasons = [Reason(code="no-radius", message="no radius could be certified, however small")]
    return Outcome("undecided", evidence, ledger, reasons, radii)
