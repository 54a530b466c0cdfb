"""Votes of many runs in one pass: on a device, one object at a time would leave most of it waiting.

Every run has a thread of its own and asks for votes as it always does. As soon as each of them waits for some, all that
they wait for goes through the network together. A vote is the same in any company, so only the pace depends on this.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tpc_core.votes import (
    BLOCKS_PER_PASS,
    Asked,
    Ballot,
    Block,
    Counts,
    Voter,
    answered,
    assistance,
    count_together,
)

TOGETHER = BLOCKS_PER_PASS
"""Runs at a time: a run asks for one to three blocks as a rule, and a pass takes this many."""

Result = TypeVar("Result")


class Abandoned(Exception):
    """Nobody will cast the votes any more."""


@dataclass(eq=False)
class _Waiting:
    """A run that waits for votes."""

    asked: Asked
    reply: queue.SimpleQueue[Counts | BaseException] = field(default_factory=queue.SimpleQueue)


@dataclass(eq=False)
class _Ended(Generic[Result]):
    """A run that is over: its place in the order, and what came of it."""

    place: int
    result: Result | None = None
    error: BaseException | None = None


class SharedPasses(Generic[Result]):
    """Runs side by side. `results` is called by the thread that casts all votes."""

    def __init__(self, together: int = TOGETHER) -> None:
        self._together = together
        self._heard: queue.SimpleQueue[_Waiting | _Ended[Result]] = queue.SimpleQueue()
        self._closed = False

    def count(self, voter: Voter, ballots: Sequence[Ballot], blocks: Sequence[Block]) -> Counts:
        """For the thread of a run: hand in what it wants, and wait for it."""
        waiting = _Waiting(Asked(voter, ballots, blocks))
        self._heard.put(waiting)
        if self._closed:
            raise Abandoned
        reply = waiting.reply.get()
        if isinstance(reply, BaseException):
            raise reply
        return answered(reply)

    def results(
        self, runs: Iterable[Callable[[], Result]], stop: Callable[[], bool] = lambda: False
    ) -> Iterator[Result]:
        """What the runs give, in order; an error of one is raised in its place. `stop` is asked before each pass."""
        source, begun, told = iter(enumerate(runs)), 0, 0
        ended: dict[int, _Ended[Result]] = {}
        waiting: list[_Waiting] = []
        live = 0
        try:
            while True:
                while live < self._together and (run := next(source, None)) is not None:
                    self._begin(*run)
                    live, begun = live + 1, begun + 1
                if told == begun:
                    return
                if live and live == len(waiting):
                    if stop():
                        return
                    ready, waiting = waiting, []
                    _cast(ready)
                while live > len(waiting):
                    message = self._heard.get()
                    if isinstance(message, _Waiting):
                        waiting.append(message)
                    else:
                        ended[message.place] = message
                        live -= 1
                        break  # another run can begin in its place
                while told in ended:
                    over = ended.pop(told)
                    told += 1
                    if over.error is not None:
                        raise over.error
                    yield over.result  # type: ignore[misc]
        finally:
            self._abandon(waiting, live - len(waiting))

    def _begin(self, place: int, run: Callable[[], Result]) -> None:
        def life() -> None:
            assistance.set(self)
            try:
                self._heard.put(_Ended(place, run()))
            except BaseException as error:
                self._heard.put(_Ended(place, error=error))

        threading.Thread(target=copy_context().run, args=(life,), name=f"shared-{place}", daemon=True).start()

    def _abandon(self, waiting: list[_Waiting], running: int) -> None:
        """Nobody reads on: those who wait are told, and so are the others as soon as they ask."""
        self._closed = True
        for each in waiting:
            each.reply.put(Abandoned())
        for _ in range(running):
            message = self._heard.get()
            if isinstance(message, _Waiting):
                message.reply.put(Abandoned())


def _cast(waiting: list[_Waiting]) -> None:
    """All votes that are waited for: those of one company in shared passes."""
    companies: dict[tuple[object, ...], list[_Waiting]] = {}
    for each in waiting:
        companies.setdefault(each.asked.company, []).append(each)
    for company in companies.values():
        try:
            replies: list[Counts | BaseException] = list(count_together([each.asked for each in company]))
        except Exception as error:
            replies = [error] * len(company)
        for each, reply in zip(company, replies, strict=True):
            each.reply.put(reply)
