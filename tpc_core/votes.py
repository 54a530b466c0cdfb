"""The votes: shake the cloud, ask the base classifier, count its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tpc_core.errors import InvalidValue
from tpc_core.lazy_torch import torch
from tpc_core.machinery.thread_pool import share_out
from tpc_core.smoothing import ManyBlocksNoise, NoiseStream, Smoothing, stream_keys

if TYPE_CHECKING:
    from torch import Tensor

Counts = NDArray[np.int64]

BLOCK = 32
"""Votes per block. Every block is drawn from its own noise and classified in a pass of one fixed shape, so the
answer to vote number i never depends on how many votes were asked for at once.

On a CPU a block is also what one core computes at a time: its activations stay in the cache, larger ones do not."""

BLOCKS_PER_PASS = 64
"""Blocks that go through the network together on any other device, which needs much work at once."""


class BaseClassifier(Protocol):
    """What a certificate needs to know of a model h."""

    @property
    def name(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def classes(self) -> Sequence[str]: ...
    @property
    def task(self) -> str:
        """ "classification" (one label a cloud) or "segmentation" (one label a point)."""
        ...

    @property
    def smoothing(self) -> Smoothing: ...

    def classifier(self, device: torch.device | str = "cpu") -> Callable[[Tensor], Tensor]:
        """Logits (B, classes) of clouds (B, N, 3); (B, N, classes) for segmentation.

        On the CPU it is called from several threads at once.
        """
        ...


@runtime_checkable
class Watched(Protocol):
    """A model that knows what it was when its digest was taken."""

    def check_unchanged(self, *, after_votes: bool = False) -> None:
        """InvalidValue where it is not the network any more that its digest names."""
        ...


def require_unchanged(model: BaseClassifier, *, after_votes: bool = False) -> None:
    """What is certified is said of a digest: a network that was trained on since, or that remembers, has another."""
    if isinstance(model, Watched):
        model.check_unchanged(after_votes=after_votes)


@dataclass(frozen=True)
class Ballot:
    """A request for votes number [start, stop) of one stream, on one transformed cloud (N, 3)."""

    points: Tensor
    stream: str
    start: int
    stop: int


@dataclass(frozen=True)
class Block:
    """Votes [first, last) of block number `index`, for the ballot number `which`."""

    which: int
    index: int
    first: int
    last: int


class Assistance(Protocol):
    """Others who cast votes for a voter, or with it."""

    def count(self, voter: Voter, ballots: Sequence[Ballot], blocks: Sequence[Block]) -> Counts: ...


assistance: ContextVar[Assistance | None] = ContextVar("assistance", default=None)
"""Who helps in this thread; nobody but in a worker of an engine."""


class Voter:
    """Counts the votes of a base classifier under a smoothing distribution."""

    def __init__(
        self, base: BaseClassifier, smoothing: Smoothing, *, seed: int, device: torch.device
    ) -> None:
        self.base = base
        self.smoothing = smoothing
        self.seed = seed
        self.device = device
        self.num_classes = len(base.classes)
        self.per_point = base.task == "segmentation"
        self.evaluations = 0
        require_unchanged(base)
        self.classifier = base.classifier(device)

    def for_seed(self, seed: int) -> Voter:
        """A voter of the same network, made ready once, with other noise."""
        other = copy(self)
        other.seed, other.evaluations = seed, 0
        return other

    @property
    def model_digest(self) -> str:
        return self.base.digest

    @property
    def in_passes(self) -> bool:
        """Whether many blocks go through the network together; on a CPU each core takes them one by one."""
        return self.device.type != "cpu"

    def count(self, points: Tensor, stream: str, start: int, stop: int) -> Counts:
        """The votes (classes,), or (N, classes) for segmentation, of samples [start, stop) of a stream."""
        blocks = self.cast([Ballot(points, stream, start, stop)])[0]
        return np.asarray(blocks.sum(axis=0))

    def cast(self, ballots: Sequence[Ballot]) -> list[Counts]:
        """The votes of several ballots, block by block: (blocks, classes), or (blocks, N, classes).

        Their clouds have the same number of points. Blocks share the cores of a CPU, or the passes of another device.
        """
        blocks = [block for which, ballot in enumerate(ballots) for block in _blocks(which, ballot)]
        self.evaluations += BLOCK * len(blocks)
        others = assistance.get()
        counts = (self.count_here if others is None else partial(others.count, self))(ballots, blocks)
        owners = np.array([block.which for block in blocks], dtype=np.int64)
        return [counts[owners == which] for which in range(len(ballots))]

    def count_here(self, ballots: Sequence[Ballot], blocks: Sequence[Block]) -> Counts:
        """The votes of some blocks, cast in this process."""
        if self.in_passes:
            return answered(count_together([Asked(self, ballots, blocks)])[0])
        counts = self._no_votes(ballots, blocks)
        votes = share_out(lambda block: self._count_block(ballots[block.which], block), blocks)
        for number, counted in enumerate(votes):
            counts[number] = counted
        return counts

    def _no_votes(self, ballots: Sequence[Ballot], blocks: Sequence[Block]) -> Counts:
        rows = ballots[0].points.shape[0] if ballots else 0
        shape = (rows, self.num_classes) if self.per_point else (self.num_classes,)
        return np.zeros((len(blocks), *shape), dtype=np.int64)

    def _count_block(self, ballot: Ballot, block: Block) -> Counts:
        """One block on one core."""
        noise = NoiseStream(self.seed, ballot.stream).block(block.index)
        with torch.inference_mode():
            points = ballot.points.float()
            shaken = self.smoothing.perturb(points.expand(BLOCK, *points.shape), noise)
            logits = self.classifier(shaken)
            _require_answers(bool(torch.isnan(logits).any()))
            answers = logits.argmax(dim=-1)[block.first : block.last].numpy()
        if not self.per_point:
            return np.bincount(answers, minlength=self.num_classes)
        by_point: Counts = (answers[..., None] == np.arange(self.num_classes)).sum(axis=0)
        return by_point

    def _count_on_device(
        self, ballots: Sequence[Ballot], blocks: Sequence[Block], seeds: Sequence[int] | None = None
    ) -> Tensor:
        """All blocks, pass by pass. What the passes need is sent before the first one, and nothing is read back.

        `seeds` are those of the ballots, where they are of several voters. A block to which the network answered NaN
        has counts of -1.
        """
        streams = zip(seeds or [self.seed] * len(ballots), ballots, strict=True)
        keys = stream_keys([NoiseStream(seed, ballot.stream) for seed, ballot in streams])
        plan = torch.tensor([(b.which, b.index, b.first, b.last, *keys[b.which]) for b in blocks])
        # A short last pass is filled up with blocks that count no vote: another shape may round differently.
        plan = torch.cat([plan, plan[-1:].repeat(-len(plan) % BLOCKS_PER_PASS, 1)])
        plan[len(blocks) :, 2:4] = 0
        plan = plan.to(self.device)
        clouds = torch.stack([ballot.points for ballot in ballots]).to(self.device, torch.float32)
        columns = clouds.shape[1] if self.per_point else 1
        totals = torch.zeros(len(plan) * self.num_classes, columns, dtype=torch.int64, device=self.device)
        place = torch.arange(BLOCK, device=self.device)
        number = torch.arange(len(plan), device=self.device).split(BLOCKS_PER_PASS)
        broken = []
        for part, own in zip(plan.split(BLOCKS_PER_PASS), number, strict=True):
            which, index, first, last = (part[:, column] for column in range(4))
            noise = ManyBlocksNoise(part[:, 4:], index)
            shaken = self.smoothing.perturb(clouds[which].repeat_interleave(BLOCK, dim=0), noise)
            logits = self.classifier(shaken)
            broken.append(torch.isnan(logits).view(len(which), -1).any(dim=1))
            answers = logits.argmax(dim=-1).view(len(which) * BLOCK, -1)
            counted = (place >= first[:, None]) & (place < last[:, None])
            slot = (own * self.num_classes).repeat_interleave(BLOCK)[:, None] + answers
            totals.scatter_add_(0, slot, counted.view(-1, 1).expand_as(slot).long())
        totals = totals.view(len(plan), self.num_classes, -1)
        totals = totals.masked_fill(torch.cat(broken)[:, None, None], -1)[: len(blocks)]
        return totals.transpose(1, 2) if self.per_point else totals[..., 0]


@dataclass(frozen=True)
class Asked:
    """What one voter is asked for."""

    voter: Voter
    ballots: Sequence[Ballot]
    blocks: Sequence[Block]

    @property
    def company(self) -> tuple[object, ...]:
        """What must be the same for votes that share a pass: network, smoothing, device and size of the clouds."""
        voter = self.voter
        points = self.ballots[0].points.shape if self.ballots else None
        return id(voter.classifier), voter.smoothing, voter.device, points


def count_together(asked: Sequence[Asked]) -> list[Counts]:
    """The votes that several voters of one company are asked for, in passes that they share.

    A vote is the same in any company: its noise is its own stream's, and every pass has one shape.
    """
    voter = asked[0].voter
    ballots = [ballot for each in asked for ballot in each.ballots]
    seeds = [each.voter.seed for each in asked for _ in each.ballots]
    firsts = np.cumsum([0, *(len(each.ballots) for each in asked)])
    blocks = [
        replace(block, which=block.which + int(first))
        for each, first in zip(asked, firsts, strict=False)
        for block in each.blocks
    ]
    counts = voter._no_votes(ballots, blocks)
    if blocks:
        with torch.inference_mode():
            counts += voter._count_on_device(ballots, blocks, seeds).cpu().numpy()
    ends = np.cumsum([len(each.blocks) for each in asked])
    return np.split(counts, ends[:-1])


def answered(counts: Counts) -> Counts:
    """Counts of a device, or InvalidValue where the network answered NaN."""
    _require_answers(bool((counts < 0).any()))
    return counts


def _require_answers(broken: bool) -> None:
    """NaN is no vote: the largest of NaNs is the first class, which would get votes that nobody gave it."""
    if broken:
        raise InvalidValue("the network answers NaN to a cloud with noise, and NaN is not a vote for a class")


def _blocks(which: int, ballot: Ballot) -> Iterator[Block]:
    if not 0 <= ballot.start <= ballot.stop:
        raise InvalidValue(f"cannot draw votes [{ballot.start}, {ballot.stop})")
    for index in range(ballot.start // BLOCK, -(-ballot.stop // BLOCK) if ballot.start < ballot.stop else 0):
        first, last = max(ballot.start - index * BLOCK, 0), min(ballot.stop - index * BLOCK, BLOCK)
        yield Block(which, index, first, last)


def resolve_device(name: str = "auto") -> torch.device:
    """The device of a name: auto takes CUDA where there is one."""
    if name not in ("auto", "cpu", "cuda"):
        raise InvalidValue(f"device must be auto, cpu or cuda, not {name!r}")
    if name == "cuda" and not torch.cuda.is_available():
        raise InvalidValue("no CUDA device is available here; use --device auto or cpu")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")
