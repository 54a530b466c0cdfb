"""A voter that never casts the same vote twice: several radii of one object share their votes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import torch

from tpc_core.smoothing import Smoothing
from tpc_core.votes import Ballot, BaseClassifier, Counts, Voter

Key = tuple[bytes, str, int, int]


class RecallingVoter(Voter):
    """Remembers the counts of every ballot of one object.

    Votes are addressed by cloud, stream and number, so an answer from memory is the answer that a new count
    would give: a certificate that shares votes is the same, to the bit, as one made alone.
    """

    def __init__(
        self, base: BaseClassifier, smoothing: Smoothing, *, seed: int, device: torch.device
    ) -> None:
        super().__init__(base, smoothing, seed=seed, device=device)
        self._memory: dict[Key, Counts] = {}

    def count_many(self, ballots: Sequence[Ballot]) -> list[Counts]:
        """The votes of several ballots; only those never seen before are cast."""
        keys = [_key(ballot) for ballot in ballots]
        new = {key: ballot for key, ballot in zip(keys, ballots, strict=True) if key not in self._memory}
        if new:
            self._memory.update(zip(new, super().count_many(list(new.values())), strict=True))
        return [self._memory[key].copy() for key in keys]


def _key(ballot: Ballot) -> Key:
    points = ballot.points.detach().cpu().contiguous().numpy()
    digest = hashlib.blake2b(points.tobytes(), digest_size=16).digest()
    return digest, ballot.stream, ballot.start, ballot.stop
