"""All runs of the process: each visitor's own, bounded in number, and stopped when their visitor is gone."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from pathlib import Path

from app.server.fair_queue import Turns
from app.server.jobs.accounts import Accounts
from app.server.jobs.job import Job
from app.server.jobs.saved import SavedRuns
from app.server.jobs.views import Request
from tpc_core import Certificate
from tpc_core.errors import TpcError

FORGOTTEN_AFTER = 600.0
"""Seconds after which the run of a visitor who is gone is stopped."""


class TooManyJobs(TpcError):
    """This visitor, or all together, have as many runs under way as the process allows."""


class JobBoard:
    """All runs of the process, by visitor; a visitor sees only their own."""

    def __init__(
        self,
        *,
        slots: int = 1,
        per_visitor: int = 3,
        in_all: int = 24,
        kept: int = 20,
        saved: SavedRuns | None = None,
    ) -> None:
        self.turns = Turns(slots)
        self.saved = saved or SavedRuns(None)
        self.accounts = Accounts()
        self.per_visitor, self.in_all, self.kept = per_visitor, in_all, kept
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}
        self._numbers = itertools.count(1)

    def submit(
        self, owner: str, request: Request, resume: Certificate | None = None, place: Path | None = None
    ) -> Job:
        """Start a run, or raise TooManyJobs; `place` is the file of a saved run that this one goes on with.

        Votes that the visitor has of the same object are read, and none is cast again.
        """
        with self._lock:
            live = [job for job in self._jobs.values() if job.live]
            if len(live) >= self.in_all:
                raise TooManyJobs(f"{len(live)} runs are under way here; try again in a while")
            if sum(job.owner == owner for job in live) >= self.per_visitor:
                raise TooManyJobs(f"you have {self.per_visitor} runs under way; cancel one or wait for it")
            self._forget(owner)
            account = self.accounts.of(owner, request)
            place = place or self.saved.place(owner, request)
            job = Job(str(next(self._numbers)), owner, request, self.turns, account, resume, place)
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

    def sweep(self, present: Callable[[str], bool], now: float | None = None) -> None:
        """Stop the runs of visitors who have been gone for a while, and drop what they left."""
        now = time.monotonic() if now is None else now
        with self._lock:
            jobs = list(self._jobs.values())
        for job in jobs:
            if present(job.owner):
                job.gone_since = None
            elif job.gone_since is None:
                job.gone_since = now
            elif now - job.gone_since > FORGOTTEN_AFTER:
                job.cancel()
                if not job.live:
                    with self._lock:
                        self._jobs.pop(job.id, None)
                    self.accounts.forget(job.owner)

    def _forget(self, owner: str) -> None:
        """Keep the newest finished runs of a visitor only."""
        finished = [job.id for job in self._jobs.values() if job.owner == owner and not job.live]
        for number in finished[: max(0, len(finished) - self.kept + 1)]:
            del self._jobs[number]
