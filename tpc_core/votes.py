"""The votes: shake the cloud, ask the base classifier, count its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tpc_core.errors import InvalidValue
from tpc_core.smoothing import NoiseStream, Smoothing

Counts = NDArray[np.int64]

BLOCK = 32
"""Votes per block. Every block is drawn from its own noise and classified in a pass of one fixed shape, so the
answer to vote number i never depends on how many votes were asked for at once."""

_BLOCKS_PER_PASS = {"cpu": 1, "cuda": 64}


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
        """Logits (B, classes) of clouds (B, N, 3); (B, N, classes) for segmentation."""
        ...


@dataclass(frozen=True)
class Ballot:
    """A request for votes number [start, stop) of one stream, on one transformed cloud (N, 3)."""

    points: Tensor
    stream: str
    start: int
    stop: int


class Voter:
    """Counts the votes of a base classifier under a smoothing distribution."""

    def __init__(
        self, base: BaseClassifier, smoothing: Smoothing, *, seed: int, device: torch.device
    ) -> None:
        self.model_digest = base.digest
        self.smoothing = smoothing
        self.seed = seed
        self.device = device
        self.num_classes = len(base.classes)
        self.per_point = base.task == "segmentation"
        self.evaluations = 0
        self._classifier = base.classifier(device)
        self._blocks_per_pass = _BLOCKS_PER_PASS.get(device.type, 1)

    def count(self, points: Tensor, stream: str, start: int, stop: int) -> Counts:
        """The votes (classes,), or (N, classes) for segmentation, of samples [start, stop) of a stream."""
        return self.count_many([Ballot(points, stream, start, stop)])[0]

    @torch.inference_mode()
    def count_many(self, ballots: Sequence[Ballot]) -> list[Counts]:
        """The votes of several ballots; their blocks share forward passes where the device gains by it."""
        rows = ballots[0].points.shape[0] if ballots else 0
        shape = (len(ballots), rows, self.num_classes) if self.per_point else (len(ballots), self.num_classes)
        totals = torch.zeros(shape, dtype=torch.int64, device=self.device)
        for group in _chunks(self._blocks(ballots), self._blocks_per_pass):
            shaken = [self._shake(ballots[which], index) for which, index in group]
            # A short last pass is filled up: kernels may round differently for another shape.
            missing = self._blocks_per_pass - len(shaken)
            answers = self._classifier(torch.cat(shaken + shaken[-1:] * missing)).argmax(dim=-1)
            self.evaluations += BLOCK * len(group)
            for (which, index), answer in zip(group, answers.split(BLOCK), strict=False):
                ballot = ballots[which]
                first, last = max(ballot.start - index * BLOCK, 0), min(ballot.stop - index * BLOCK, BLOCK)
                totals[which] += self._tally(answer[first:last])
        return list(totals.cpu().numpy())

    def _blocks(self, ballots: Sequence[Ballot]) -> Iterator[tuple[int, int]]:
        for which, ballot in enumerate(ballots):
            if not 0 <= ballot.start <= ballot.stop:
                raise InvalidValue(f"cannot draw votes [{ballot.start}, {ballot.stop})")
            if ballot.start < ballot.stop:
                for index in range(ballot.start // BLOCK, (ballot.stop - 1) // BLOCK + 1):
                    yield which, index

    def _shake(self, ballot: Ballot, index: int) -> Tensor:
        noise = NoiseStream(self.seed, ballot.stream, self.device).block(index)
        points = ballot.points.to(self.device, torch.float32)
        return self.smoothing.perturb(points.expand(BLOCK, *points.shape), noise)

    def _tally(self, answers: Tensor) -> Tensor:
        if self.per_point:
            return torch.nn.functional.one_hot(answers, self.num_classes).sum(dim=0)
        return torch.bincount(answers, minlength=self.num_classes)


def _chunks(items: Iterator[tuple[int, int]], size: int) -> Iterator[list[tuple[int, int]]]:
    group: list[tuple[int, int]] = []
    for item in items:
        group.append(item)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def resolve_device(name: str = "auto") -> torch.device:
    """The device of a name: auto takes CUDA where there is one."""
    if name not in ("auto", "cpu", "cuda"):
        raise InvalidValue(f"device must be auto, cpu or cuda, not {name!r}")
    if name == "cuda" and not torch.cuda.is_available():
        raise InvalidValue("no CUDA device is available here; use --device auto or cpu")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")
