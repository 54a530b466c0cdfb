"""Whose turn is next: owners take turns, however much work each of them has waiting."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from dataclasses import dataclass

PROMPT, USUAL, IDLE = 0, 1, 2
"""Ranks: somebody waits for it at their page; what was asked for; what may wait until nobody asks for anything."""

QUANTUM = 1.0
"""Seconds that a turn takes at least, while others of the same rank wait."""


@dataclass(frozen=True)
class Waiting:
    """Something that waits: its key, whose it is, and its rank."""

    key: Hashable
    owner: str
    rank: int = USUAL


class FairQueue:
    """Those who wait, in the order in which their turns come: the better rank, then the owner served longest ago.

    An owner who was never served goes before all others of their rank, and what one owner has waiting is taken in the
    order in which it came.
    """

    def __init__(self) -> None:
        self._waiting: dict[Hashable, Waiting] = {}
        self._served: dict[str, int] = {}
        self._clock = itertools.count(1)

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._waiting

    def push(self, entry: Waiting) -> None:
        self._waiting[entry.key] = entry

    def remove(self, key: Hashable) -> None:
        """Stop waiting; who does not wait stays as they are."""
        self._waiting.pop(key, None)

    def take(self, fits: Callable[[Waiting], bool] = lambda entry: True) -> Waiting | None:
        """The next one whose turn can be now, and no longer waiting."""
        chosen = next((entry for entry in self.order() if fits(entry)), None)
        if chosen is not None:
            del self._waiting[chosen.key]
            self._served[chosen.owner] = next(self._clock)
            if len(self._served) > 4096:  # a server that runs for a term sees many names
                waiting = {entry.owner for entry in self._waiting.values()}
                self._served = {owner: at for owner, at in self._served.items() if owner in waiting}
        return chosen

    def position(self, key: Hashable) -> int:
        """How many turns come before this one's, plus one; 0 for who does not wait."""
        return next((at for at, entry in enumerate(self.order(), start=1) if entry.key == key), 0)

    def order(self) -> list[Waiting]:
        """All who wait, the next one first."""
        left = list(self._waiting.values())
        served, clock = dict(self._served), itertools.count(1 << 60)
        order = []
        while left:
            chosen = min(
                left, key=lambda entry: (entry.rank, served.get(entry.owner, 0))
            )  # first come, on a tie
            left.remove(chosen)
            served[chosen.owner] = next(clock)
            order.append(chosen)
        return order
