"""The votes: shake the cloud, ask the base classifier, count its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

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
    """Others who cast votes for a voter."""

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
        self._classifier = base.classifier(device)

    @property
    def model_digest(self) -> str:
        return self.base.digest

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
        others = assistance.get() if self.device.type == "cpu" else None
        counts = (self.count_here if others is None else partial(others.count, self))(ballots, blocks)
        owners = np.array([block.which for block in blocks], dtype=np.int64)
        return [counts[owners == which] for which in range(len(ballots))]

    def count_here(self, ballots: Sequence[Ballot], blocks: Sequence[Block]) -> Counts:
        """The votes of some blocks, cast in this process."""
        rows = ballots[0].points.shape[0] if ballots else 0
        shape = (rows, self.num_classes) if self.per_point else (self.num_classes,)
        counts = np.zeros((len(blocks), *shape), dtype=np.int64)
        if self.device.type == "cpu":
            votes = share_out(lambda block: self._count_block(ballots[block.which], block), blocks)
            for number, counted in enumerate(votes):
                counts[number] = counted
        elif blocks:
            with torch.inference_mode():
                counts += self._count_on_device(ballots, blocks).cpu().numpy()
            _require_answers(bool((counts < 0).any()))
        return counts

    def _count_block(self, ballot: Ballot, block: Block) -> Counts:
        """One block on one core."""
        noise = NoiseStream(self.seed, ballot.stream).block(block.index)
        with torch.inference_mode():
            points = ballot.points.float()
            shaken = self.smoothing.perturb(points.expand(BLOCK, *points.shape), noise)
            logits = self._classifier(shaken)
            _require_answers(bool(torch.isnan(logits).any()))
            answers = logits.argmax(dim=-1)[block.first : block.last].numpy()
        if not self.per_point:
            return np.bincount(answers, minlength=self.num_classes)
        by_point: Counts = (answers[..., None] == np.arange(self.num_classes)).sum(axis=0)
        return by_point

    def _count_on_device(self, ballots: Sequence[Ballot], blocks: Sequence[Block]) -> Tensor:
        """All blocks, pass by pass. What the passes need is sent before the first one, and nothing is read back.

        Where the network answered NaN, all counts are -1.
        """
        keys = stream_keys([NoiseStream(self.seed, ballot.stream) for ballot in ballots])
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
        broken = torch.zeros((), dtype=torch.bool, device=self.device)
        for part, own in zip(plan.split(BLOCKS_PER_PASS), number, strict=True):
            which, index, first, last = (part[:, column] for column in range(4))
            noise = ManyBlocksNoise(part[:, 4:], index)
            shaken = self.smoothing.perturb(clouds[which].repeat_interleave(BLOCK, dim=0), noise)
            logits = self._classifier(shaken)
            broken |= torch.isnan(logits).any()
            answers = logits.argmax(dim=-1).view(len(which) * BLOCK, -1)
            counted = (place >= first[:, None]) & (place < last[:, None])
            slot = (own * self.num_classes).repeat_interleave(BLOCK)[:, None] + answers
            totals.scatter_add_(0, slot, counted.view(-1, 1).expand_as(slot).long())
        totals = totals.masked_fill(broken, -1).view(len(plan), self.num_classes, -1)[: len(blocks)]
        return totals.transpose(1, 2) if self.per_point else totals[..., 0]


def _require_answers(broken: bool) -> None:
    """NaN is no vote: the largest of NaNs is the first class, which would get votes that nobody gave it."""
    if broken:
        raise InvalidValue("the network answers NaN to a shaken cloud, which is a vote for no class")


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
