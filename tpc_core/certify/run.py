"""One run: what is asked, who votes, and how votes are cast in batches that can be stopped."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from tpc_core import streams
from tpc_core.certificate.schema import (
    AttackRecord,
    CellRecord,
    CellState,
    Evidence,
    LedgerEntry,
    Prediction,
    Reading,
    Reason,
    Verdict,
)
from tpc_core.certify.control import Control
from tpc_core.certify.core import Core
from tpc_core.certify.events import VotesCounted
from tpc_core.cloud import Cloud
from tpc_core.covers import Cell
from tpc_core.statistics import Monitor
from tpc_core.transforms import Transform
from tpc_core.votes import BLOCK, Ballot, Counts, Voter

_POINTS_PER_BATCH = 1 << 16


@dataclass
class Run:
    """The question and the means to answer it; strategies read it and cast votes through it."""

    voter: Voter
    cloud: Cloud
    classes: tuple[str, ...]
    transform: Transform
    radii: tuple[float, ...]
    largest: bool
    alpha: float
    monitor: Monitor
    control: Control
    batch_size: int
    complete: bool = False
    confirmations: int = 0
    """Attacks put to the test so far; each later one gets half the level of the one before."""
    patience: float = math.inf
    """Votes that one cell may be expected to cost before it is given up."""
    memory: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    """Readings of an earlier run by the key of the cell: {key: {n: n_a}}; they are not cast again."""
    class_memory: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """Votes by class of an earlier top-class test: {n: votes}; they are not cast again."""
    core: Core | None = None
    """What an earlier certificate vouches for already, where the region grew."""

    def cast(self, points: Tensor, stream: str, start: int, stop: int) -> Counts | None:
        """Votes [start, stop) of a stream, batch by batch; None where the run must stop first."""
        total: Counts | None = None
        for _, counts in self.cast_many([Ballot(points, stream, start, stop)]):
            if counts is None:
                return None
            total = counts if total is None else total + counts
        return total

    def cast_many(self, ballots: Sequence[Ballot]) -> Iterator[tuple[int, Counts | None]]:
        """The votes of several ballots, batch by batch: (number of the ballot, some of its votes).

        Where the run must stop first, the last item holds None.
        """
        for batch in _batches(ballots, self.batch_size):
            if self.control.stop_reason() is not None:
                yield batch[0][0], None
                return
            counted = self.voter.count_many([ballot for _, ballot in batch])
            self.control.samples += sum(ballot.stop - ballot.start for _, ballot in batch)
            yield from ((number, counts) for (number, _), counts in zip(batch, counted, strict=True))

    def afford(self, samples: float) -> bool:
        """Whether this many more votes fit into the budget; whole stages only, whatever the batch size."""
        limit = self.control.budget.samples
        return limit is None or self.control.samples + samples <= limit

    def at(self, z: np.ndarray) -> Tensor:
        """The cloud transformed by the parameter z, computed in float64 and rounded once."""
        moved = self.transform.apply(
            self.cloud.points.double(), torch.from_numpy(np.asarray(z, dtype=np.float64))
        )
        return moved.to(torch.float32)


def _batches(ballots: Sequence[Ballot], size: int) -> Iterator[list[tuple[int, Ballot]]]:
    """The ballots, cut and grouped into batches of at most `size` votes."""
    batch: list[tuple[int, Ballot]] = []
    room = size
    for number, ballot in enumerate(ballots):
        start = ballot.start
        while start < ballot.stop:
            stop = min(ballot.stop, start + room)
            batch.append((number, replace(ballot, start=start, stop=stop)))
            room -= stop - start
            start = stop
            if room == 0:
                yield batch
                batch, room = [], size
    if batch:
        yield batch


def default_batch_size(points: int) -> int:
    """About 64k points a batch, in whole blocks: half a second of work on a laptop."""
    return max(BLOCK, _POINTS_PER_BATCH // points // BLOCK * BLOCK)


@dataclass
class Tally:
    """The votes of one cell as they come in, with the stage reached."""

    key: str
    points: Tensor
    target: int
    cell: Cell | None = None
    n: int = 0
    n_a: int = 0
    readings: list[Reading] = field(default_factory=list)

    def guess(self, _cell: object = None) -> float:
        """What p_A looks like from the votes so far; its neighbours' is expected to be the same."""
        return (self.n_a + 0.5) / (self.n + 1)

    def record(self, cell: Cell, bound: float, state: CellState) -> CellRecord:
        """The cell as the certificate keeps it."""
        return CellRecord(
            path=cell.path,
            low=list(cell.low),
            high=list(cell.high),
            reach=cell.reach,
            needed=cell.needed,
            readings=self.readings,
            lower_bound=bound,
            state=state,
        )

    def read(self) -> None:
        """Note the count at a stage, where a bound may be read."""
        self.readings.append(Reading(n=self.n, n_a=self.n_a))


def cast_stage(run: Run, tally: Tally, size: int) -> Generator[VotesCounted, None, bool]:
    """Bring a tally to `size` votes, reporting after every batch; False where the run must stop first."""
    (finished,) = yield from cast_stages(run, [tally], size)
    return finished


def cast_stages(run: Run, tallies: Sequence[Tally], size: int) -> Generator[VotesCounted, None, list[bool]]:
    """Bring several tallies to `size` votes together; says which of them got there.

    A stage that does not fit into the budget is not begun, so that the verdict does not depend on batches.
    """
    finished = [False] * len(tallies)
    ballots: list[Ballot] = []
    voting: list[int] = []
    asked = 0
    for number, tally in enumerate(tallies):
        remembered = run.memory.get(tally.key, {}).get(size)
        if remembered is not None:
            tally.n, tally.n_a = size, remembered
            tally.read()
            finished[number] = True
        elif run.afford(asked + size - tally.n):
            asked += size - tally.n
            ballots.append(Ballot(tally.points, streams.cell(tally.key), tally.n, size))
            voting.append(number)
        else:
            break
    counted = [(tallies[number].n, tallies[number].n_a) for number in voting]
    for which, counts in run.cast_many(ballots):
        if counts is None:
            break
        tally = tallies[voting[which]]
        n, n_a = counted[which]
        counted[which] = n, n_a = n + int(counts.sum()), n_a + int(counts[tally.target])
        if n == size:
            tally.n, tally.n_a = n, n_a
            tally.read()
            finished[voting[which]] = True
        yield VotesCounted(tally.cell, n, n_a, None, run.control.samples)
    return finished


@dataclass(frozen=True)
class Outcome:
    """What a strategy found, before it is put into a certificate."""

    verdict: Verdict
    evidence: Evidence
    ledger: list[LedgerEntry]
    reasons: list[Reason] = field(default_factory=list)
    radii: tuple[float, ...] | None = None
    """The radii found, where the largest were asked for."""
    attack: AttackRecord | None = None


def named(values: np.ndarray | list[int], classes: tuple[str, ...]) -> dict[str, int]:
    """Votes by class name, without the classes that got none."""
    return {classes[i]: int(v) for i, v in enumerate(values) if v > 0}


def predict(run: Run, samples: int) -> Prediction | None:
    """y_A: the top class of the smoothed classifier, on a stream used for nothing else."""
    counts = run.cast(run.cloud.points, streams.SELECT, 0, samples) if run.afford(samples) else None
    if counts is None:
        return None
    best = int(np.argmax(counts))
    return Prediction(index=best, name=run.classes[best], votes=named(counts, run.classes), samples=samples)
