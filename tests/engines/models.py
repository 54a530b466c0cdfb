"""Models and work that travel to worker processes: plain data, importable there."""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tpc_core import Smoothing
from tpc_core.engines import Bench, LocalEngine


@lru_cache(maxsize=1)
def shared_engine() -> LocalEngine:
    """One worker process for all tests of a test process."""
    engine = LocalEngine(1)
    atexit.register(engine.close)
    return engine


@dataclass(frozen=True)
class Rule:
    """A base classifier made of one rule: class b where the cloud's highest point is above a height."""

    smoothing: Smoothing
    height: float = 5.0
    task: str = "classification"
    name: str = "rule"
    digest: str = "0" * 64
    classes: tuple[str, ...] = ("a", "b", "c")
    num_points: int = 32

    def classifier(self, device: torch.device | str = "cpu") -> Callable[[Tensor], Tensor]:
        def logits(points: Tensor) -> Tensor:
            if self.task == "segmentation":
                return torch.stack([points[..., 2], -points[..., 2], points[..., 2] * 0 - 9], dim=-1)
            high = (points[..., 2].amax(dim=-1) > self.height).float()
            return torch.stack([1 - high, high, torch.zeros_like(high)], dim=-1)

        return logits


class Gate:
    """Passes that a test lets happen one by one, in whatever process: each byte of a file is a leave."""

    def __init__(self, path: Path) -> None:
        self.path, self._count = path, path.with_suffix(".passes")
        self.path.touch()
        self._count.touch()

    @property
    def passes(self) -> int:
        """Passes that were asked for so far."""
        return self._count.stat().st_size

    def let(self, passes: int) -> None:
        with self.path.open("ab") as file:
            file.write(b"." * passes)

    def wait(self) -> None:
        with self._count.open("ab") as file:
            file.write(b".")
        number, end = self.passes, time.monotonic() + 60
        while self.path.stat().st_size < number:
            assert time.monotonic() < end, "nobody let it pass"
            time.sleep(0.002)

    def feed(self, condition: Callable[[], bool]) -> None:
        """One pass after another until something happened."""

        def fed() -> bool:
            if condition():
                return True
            self.let(1)
            return False

        until(fed)


@dataclass(frozen=True)
class Gated:
    """A model that waits for leave before every pass."""

    model: Any
    gate: Gate

    name = property(lambda self: self.model.name)
    digest = property(lambda self: self.model.digest)
    task = property(lambda self: self.model.task)
    smoothing = property(lambda self: self.model.smoothing)

    @property
    def classes(self) -> Sequence[str]:
        return self.model.classes  # type: ignore[no-any-return]

    def classifier(self, device: torch.device | str = "cpu") -> Callable[[Tensor], Tensor]:
        answer = self.model.classifier(device)

        def slowly(points: Tensor) -> Tensor:
            self.gate.wait()
            return answer(points)  # type: ignore[no-any-return]

        return slowly


@dataclass(frozen=True)
class Broken:
    """A model without a kernel."""

    smoothing: Smoothing
    name: str = "broken"
    digest: str = "1" * 64
    task: str = "classification"
    classes: tuple[str, ...] = ("a", "b")

    def classifier(self, device: torch.device | str = "cpu") -> Callable[[Tensor], Tensor]:
        raise RuntimeError("no such kernel")


@dataclass(frozen=True)
class Endless:
    """Work that ends when it is told to; it counts its steps, and keeps them."""

    begun: int = 0
    last: int | None = None
    pause: float = 0.005

    def going_on(self, state: bytes) -> Endless:
        return Endless(int(state), self.last, self.pause)

    def run(self, bench: Bench) -> Iterator[int]:
        step = self.begun
        while not bench.stop() and step != self.last:
            time.sleep(self.pause)
            step += 1
            bench.keep(str(step).encode())
            yield step


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)


def growing(last: int | None, *, cancelled: Callable[[], bool]) -> Iterator[int]:
    """A generator as the library has them: numbers, until it is stopped or has had enough."""
    number = 0
    while not cancelled() and number != last:
        time.sleep(0.002)
        yield number
        number += 1
