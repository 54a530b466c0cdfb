"""No worker at all: work is done where it is asked for, on one thread. All other engines give what this one gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, Protocol, Self

from tpc_core.engines.messages import Kept
from tpc_core.engines.work import Work
from tpc_core.lazy_torch import torch


class Streams(Protocol):
    """What a long computation needs of an engine: many pieces of work, and their messages as they come."""

    @property
    def count(self) -> int:
        """How many pieces are worked on at a time."""
        ...

    @property
    def shares_disk(self) -> bool:
        """Whether the workers read the files of this machine."""
        ...

    def stream(self, works: Iterable[Work]) -> Iterator[Any]: ...


class Inline:
    """A bench without a worker: nobody stops the work, and what it says aside is said with its next message."""

    def __init__(self) -> None:
        self._aside: list[Any] = []

    def stop(self) -> bool:
        return False

    def keep(self, state: bytes) -> None:
        self._aside.append(Kept(0, state))

    def tell(self, message: Any) -> None:
        self._aside.append(message)

    def said(self) -> list[Any]:
        """What was said aside since the last time."""
        said, self._aside = self._aside, []
        return said


class InlineEngine:
    """One piece of work after the other in this process."""

    count = 1
    shares_disk = True

    def __init__(self, threads: int | None = 1) -> None:
        """One thread, so that it is the reference for all workers; None takes what PyTorch may use here."""
        self._threads = threads

    def stream(self, works: Iterable[Work]) -> Iterator[Any]:
        """The messages of all work, in order."""
        before = torch.get_num_threads()
        torch.set_num_threads(self._threads or before)
        try:
            for work in works:
                bench = Inline()
                for message in work.run(bench):
                    yield from bench.said()
                    yield message
                yield from bench.said()
        finally:
            torch.set_num_threads(before)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass
