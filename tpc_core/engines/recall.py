"""Votes that a worker cast before it died: whoever does its work again reads them instead of casting them.

The work begins at its beginning, so it takes the same way as it would have, and ends with the same ledger.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from tpc_core.votes import BLOCK, Assistance, Ballot, Block, Counts, Voter, assistance

Known = Mapping[str, NDArray[np.uint8]]
"""The name of a stream -> its first blocks (blocks, classes)."""


class Recall:
    """Stands between a voter and those who cast for it: blocks that are known are read, the others are cast."""

    def __init__(self, known: Known, others: Assistance | None) -> None:
        self._known, self._others = known, others

    def count(self, voter: Voter, ballots: Sequence[Ballot], blocks: Sequence[Block]) -> Counts:
        read = [self._find(ballots[block.which], block) for block in blocks]
        missing = [block for block, counts in zip(blocks, read, strict=True) if counts is None]
        if not missing:
            return np.stack([counts for counts in read if counts is not None]).astype(np.int64)
        others = self._others
        cast = iter(
            voter.count_here(ballots, missing) if others is None else others.count(voter, ballots, missing)
        )
        return np.stack([next(cast) if counts is None else counts.astype(np.int64) for counts in read])

    def _find(self, ballot: Ballot, block: Block) -> NDArray[np.uint8] | None:
        known = self._known.get(ballot.stream)
        whole = (block.first, block.last) == (0, BLOCK)
        return known[block.index] if known is not None and whole and block.index < len(known) else None


@contextmanager
def recalling(known: Known) -> Iterator[None]:
    """Within this, votes that are known are not cast again."""
    before = assistance.get()
    assistance.set(Recall(known, before) if known else before)
    try:
        yield
    finally:
        assistance.set(before)
