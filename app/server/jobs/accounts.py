"""The votes that a visitor has seen of an object: every further question about it reads the same ledger.

Another radius, another confidence or going on must not get fresh noise, and shapes of region and attacks are counted
over the ledger's whole life (docs/theory.md, "One ledger of votes"). So the last certificate of each ledger is kept,
and one job at a time may write the next.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from app.server.jobs.views import Request
from tpc_core import Certificate

KEPT = 20
"""Ledgers kept for one visitor."""


@dataclass
class Account:
    """One ledger of one visitor: its last certificate, and who may write the next one."""

    certificate: Certificate | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _writing: bool = False
    _line: deque[Callable[[], None]] = field(default_factory=deque)

    @property
    def busy(self) -> bool:
        return self._writing

    def enter(self, begin: Callable[[], None]) -> None:
        """Call `begin` as soon as nobody else writes: now, or when those before have left."""
        with self._lock:
            if self._writing:
                self._line.append(begin)
                return
            self._writing = True
        begin()

    def leave(self) -> None:
        """Let the next one write."""
        with self._lock:
            following = self._line.popleft() if self._line else None
            self._writing = following is not None
        if following is not None:
            following()

    def withdraw(self, begin: Callable[[], None]) -> bool:
        """Wait no longer; False for who did not wait."""
        with self._lock:
            if begin not in self._line:
                return False
            self._line.remove(begin)
            return True

    def latest(self, other: Certificate | None) -> Certificate | None:
        """The certificate with the most votes: all of them are of the same streams."""
        known = [each for each in (self.certificate, other) if each is not None]
        return max(known, key=lambda each: each.samples, default=None)


class Accounts:
    """The ledgers of all visitors."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: dict[str, dict[str, Account]] = {}

    def of(self, owner: str, request: Request) -> Account:
        """The account of a question: one for each model, cloud, transform, smoothing, proof, protocol, seed."""
        options = request.question.options
        key = json.dumps(
            [
                request.model.digest,
                request.cloud.digest,
                request.question.transform,
                request.smoothing.to_json(),
                options.proof,
                options.protocol,
                options.seed,
            ],
            sort_keys=True,
        )
        with self._lock:
            mine = self._of.setdefault(owner, {})
            account = mine.pop(key, None) or Account()
            mine[key] = account
            idle = [name for name, other in mine.items() if not other.busy and other is not account]
            for name in idle[: max(0, len(mine) - KEPT)]:
                del mine[name]
            return account

    def forget(self, owner: str) -> None:
        """Drop what a visitor left."""
        with self._lock:
            self._of.pop(owner, None)
