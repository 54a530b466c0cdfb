"""The one kind of background task: a piece of work in the engine, whose it is, and how far it is.

Certificates (`Job`) and the other long work of pages (`Task`) differ in what they make of the messages.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from typing import Any

from app.server.jobs.accounts import Account
from app.server.jobs.views import LIVE, Status
from tpc_core.engines import USUAL, Engine, Handle, Restarted, Work
from tpc_core.errors import TpcError

_STATUS: dict[str, Status] = {"waiting": "queued", "running": "running", "paused": "paused"}


class Background(ABC):
    """Work that belongs to a visitor. The engine's threads write under the lock; pages read copies."""

    def __init__(
        self, number: str, owner: str, engine: Engine, account: Account | None, rank: int = USUAL
    ) -> None:
        self.id, self.owner = number, owner
        self.gone_since: float | None = None
        """When its visitor was first missed."""
        self.notice = ""
        """One line for its visitor, where something happened on the way."""
        self.rank = rank
        self._engine, self._account = engine, account
        self._lock = threading.RLock()
        self._handle: Handle | None = None
        self._end: Status | None = None
        self._message = ""
        self._pause = self._cancel = False
        self._started: float | None = None
        self._worked = 0.0
        self._revision = 0
        self._over = threading.Event()

    # -- for subclasses ------------------------------------------------------------------------------------------

    @abstractmethod
    def _work(self) -> Work:
        """What is to be done, as things stand when its turn at the ledger has come."""

    @abstractmethod
    def _learn(self, message: Any) -> None:
        """Make something of a message, under the lock."""

    @abstractmethod
    def _finish(self) -> None:
        """What follows a good end, before anybody else writes into the ledger."""

    def _more_follows(self) -> bool:
        """Whether something is still drawn after the end."""
        return False

    # -- for pages -----------------------------------------------------------------------------------------------

    def start(self) -> None:
        if self._account is None:
            self._begin()
        else:
            self._account.enter(self._begin)

    def pause(self) -> None:
        with self._lock:
            self._pause = True
            handle = self._handle
        if handle is not None:
            handle.pause()

    def resume(self) -> None:
        with self._lock:
            self._pause = False
            handle = self._handle
        if handle is not None:
            handle.resume()

    def cancel(self) -> None:
        with self._lock:
            self._cancel = True
            handle = self._handle
        if handle is not None:
            handle.cancel()
        elif self._account is not None and self._account.withdraw(self._begin):
            self._close("cancelled", "")

    def join(self, timeout: float | None = None) -> bool:
        """Wait for its end; whether it came."""
        return self._over.wait(timeout)

    @property
    def live(self) -> bool:
        return self.status in LIVE

    @property
    def status(self) -> Status:
        with self._lock:
            if self._end is not None:
                return self._end
            if self._handle is None:
                return "paused" if self._pause else "queued"
            return _STATUS.get(self._handle.status, "running")

    @property
    def messages(self) -> int:
        """How often something came of it so far: it grows while the work moves."""
        with self._lock:
            return self._revision

    @property
    def position(self) -> int:
        """Its place in the engine's queue; 0 where it does not wait there."""
        handle = self._handle
        return 0 if handle is None else handle.position

    # -- its life ------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        try:
            with self._lock:
                if self._cancel:
                    raise _Withdrawn
                work = self._work()
                self._handle = self._engine.submit(
                    work, owner=self.owner, rank=self.rank, listener=self._take, ended=self._ended
                )
                paused = self._pause
            if paused:
                self._handle.pause()
        except _Withdrawn:
            self._leave("cancelled", "")
        except TpcError as error:
            self._leave("failed", str(error))

    def _take(self, message: Any) -> None:
        with self._lock:
            self._revision += 1
            self._tick()
            if isinstance(message, Restarted):
                kept = "from its last votes" if message.kept else "from its beginning"
                self.notice = f"A worker process stopped unexpectedly; the work went on {kept}."
            else:
                self._learn(message)

    def _ended(self, handle: Handle) -> None:
        if handle.error is not None and not handle.cancelled:
            self._leave("failed", str(handle.error))
            return
        try:
            self._finish()
        except TpcError as error:
            self._leave("failed", str(error))
        except Exception as error:
            # Nobody awaits this: an error that is not shown would be work that never ends.
            self._leave("failed", f"unexpected {type(error).__name__}: {error}")
        else:
            self._leave("cancelled" if handle.cancelled else "done", "")

    def _leave(self, status: Status, message: str) -> None:
        self._close(status, message)
        if self._account is not None:
            self._account.leave()

    def _close(self, status: Status, message: str) -> None:
        with self._lock:
            self._end, self._message = status, message
            self._stop_clock()
            self._revision += 1
            if not self._more_follows():
                self._over.set()

    # -- the clock, under the lock -------------------------------------------------------------------------------

    def _tick(self) -> None:
        """Begin or stop the clock as the status wants it; a pause takes no time."""
        status = self.status
        if status == "running" and self._started is None:
            self._started = time.monotonic()
        elif status == "paused":
            self._stop_clock()

    def _stop_clock(self) -> None:
        if self._started is not None:
            self._worked += time.monotonic() - self._started
            self._started = None

    def _seconds(self) -> float:
        return self._worked + (time.monotonic() - self._started if self._started is not None else 0.0)


class _Withdrawn(Exception):
    """It was cancelled before it began."""
