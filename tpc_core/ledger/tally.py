"""The votes at one place, block by block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tpc_core.errors import InvalidCertificate
from tpc_core.votes import BLOCK

Counts = NDArray[np.int64]


class Tally:
    """Counts by class of every block: (blocks, classes), or (blocks, N, classes) for segmentation.

    A tally only grows: its blocks are the first ones of its stream.
    """

    def __init__(self, shape: tuple[int, ...], blocks: Counts | NDArray[np.uint8] | None = None) -> None:
        self.shape = shape
        self._parts: list[NDArray[np.uint8]] = []
        self.size = 0
        self._total = np.zeros(shape, dtype=np.int64)
        if blocks is not None:
            self.add(blocks)

    def add(self, blocks: Counts | NDArray[np.uint8]) -> None:
        """Append blocks (b, *shape) that were just cast."""
        if blocks.shape[1:] != self.shape:
            raise ValueError(f"blocks of shape {blocks.shape[1:]} do not fit a tally of shape {self.shape}")
        self._parts.append(blocks.astype(np.uint8, copy=False))
        self.size += len(blocks)
        self._total = self._total + blocks.sum(axis=0, dtype=np.int64)
        self.__dict__.pop("blocks", None)

    @cached_property
    def blocks(self) -> NDArray[np.uint8]:
        """All blocks, in order."""
        if not self._parts:
            return np.zeros((0, *self.shape), dtype=np.uint8)
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        return self._parts[0]

    @property
    def n(self) -> int:
        """How many votes there are (for each point, in segmentation)."""
        return BLOCK * self.size

    @property
    def total(self) -> Counts:
        """The votes by class."""
        return self._total

    def readings(self, target: int) -> tuple[Counts, Counts]:
        """(k, n) after every block: the votes for one class, and all votes."""
        hits = np.cumsum(self.blocks[:, target].astype(np.int64))
        return hits, BLOCK * np.arange(1, self.size + 1, dtype=np.int64)

    def to_json(self) -> list[Any]:
        """Each block as [class, votes, class, votes, ...]; for segmentation one such list for each point."""
        return [_written(block) for block in self.blocks]

    @staticmethod
    def from_json(blocks: Sequence[Any], shape: tuple[int, ...]) -> Tally:
        """Read blocks back, each checked as if a stranger had typed it."""
        read = np.zeros((len(blocks), *shape), dtype=np.uint8)
        for number, block in enumerate(blocks):
            if len(shape) == 1:
                _read(block, read[number])
                continue
            if not isinstance(block, list) or len(block) != shape[0]:
                raise InvalidCertificate(f"a block of votes is for {shape[0]} points")
            for point, votes in enumerate(block):
                _read(votes, read[number, point])
        return Tally(shape, read)


def _written(block: NDArray[np.uint8]) -> list[Any]:
    if block.ndim > 1:
        return [_written(point) for point in block]
    voted = np.flatnonzero(block)
    return [int(v) for index in voted for v in (index, block[index])]


def _read(block: Iterable[Any], into: NDArray[np.uint8]) -> None:
    values = list(block) if isinstance(block, list) else []
    pairs = list(zip(values[0::2], values[1::2], strict=False))
    whole = all(type(v) is int for v in values) and len(values) == 2 * len(pairs)
    if not whole or sum(votes for _, votes in pairs) != BLOCK:
        raise InvalidCertificate(f"a block holds {BLOCK} votes, by class")
    previous = -1
    for index, votes in pairs:
        if not (previous < index < len(into) and 0 < votes <= BLOCK):
            raise InvalidCertificate("a block names its classes once each, in order, with the votes they got")
        into[index], previous = votes, index
