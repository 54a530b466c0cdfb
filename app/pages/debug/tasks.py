"""Work that the Debug page asks for: each piece in a thread that takes fair turns with the runs of all visitors."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st

from app.server.fair_queue import Turns
from app.server.jobs import FORGOTTEN_AFTER, TooManyJobs
from app.server.visitors import board, visitors
from tpc_core.errors import TpcError

Status = Literal["waiting", "running", "done", "cancelled", "failed"]
LIVE: tuple[Status, ...] = ("waiting", "running")
_SWEEP_EVERY = 30.0
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


class Task:
    """One piece of work. `work` gets the task itself: it asks `stop()` between steps and calls `report()`."""

    def __init__(
        self, owner: str, key: str, title: str, work: Callable[[Task], Any], turns: Turns | None
    ) -> None:
        self.owner, self.key, self.title = owner, key, title
        self.gone_since: float | None = None
        self._work_function = work
        self._turns = turns
        self._turn = f"debug|{owner}|{key}"
        self._lock = threading.Lock()
        self._cancel = threading.Event()
        self._status: Status = "waiting"
        self._words, self._message = "", ""
        self._part: float | None = None
        self._began, self._reported = 0.0, 0.0
        self._result: Any = None
        self._thread = threading.Thread(target=self._work, name=f"debug-{key[:24]}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def cancel(self) -> None:
        self._cancel.set()

    def settle(self, seconds: float) -> TaskView:
        """Wait a moment, so that quick work is on screen at once."""
        self._thread.join(seconds)
        return self.view()

    def view(self) -> TaskView:
        with self._lock:
            return TaskView(
                self.key,
                self.title,
                self._status,
                self._words,
                self._part,
                self._eta(),
                self._result,
                self._message,
            )

    def _eta(self) -> float | None:
        if self._status != "running" or self._part is None or self._part < _TELLING:
            return None
        spent = self._reported - self._began
        return max(0.0, spent / self._part - (time.monotonic() - self._began))

    @property
    def live(self) -> bool:
        with self._lock:
            return self._status in LIVE

    # -- for the work -------------------------------------------------------------------------------------------

    def stop(self) -> bool:
        """Called between steps: waits for a turn; True where the work must end."""
        if self._turns is None:
            allowed = not self._cancel.is_set()
        else:
            allowed = self._turns.step(self._turn, self._cancel.is_set)
        with self._lock:
            if allowed and self._status == "waiting":
                self._status, self._began = "running", time.monotonic()
        return not allowed

    def cancelled(self) -> bool:
        """Whether the work was stopped; asked while it waits for something else than its turn."""
        return self._cancel.is_set()

    def give_way(self) -> None:
        """Give the turn back: whoever is waited for may need it."""
        if self._turns is not None:
            self._turns.leave(self._turn)

    def report(self, result: Any, words: str = "", part: float | None = None) -> None:
        """What is known so far."""
        with self._lock:
            self._result, self._words, self._reported = result, words, time.monotonic()
            # A plan that grew on the way must not make the bar run backwards.
            self._part = part if part is None or self._part is None else max(part, self._part)

    def _work(self) -> None:
        try:
            result = None if self.stop() else self._work_function(self)
            self._end("cancelled" if self._cancel.is_set() else "done", "", result)
        except TpcError as error:
            self._end("failed", str(error))
        except Exception as error:
            # Nobody awaits this thread: an error that is not shown would be work that never ends.
            self._end("failed", f"unexpected {type(error).__name__}: {error}")
        finally:
            if self._turns is not None:
                self._turns.leave(self._turn)

    def _end(self, status: Status, message: str, result: Any = None) -> None:
        with self._lock:
            self._status, self._message = status, message
            self._result = result if result is not None else self._result


class Desk:
    """All tasks of the process, by visitor; a visitor sees only their own."""

    def __init__(self, turns: Turns, *, per_visitor: int = 4, in_all: int = 24, kept: int = 80) -> None:
        self._turns = turns
        self.per_visitor, self.in_all, self.kept = per_visitor, in_all, kept
        self._lock = threading.Lock()
        self._tasks: dict[tuple[str, str], Task] = {}
        self._drawers: dict[str, dict[str, Any]] = {}
        self._attempts: Counter[tuple[str, str]] = Counter()

    def start(
        self, owner: str, key: str, title: str, work: Callable[[Task], Any], *, votes: bool = True
    ) -> Task:
        """Start a task, or return the one of this name that is under way; TooManyJobs where there are too many.

        Work that casts no votes waits for nobody's turn.
        """
        with self._lock:
            known = self._tasks.get((owner, key))
            if known is not None and known.live:
                return known
            live = [task for task in self._tasks.values() if task.live]
            if len(live) >= self.in_all or sum(t.owner == owner for t in live) >= self.per_visitor:
                raise TooManyJobs("too much is under way here; wait for it or cancel some of it")
            mine = [place for place, task in self._tasks.items() if task.owner == owner and not task.live]
            for place in mine[: max(0, len(mine) - self.kept + 1)]:
                del self._tasks[place]
            task = Task(owner, key, title, work, self._turns if votes else None)
            self._tasks.pop((owner, key), None)
            self._tasks[owner, key] = task
        task.start()
        return task

    def get(self, owner: str, key: str) -> Task | None:
        with self._lock:
            return self._tasks.get((owner, key))

    def live(self, owner: str) -> list[Task]:
        """What is under way for a visitor."""
        with self._lock:
            return [task for task in self._tasks.values() if task.owner == owner and task.live]

    def drawer(self, owner: str) -> dict[str, Any]:
        """A visitor's own certificates: uploads, and what came of going on."""
        with self._lock:
            return self._drawers.setdefault(owner, {})

    def attempt(self, owner: str, certificate: str) -> int:
        """The number of this search for an attack on a certificate: each looks longer than the one before."""
        with self._lock:
            self._attempts[owner, certificate] += 1
            return self._attempts[owner, certificate]

    def sweep(self, present: Callable[[str], bool], now: float | None = None) -> None:
        """Stop the work of visitors who have been gone for a while, and drop what they left."""
        now = time.monotonic() if now is None else now
        with self._lock:
            tasks = list(self._tasks.items())
        for place, task in tasks:
            if present(task.owner):
                task.gone_since = None
            elif task.gone_since is None:
                task.gone_since = now
            elif now - task.gone_since > FORGOTTEN_AFTER:
                task.cancel()
                if not task.live:
                    with self._lock:
                        self._tasks.pop(place, None)
                        self._drawers.pop(task.owner, None)


@st.cache_resource(show_spinner=False)
def desk() -> Desk:
    """The one desk, whose tasks take turns with the runs on the board."""
    tasks, register = Desk(board().turns), visitors()

    def sweep() -> None:
        while True:
            time.sleep(_SWEEP_EVERY)
            tasks.sweep(register.present)

    threading.Thread(target=sweep, name="sweep-debug", daemon=True).start()
    return tasks
