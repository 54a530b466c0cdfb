"""One run: a question, who votes, and the ledger that the votes go into."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tpc_core.certificate.schema import Certificate, CloudRecord, LedgerRecord, ModelRecord, Stop
from tpc_core.certify.control import Control
from tpc_core.certify.events import Event, Predicted
from tpc_core.covers.lattice import MOST_FIRST_CELLS
from tpc_core.ledger import SELECT, Ledger, next_size, stream_of
from tpc_core.proofs import Claim, Proof
from tpc_core.proofs.judgement import judge
from tpc_core.question import Question
from tpc_core.version import VERSION
from tpc_core.votes import BLOCK, Ballot, BaseClassifier, Voter, require_unchanged

if TYPE_CHECKING:
    from torch import Tensor

_POINTS_PER_BATCH = 1 << 16


@dataclass(frozen=True)
class Request:
    """Blocks wanted at a place, on one cloud (N, 3): its tally is to grow by so many."""

    place: str
    points: Tensor
    blocks: int


@dataclass
class Run:
    """The question and the means to answer it; searches read it and cast votes through it."""

    question: Question
    model: BaseClassifier
    voter: Voter
    proof: Proof
    ledger: Ledger
    control: Control
    batch_size: int | None = None
    """Votes that are cast between two looks at the stop button; the certificate does not depend on it."""

    @property
    def claim(self) -> Claim:
        return self.proof.claim

    @property
    def target(self) -> int:
        """The index of y_A; it is chosen before anything else."""
        target = self.ledger.target
        assert target is not None
        return target

    # -- votes ---------------------------------------------------------------------------------------------------

    def cast(self, requests: Sequence[Request]) -> Iterator[str]:
        """Lengthen tallies, batch by batch: the places that just grew. It ends early where the run must stop.

        What a budget of votes does not pay for is not begun.
        """
        for batch in self._batches(requests):
            if self.control.stop(self.ledger.samples) is not None:
                return
            ballots = []
            for request in batch:
                done = self.ledger.tally(request.place).n
                stream = stream_of(request.place)
                ballots.append(Ballot(request.points, stream, done, done + BLOCK * request.blocks))
            for request, ballot, blocks in zip(batch, ballots, self.voter.cast(ballots), strict=True):
                self.ledger.add(request.place, blocks, ballot.start // BLOCK)
                yield request.place

    def affordable(self, votes: int) -> bool:
        """Whether this many more votes fit into the budget."""
        limit = self.control.budget.samples
        return limit is None or self.ledger.samples + votes <= limit

    def _batches(self, requests: Sequence[Request]) -> Iterator[list[Request]]:
        """The requests, cut and grouped so that a batch takes about half a second, and within the budget."""
        size = self.batch_blocks
        limit = self.control.budget.samples
        left = None if limit is None else max(0, limit - self.ledger.samples) // BLOCK
        batch: list[Request] = []
        room = size
        for request in requests:
            blocks = request.blocks if left is None else min(request.blocks, left)
            left = None if left is None else left - blocks
            while blocks:
                part = min(blocks, room)
                batch.append(Request(request.place, request.points, part))
                blocks -= part
                room -= part
                if room == 0 or blocks:
                    yield batch
                    batch, room = [], size
        if batch:
            yield batch

    @property
    def batch_blocks(self) -> int:
        """Blocks of a batch."""
        size = self.batch_size or _POINTS_PER_BATCH // len(self.claim.cloud)
        return max(1, size // BLOCK)

    @property
    def cell_limit(self) -> int:
        """The most first cells that a cover may have."""
        return min(self.control.budget.cells or MOST_FIRST_CELLS, MOST_FIRST_CELLS)

    def choose_class(self) -> Generator[Event, None, bool]:
        """y_A, on a stream used for nothing else; False where the run must stop first."""
        while (size := next_size(self.ledger.tally(SELECT), self.ledger.task)) is not None:
            missing = size - self.ledger.tally(SELECT).n
            if not self.affordable(missing):
                return False
            for _ in self.cast([Request(SELECT, self.claim.cloud.points, missing // BLOCK)]):
                pass
            if self.ledger.tally(SELECT).n < size:
                return False
        yield Predicted(self.class_name, self.ledger.samples)
        return True

    @property
    def class_name(self) -> str | None:
        """y_A by name."""
        target = self.ledger.target
        return None if target is None else list(self.model.classes)[target]

    # -- the certificate -----------------------------------------------------------------------------------------

    def stop_reason(self) -> Stop:
        """Why votes ended before the search did."""
        return self.control.stop(self.ledger.samples) or "budget"

    def certificate(self, stopped: Stop) -> Certificate:
        """The certificate of what the ledger holds now; InvalidValue where the network changed while it voted."""
        require_unchanged(self.model, after_votes=True)
        classes = list(self.model.classes)
        question, ledger = self.question, self.ledger
        judgement = judge(
            self.proof,
            ledger,
            asked=question.radius,
            largest=question.options.largest,
            stopped=stopped,
            classes=classes,
        )
        return Certificate(
            library=VERSION,
            verdict=judgement.verdict,
            sentence=judgement.sentence,
            radius=judgement.radius,
            stopped=stopped,
            question=question,
            family=self.claim.family,
            prediction=self.class_name,
            ledger=LedgerRecord.of(ledger),
            model=ModelRecord.of(self.model, self.voter.smoothing.to_json()),
            cloud=CloudRecord.of(self.claim.cloud),
            device=self.voter.device.type,
            samples=ledger.samples,
            seconds=round(self.control.seconds, 6),
        ).sealed()


def point_of(z: np.ndarray) -> tuple[float, ...]:
    """A parameter as a ledger holds it."""
    return tuple(float(v) for v in np.asarray(z, dtype=np.float64))
