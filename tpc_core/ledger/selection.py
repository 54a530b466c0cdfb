"""How y_A is chosen: by the majority of a stream of its own, final before the first vote of any other place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tpc_core.ledger.tally import Tally
from tpc_core.votes import BLOCK

SELECTION: dict[str, tuple[tuple[int, int], ...]] = {
    "classification": ((32, 12), (128, 24), (512, 0)),
    "segmentation": ((32, 12), (128, 0)),
}
"""After how many votes the choice ends if the winner leads by so many (in segmentation, at every point)."""


def choose(tally: Tally) -> NDArray[np.int64]:
    """The winner: one class, or one for each point; ties go to the lower index."""
    return np.asarray(np.argmax(tally.total, axis=-1))


def ends_at(tally: Tally, task: str) -> int | None:
    """The number of votes at which the choice ended: the first of its sizes where the lead is large enough.

    None where it has not ended yet.
    """
    for size, lead in SELECTION[task]:
        if tally.n < size:
            return None
        if _lead(tally, size) >= lead:
            return size
    return None


def next_size(tally: Tally, task: str) -> int | None:
    """Up to how many votes the choice goes on; None where it has ended."""
    if ends_at(tally, task) is not None:
        return None
    return next(size for size, _ in SELECTION[task] if size > tally.n)


def _lead(tally: Tally, size: int) -> int:
    """The lead of the first class over the second after `size` votes; the smallest over all points."""
    votes = tally.blocks[: size // BLOCK].astype(np.int64).sum(axis=0)
    if votes.shape[-1] < 2:
        return size
    ordered = np.sort(votes, axis=-1)
    return int(np.min(ordered[..., -1] - ordered[..., -2]))
