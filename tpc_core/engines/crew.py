"""The workers of an engine: the way to each, whose turn it is there, and the votes that idle ones cast for others."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tpc_core.engines.fair_queue import IDLE
from tpc_core.engines.handle import Handle
from tpc_core.engines.messages import GiveWay, Help, Helped, Helpers, Message


class Link(ABC):
    """The way to one worker. Its owner calls `Engine.received` with each message, and `Engine.died` at the end."""

    @abstractmethod
    def send(self, message: Message) -> None:
        """Hand a message over; it never waits for the worker."""

    @abstractmethod
    def kill(self) -> None:
        """End the worker at once."""


@dataclass(eq=False)
class Hired:
    """What the engine knows of a worker."""

    link: Link
    greeted: bool = False
    current: Handle | None = None
    """Whose turn it is."""
    helping: dict[int, tuple[Hired, int]] = field(default_factory=dict)
    """Parts of votes that it casts for others: who asked, and under which number."""
    told_after: float | None = None
    told_helpers: int = 0

    @property
    def idle(self) -> bool:
        return self.greeted and self.current is None


class Crew:
    """All workers. Who calls holds the engine's lock."""

    def __init__(self) -> None:
        self._hired: list[Hired] = []
        self._numbers = itertools.count(1)

    def __iter__(self) -> Iterator[Hired]:
        return iter(list(self._hired))

    def __len__(self) -> int:
        return len(self._hired)

    def of(self, link: Link) -> Hired | None:
        """The worker at the end of a link, while it is one of ours."""
        return next((worker for worker in self if worker.link is link), None)

    def hire(self, link: Link) -> None:
        self._hired.append(Hired(link))

    def dismiss(self, worker: Hired) -> None:
        """A worker is no longer here: what it was asked to cast is cast elsewhere, and what it asked for by nobody."""
        if worker not in self._hired:
            return
        self._hired.remove(worker)
        for asker, number in worker.helping.values():
            asker.link.send(Helped(number, None))
        for other in self._hired:
            other.helping = {n: w for n, w in other.helping.items() if w[0] is not worker}

    def clear(self) -> list[Hired]:
        """All who were here, and none any more."""
        gone, self._hired = self._hired, []
        return gone

    def is_wanted_by(self, owner: str, rank: int) -> bool:
        """Whether work that may wait should leave its worker to what its asker waits for: votes are shared out."""
        running = [each.current for each in self if each.current is not None]
        return rank == IDLE and any(work.owner == owner and work.rank < IDLE for work in running)

    def makes_room(self, owner: str, other: Hired) -> bool:
        """Whether a worker beside `other` is at work of this asker that may wait."""
        works = [each.current for each in self if each is not other and each.current is not None]
        return any(work.owner == owner and work.rank == IDLE for work in works)

    def tell(self, ranks: Callable[[Hired], list[int]], quantum: float) -> None:
        """Workers learn who waits for them, by rank, and how many could help."""
        idle = sum(worker.idle for worker in self)
        leads = sum(worker.current is not None for worker in self)
        for worker in self:
            if worker.current is None:
                continue
            waiting = min(ranks(worker), default=None)
            after = None
            if waiting is not None and waiting <= worker.current.rank:
                after = quantum if waiting == worker.current.rank else 0.0
            if self.is_wanted_by(worker.current.owner, worker.current.rank):
                after = 0.0
            if after != worker.told_after:
                worker.told_after = after
                worker.link.send(GiveWay(after))
            helpers = -(-idle // leads)
            if helpers != worker.told_helpers:
                worker.told_helpers = helpers
                worker.link.send(Helpers(helpers))

    def relay(self, worker: Hired, message: Help | Helped) -> None:
        """Votes that one worker asks for go to an idle one, and come back."""
        if isinstance(message, Helped):
            asker, number = worker.helping.pop(message.number, (None, 0))
            if asker is not None:
                asker.link.send(Helped(number, message.counts))
            return
        idle = [other for other in self if other.idle]
        if not idle:
            worker.link.send(Helped(message.number, None))
            return
        helper = min(idle, key=lambda other: len(other.helping))
        number = next(self._numbers)
        helper.helping[number] = (worker, message.number)
        helper.link.send(Help(number, message.voter, message.blocks))
