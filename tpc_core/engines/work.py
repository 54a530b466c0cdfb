"""What is worked on, and what the worker offers to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from tpc_core.errors import TpcError


class Bench(Protocol):
    """What a piece of work may ask of its worker."""

    def stop(self) -> bool:
        """Called between batches: waits while it is paused or somebody else's turn; True where the work must end."""
        ...

    def keep(self, state: bytes) -> None:
        """Put down what the work can go on from if its worker dies."""
        ...

    def tell(self, message: Any) -> None:
        """Say something in the middle of a step; it goes the way of what the work yields."""
        ...


class Work(Protocol):
    """A piece of work: plain data, and what to do with it. It may have `going_on(state: bytes)` as well."""

    def run(self, bench: Bench) -> Iterator[Any]:
        """Do it, and yield what the asker should know."""
        ...


@dataclass(frozen=True)
class Restarted:
    """The engine's own message: the worker died, and another one goes on with the work."""

    times: int
    kept: bool
    """Whether it goes on from what was kept, or begins anew."""


class WorkerLost(TpcError):
    """Workers died again and again over the same piece of work, or cannot be started at all."""


class WorkFailed(TpcError):
    """The work failed by a mistake of ours: an error that nobody raised on purpose."""


@dataclass(frozen=True)
class Report:
    """What is known so far, in a few words, and how much of it is done, where that is known."""

    result: Any
    words: str = ""
    part: float | None = None


@dataclass(frozen=True)
class Call:
    """A function of the library, called in a worker: its answer is reported."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def run(self, bench: Bench) -> Iterator[Report]:
        if not bench.stop():
            yield Report(self.function(*self.arguments), part=1.0)


@dataclass(frozen=True)
class Steps:
    """A generator of the library that takes `cancelled`, run in a worker: all steps so far are reported at each one."""

    function: Callable[..., Iterator[Any]]
    arguments: tuple[Any, ...]
    expected: int
    """How many steps there will be."""
    words: str = ""
    """What is said of a step: "sigma {step.sigma}"."""

    def run(self, bench: Bench) -> Iterator[Report]:
        steps: list[Any] = []
        for step in self.function(*self.arguments, cancelled=bench.stop):
            steps.append(step)
            yield Report(list(steps), self.words.format(step=step), len(steps) / max(self.expected, 1))
