"""Any other long work of a page: it reports what is known so far, and its last report is its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.server.jobs.accounts import Account
from app.server.jobs.background import Background
from app.server.jobs.views import LIVE, Status
from tpc_core import Certificate
from tpc_core.engines import Engine, Kept, Report, Work

_TELLING = 0.02
"""The part that must be done before it tells how long the rest will take."""


@dataclass(frozen=True)
class TaskView:
    """A picture of a task at one moment."""

    key: str
    title: str
    status: Status
    words: str
    part: float | None
    """How much is done, where it is known."""
    eta: float | None
    """Seconds that the rest will take if it goes on as it went so far; None where nobody can know."""
    result: Any
    """The latest report; the last one is the result."""
    message: str

    @property
    def live(self) -> bool:
        return self.status in LIVE


@dataclass(frozen=True)
class Ledgered:
    """Work that writes into a ledger: it is made when its turn there has come, from the latest certificate."""

    account: Account
    certificate: Certificate
    """Where it begins if nothing later is known."""
    work: Callable[[Certificate], Work]


class Task(Background):
    """One piece of work. `finish` makes of the last report what the page wants, in the server."""

    def __init__(
        self,
        number: str,
        owner: str,
        engine: Engine,
        key: str,
        title: str,
        work: Work | Ledgered,
        rank: int,
        finish: Callable[[Any], Any] | None,
    ) -> None:
        super().__init__(number, owner, engine, work.account if isinstance(work, Ledgered) else None, rank)
        self.key, self.title = key, title
        self._given = work
        self._finishing = finish
        self._words = ""
        self._part: float | None = None
        self._reported = 0.0
        self._result: Any = None

    def _work(self) -> Work:
        given = self._given
        if not isinstance(given, Ledgered):
            return given
        latest = given.account.latest(given.certificate)
        assert latest is not None
        return given.work(latest)

    def _learn(self, message: Any) -> None:
        if isinstance(message, Kept):
            return
        assert isinstance(message, Report)
        self._result, self._words, self._reported = message.result, message.words, self._seconds()
        if message.part is not None:  # a plan that grew on the way must not make the bar run backwards
            self._part = max(message.part, self._part or 0.0)

    def _finish(self) -> None:
        if self._finishing is not None:
            self._result = self._finishing(self._result)

    def settle(self, seconds: float) -> TaskView:
        """Wait a moment, so that quick work is on screen at once."""
        self.join(seconds)
        return self.view()

    def view(self) -> TaskView:
        with self._lock:
            self._tick()
            return TaskView(
                self.key,
                self.title,
                self.status,
                self._words,
                self._part,
                self._eta(),
                self._result,
                self._message,
            )

    def _eta(self) -> float | None:
        if self.status != "running" or self._part is None or self._part < _TELLING:
            return None
        return max(0.0, self._reported / self._part - self._seconds())
