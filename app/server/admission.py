"""Who may start a run when many want to: nobody is shut out by one person under many names.

Names cost nothing, so a limit for each of them is none. Runs are counted by machine as well; whoever has left gives way
first, and then whoever has most to somebody who has less.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.server.jobs import Job, JobBoard, SavedRuns, TooManyJobs
from app.server.jobs.views import Request
from tpc_core import Certificate

PER_VISITOR, IN_ALL = 3, 24
PER_MACHINE = IN_ALL - 2 * PER_VISITOR
"""A class may sit behind one address; there is still room for two visitors from elsewhere."""
RESTS_AFTER = 30.0
"""Seconds after which the runs of a visitor who has left rest, until they come back; a reload takes less."""
_ENDING = 5.0
"""Seconds that a run may take to notice that it was stopped."""


@dataclass(frozen=True)
class Held:
    """A run under way: its number, whose it is, and whether they are still here."""

    number: str
    visitor: str
    machine: str
    present: bool = True


def makes_room(held: Sequence[Held], visitor: str, machine: str) -> str | None:
    """The run that has to give way to a new one of this visitor; None where there is room. `held`: the oldest first.

    TooManyJobs where the visitor has enough, or where everybody has as little as they would have.
    """
    mine = sum(run.visitor == visitor for run in held)
    if mine >= PER_VISITOR:
        raise TooManyJobs(f"you have {mine} runs under way; cancel one or wait for it")
    here = [run for run in held if run.machine == machine]
    if len(held) < IN_ALL and len(here) < PER_MACHINE:
        return None
    among = held if len(held) >= IN_ALL else here
    gone = [run for run in among if not run.present]
    if gone:
        return gone[0].number
    machines = Counter(run.machine for run in among)
    crowded = [run for run in among if machines[run.machine] == max(machines.values())]
    visitors = Counter(run.visitor for run in crowded)
    most = max(visitors.values())
    if most <= mine + 1:
        raise TooManyJobs(f"{len(held)} runs are under way here; try again in a while")
    return next(run.number for run in reversed(crowded) if visitors[run.visitor] == most)


class FairBoard(JobBoard):
    """The board of runs, with a doorkeeper."""

    def __init__(
        self,
        whose: Callable[[str], tuple[str, str]],
        present: Callable[[str], bool],
        saved: SavedRuns | None = None,
    ) -> None:
        super().__init__(per_visitor=PER_VISITOR, in_all=IN_ALL, saved=saved)
        self.whose, self.present = whose, present
        self._door = threading.Lock()
        self._resting: set[str] = set()

    def submit(
        self, owner: str, request: Request, resume: Certificate | None = None, place: Path | None = None
    ) -> Job:
        """Start a run, if need be in the place of another; or raise TooManyJobs."""
        with self._door:
            live = {job.id: job for job in self.live_jobs()}
            held = [Held(job.id, *self.whose(job.owner), self.present(job.owner)) for job in live.values()]
            number = makes_room(held, *self.whose(owner))
            if number is not None:
                live[number].cancel()
                live[number].join(_ENDING)
            return super().submit(owner, request, resume, place)

    def sweep(self, present: Callable[[str], bool], now: float | None = None) -> None:
        """Stop what was left long ago, and let the runs of those who have just left rest until they are back."""
        now = time.monotonic() if now is None else now
        super().sweep(present, now)
        for job in self.live_jobs():
            left = job.gone_since is not None and now - job.gone_since >= RESTS_AFTER
            if left and job.view().status != "paused":  # what the visitor paused themselves stays so
                self._resting.add(job.id)
                job.pause()
            elif job.gone_since is None and job.id in self._resting:
                self._resting.discard(job.id)
                job.resume()
        self._resting &= {job.id for job in self.live_jobs()}

    def live_jobs(self) -> list[Job]:
        """All runs under way, the oldest first."""
        with self._lock:
            return [job for job in self._jobs.values() if job.live]
