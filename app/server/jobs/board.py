"""All background work of the process: each visitor's own, bounded in number, and stopped when their visitor is gone."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.server.jobs.accounts import Accounts
from app.server.jobs.admission import Held, TooManyJobs, makes_room
from app.server.jobs.background import Background
from app.server.jobs.job import Job
from app.server.jobs.saved import SavedRuns
from app.server.jobs.task import Ledgered, Task
from app.server.jobs.views import Request
from tpc_core import Certificate
from tpc_core.engines import IDLE, USUAL, Engine, Work

FORGOTTEN_AFTER = 600.0
"""Seconds after which the work of a visitor who is gone is stopped."""
RESTS_AFTER = 30.0
"""Seconds after which the work of a visitor who has left rests, until they come back; a reload takes less."""
TASKS_PER_VISITOR, TASKS_IN_ALL = 6, 48
KEPT_JOBS, KEPT_TASKS = 20, 80
"""What is kept of a visitor's finished work."""
_ENDING = 5.0
"""Seconds that a run may take to notice that it was stopped."""


@dataclass(frozen=True)
class Activity:
    """How much is under way on the server, and how much has come of it."""

    running: int
    waiting: int
    messages: int
    """It grows while anything moves."""


class JobBoard:
    """All runs and tasks of the process, by visitor; a visitor sees only their own."""

    def __init__(
        self,
        engine: Engine,
        *,
        whose: Callable[[str], tuple[str, str]] = lambda owner: (owner, owner),
        present: Callable[[str], bool] = lambda owner: True,
        saved: SavedRuns | None = None,
    ) -> None:
        """`whose`: the name under which a visitor is counted, and their machine; `present`: whether they are here."""
        self.engine = engine
        self.saved = saved or SavedRuns(None)
        self.accounts = Accounts()
        self._whose, self._present = whose, present
        self._lock = threading.RLock()
        self._door = threading.Lock()
        self._jobs: dict[str, Job] = {}
        self._tasks: dict[tuple[str, str], Task] = {}
        self._drawers: dict[str, dict[str, Any]] = {}
        self._attempts: Counter[tuple[str, str]] = Counter()
        self._resting: set[str] = set()
        self._numbers = itertools.count(1)

    # -- certificates --------------------------------------------------------------------------------------------

    def submit(
        self, owner: str, request: Request, resume: Certificate | None = None, place: Path | None = None
    ) -> Job:
        """Start a run, if need be in the place of another; or raise TooManyJobs.

        Votes that the visitor has of the same object are read, and none is cast again. `place` is the file of a saved
        run that this one goes on with.
        """
        with self._door:
            live = {job.id: job for job in self.live_jobs()}
            held = [Held(job.id, *self._whose(job.owner), self._present(job.owner)) for job in live.values()]
            number = makes_room(held, *self._whose(owner))
            if number is not None:
                live[number].cancel()
                live[number].join(_ENDING)
            with self._lock:
                _forget(self._jobs, [job for job in self._jobs.values() if job.owner == owner], KEPT_JOBS)
                account = self.accounts.of(owner, request)
                place = place or self.saved.place(owner, request)
                job = Job(str(next(self._numbers)), owner, request, self.engine, account, resume, place)
                self._jobs[job.id] = job
        job.start()
        return job

    def of(self, owner: str) -> list[Job]:
        """The runs of one visitor, newest first."""
        with self._lock:
            return [job for job in reversed(self._jobs.values()) if job.owner == owner]

    def get(self, owner: str, number: str | None) -> Job | None:
        """One run of a visitor; None if there is none, or if it is somebody else's."""
        with self._lock:
            job = self._jobs.get(number or "")
        return job if job is not None and job.owner == owner else None

    def live_jobs(self) -> list[Job]:
        """All runs under way, the oldest first."""
        with self._lock:
            return [job for job in self._jobs.values() if job.live]

    def activity(self) -> Activity:
        """All work of all visitors, in three numbers; what nobody asked for is not among it."""
        with self._lock:
            every: list[Background] = [
                *self._jobs.values(),
                *(t for t in self._tasks.values() if t.rank != IDLE),
            ]
        now = [each.status for each in every]
        return Activity(now.count("running"), now.count("queued"), sum(each.messages for each in every))

    # -- other work ----------------------------------------------------------------------------------------------

    def start(
        self,
        owner: str,
        key: str,
        title: str,
        work: Work | Ledgered,
        *,
        rank: int = USUAL,
        finish: Callable[[Any], Any] | None = None,
    ) -> Task:
        """Start a task in a worker, or return the one of this name that is under way; TooManyJobs where there are many.

        A page that wants something computed in the background gives it a key, and looks at `task(owner, key).view()`
        while it goes on:

            board().start(visitor, f"{case.key}|sweep", "Trying other sigmas",
                          Steps(sweep_sigmas, (case.view, model), expected=len(FACTORS)))

        `Call` and `Steps` run any function or generator of the library; other work is a frozen dataclass with a
        generator `run` (tpc_core/engines). `rank`: PROMPT where a person waits for the page, IDLE for what may wait
        until nobody asks for anything. `finish` gets the last result in the server, and gives what the view shows.
        """
        with self._lock:
            known = self._tasks.get((owner, key))
            if known is not None and known.live:
                return known
            live = [task for task in self._tasks.values() if task.live]
            if len(live) >= TASKS_IN_ALL or sum(task.owner == owner for task in live) >= TASKS_PER_VISITOR:
                raise TooManyJobs("too much is under way here; wait for it or cancel some of it")
            _forget(self._tasks, [task for task in self._tasks.values() if task.owner == owner], KEPT_TASKS)
            number = str(next(self._numbers))
            task = Task(number, owner, self.engine, key, title, work, rank, finish)
            self._tasks.pop((owner, key), None)
            self._tasks[owner, key] = task
        task.start()
        return task

    def task(self, owner: str, key: str) -> Task | None:
        with self._lock:
            return self._tasks.get((owner, key))

    def tasks(self, owner: str) -> list[Task]:
        """What is under way for a visitor, runs apart; what they did not ask for is not among it."""
        with self._lock:
            mine = [task for task in self._tasks.values() if task.owner == owner]
        return [task for task in mine if task.live and task.rank != IDLE]

    def drawer(self, owner: str) -> dict[str, Any]:
        """A visitor's own certificates: uploads, and what came of going on."""
        with self._lock:
            return self._drawers.setdefault(owner, {})

    def attempt(self, owner: str, certificate: str) -> int:
        """The number of this search for an attack on a certificate: each looks longer than the one before."""
        with self._lock:
            self._attempts[owner, certificate] += 1
            return self._attempts[owner, certificate]

    # -- visitors who left ---------------------------------------------------------------------------------------

    def sweep(self, present: Callable[[str], bool], now: float | None = None) -> None:
        """Let the work of those who have just left rest until they are back, and stop what was left long ago."""
        now = time.monotonic() if now is None else now
        with self._lock:
            every: list[Background] = [*self._jobs.values(), *self._tasks.values()]
        gone: set[str] = set()
        for each in every:
            if present(each.owner):
                each.gone_since = None
            elif each.gone_since is None:
                each.gone_since = now
            elif now - each.gone_since > FORGOTTEN_AFTER:
                each.cancel()
                if not each.live:
                    gone.add(each.id)
            self._rest(each, now)
        with self._lock:
            owners = {each.owner for each in every if each.id in gone}
            self._jobs = {n: job for n, job in self._jobs.items() if job.id not in gone}
            self._tasks = {n: task for n, task in self._tasks.items() if task.id not in gone}
            here = {job.owner for job in self._jobs.values()} | {task.owner for task in self._tasks.values()}
            for owner in owners - here:
                self.accounts.forget(owner)
                self._drawers.pop(owner, None)
                self._attempts = Counter({k: n for k, n in self._attempts.items() if k[0] != owner})
            self._resting &= {each.id for each in every if each.live}

    def _rest(self, each: Background, now: float) -> None:
        left = each.gone_since is not None and now - each.gone_since >= RESTS_AFTER
        if left and each.live and each.status != "paused":  # what the visitor paused themselves stays so
            self._resting.add(each.id)
            each.pause()
        elif each.gone_since is None and each.id in self._resting:
            self._resting.discard(each.id)
            each.resume()


def _forget(kept: dict[Any, Any], mine: list[Any], most: int) -> None:
    """Keep the newest finished work of a visitor only."""
    finished = [each.id for each in mine if not each.live]
    old = set(finished[: max(0, len(finished) - most + 1)])
    for key in [key for key, each in kept.items() if each.id in old]:
        del kept[key]
