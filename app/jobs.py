"""Certification runs that belong to the process: each in a thread that fills a job, which pages only read."""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from app.landscape import Landscape, map_wanted, survey
from app.turns import Turns
from tpc_core import Certificate, Cloud, Model, Options, Transform, certify_events
from tpc_core.certificate.schema import Prediction
from tpc_core.certify import (
    CellDecided,
    CellRefined,
    CellStarted,
    Done,
    Event,
    Planned,
    Predicted,
    VotesCounted,
)
from tpc_core.certify.strategy import with_sigma
from tpc_core.covers import Cell
from tpc_core.errors import TpcError
from tpc_core.transforms import RadiusInput
from tpc_core.votes import Voter, resolve_device

Status = Literal["queued", "running", "paused", "done", "cancelled", "failed"]
CellStatus = Literal["waiting", "testing", "refined", "failed", "passed"]
LIVE: tuple[Status, ...] = ("queued", "running", "paused")
FORGOTTEN_AFTER = 600.0
"""Seconds after which the run of a visitor who is gone is stopped."""
RATE_WINDOW = 8.0


@dataclass(frozen=True)
class Request:
    """One question, as the page asked it."""

    title: str
    spec: str
    """How the command line calls the object; empty for an upload."""
    model: Model = field(repr=False)
    cloud: Cloud = field(repr=False)
    transform: Transform
    radius: RadiusInput | None
    options: Options


@dataclass(frozen=True)
class CellView:
    """What is known of one cell of the cover."""

    cell: Cell
    state: CellStatus
    n: int = 0
    n_a: int = 0
    lower_bound: float | None = None

    @property
    def margin(self) -> float | None:
        """How far the bound is beyond what is needed."""
        return None if self.lower_bound is None else self.lower_bound - self.cell.needed


@dataclass(frozen=True)
class Count:
    """The votes of a single-probability run after one batch."""

    n: int
    n_a: int
    lower_bound: float | None


@dataclass(frozen=True)
class JobView:
    """A picture of a job at one moment, safe to read at leisure."""

    id: str
    request: Request
    status: Status
    message: str
    position: int
    prediction: Prediction | None
    cells: tuple[CellView, ...]
    counts: tuple[Count, ...]
    planned_cells: int
    planned_samples: float
    covered: float
    samples: int
    seconds: float
    rate: float
    certificate: Certificate | None
    landscape: Landscape | None
    mapping: bool
    revision: int

    @property
    def live(self) -> bool:
        return self.status in LIVE

    @property
    def changing(self) -> bool:
        """Whether there will be more to see: the run goes on, or its map is being drawn."""
        return self.live or self.mapping

    @property
    def leaves(self) -> tuple[CellView, ...]:
        """The cells that stand: refined ones are stood for by their halves."""
        return tuple(view for view in self.cells if view.state != "refined")

    @property
    def eta(self) -> float | None:
        """Seconds to go, if votes come as fast and cells cost as much as planned."""
        if self.rate <= 0 or not 0 < self.planned_samples < float("inf"):
            return None
        if self.covered > 0.02:
            return self.samples * (1 / self.covered - 1) / self.rate
        return max(0.0, self.planned_samples - self.samples) / self.rate


class Job:
    """One run. The worker thread writes under the lock; `view` copies."""

    def __init__(
        self, number: str, owner: str, request: Request, turns: Turns, resume: Certificate | None
    ) -> None:
        self.id = number
        self.owner = owner
        self.request = request
        self._turns = turns
        self._resume = resume
        self._lock = threading.Lock()
        self._cancel = threading.Event()
        self._go = threading.Event()
        self._go.set()
        self._status: Status = "queued"
        self._message = ""
        self._prediction: Prediction | None = None
        self._cells: dict[str, CellView] = {}
        self._current: Cell | None = None
        self._counts: list[Count] = []
        self._planned = (0, 0.0)
        self._covered = 0.0
        self._samples = 0
        self._rates: deque[tuple[float, int]] = deque(maxlen=512)
        self._started: float | None = None
        self._worked = 0.0
        self._certificate: Certificate | None = None
        self._landscape: Landscape | None = None
        self._mapping = False
        self._revision = 0
        self._gone_since: float | None = None
        self._thread = threading.Thread(target=self._work, name=f"certify-{number}", daemon=True)

    # -- for pages ---------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._thread.start()

    def pause(self) -> None:
        self._go.clear()

    def resume(self) -> None:
        self._go.set()

    def cancel(self) -> None:
        self._cancel.set()
        self._go.set()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the thread; for tests."""
        self._thread.join(timeout)

    @property
    def live(self) -> bool:
        with self._lock:
            return self._status in LIVE

    def view(self) -> JobView:
        """The job as it stands."""
        position = self._turns.position(self.id)
        with self._lock:
            return JobView(
                id=self.id,
                request=self.request,
                status=self._shown_status(position),
                message=self._message,
                position=position,
                prediction=self._prediction,
                cells=tuple(self._cells.values()),
                counts=tuple(self._counts),
                planned_cells=self._planned[0],
                planned_samples=self._planned[1],
                covered=self._covered,
                samples=self._samples,
                seconds=self._seconds(),
                rate=self._rate(),
                certificate=self._certificate,
                landscape=self._landscape,
                mapping=self._mapping,
                revision=self._revision,
            )

    # -- for the worker ----------------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            self._wait_for_turn()
            request = self.request
            events = certify_events(
                request.model,
                request.cloud,
                request.transform,
                request.radius,
                request.options,
                cancelled=lambda: not self._wait_for_turn(),
                resume=self._resume,
            )
            self._follow(events)
        except TpcError as error:
            self._end("failed", str(error))
        except Exception as error:
            # Nobody awaits this thread: an error that is not shown would be a run that never ends.
            self._end("failed", f"unexpected {type(error).__name__}: {error}")
        finally:
            self._turns.leave(self.id)

    def _follow(self, events: Iterator[Event]) -> None:
        for event in events:
            with self._lock:
                self._take(event)
                self._revision += 1
        certificate = self._certificate
        mapping = (
            certificate is not None
            and not self._cancel.is_set()
            and map_wanted(certificate, self.request.transform)
        )
        with self._lock:
            self._mapping = mapping
        self._end("cancelled" if self._cancel.is_set() else "done", "")
        if mapping and certificate is not None:
            with suppress(TpcError):  # the verdict stands, with or without its picture
                self._survey(certificate)

    def _survey(self, certificate: Certificate) -> None:
        """After the verdict of an additive transform: an empirical map, somewhat wider than what was certified."""
        request = self.request
        found = certificate.claim.radius
        widths = np.array([p.to_internal(found[p.name]) for p in request.transform.radii])
        widths = 2.0 * np.where(
            widths > 0, widths, [p.to_internal(p.high) / 4 for p in request.transform.radii]
        )
        half = np.broadcast_to(widths, (request.transform.dim,)).astype(np.float64)
        smoothing = with_sigma(request.model.smoothing, request.options.sigma)
        voter = Voter(request.model, smoothing, seed=request.options.seed, device=resolve_device("auto"))
        assert certificate.prediction is not None
        classes, target = list(request.model.classes), certificate.prediction.index
        try:
            for landscape in survey(
                voter, request.cloud, request.transform, half, classes, target, self._wait_for_turn
            ):
                with self._lock:
                    self._landscape = landscape
                    self._revision += 1
        finally:
            with self._lock:
                self._mapping = False
                self._revision += 1

    def _wait_for_turn(self) -> bool:
        """True when the next batch may run; it waits while paused or while it is somebody else's turn."""
        if not self._go.is_set():
            self._turns.leave(self.id)
            self._mark_paused(True)
            self._go.wait()
            self._mark_paused(False)
        allowed = self._turns.step(self.id, lambda: self._cancel.is_set() or not self._go.is_set())
        if not allowed and not self._cancel.is_set():
            return self._wait_for_turn()  # paused while queueing
        with self._lock:
            if allowed and self._status == "queued":
                self._status = "running"
                self._started = self._started or time.monotonic()
        return allowed

    def _mark_paused(self, paused: bool) -> None:
        with self._lock:
            now = time.monotonic()
            if paused and self._started is not None:
                self._worked += now - self._started
                self._started = None
            self._status = "paused" if paused else "queued"
            self._rates.clear()
            self._revision += 1

    def _end(self, status: Status, message: str) -> None:
        with self._lock:
            self._status, self._message = status, message
            if self._started is not None:
                self._worked += time.monotonic() - self._started
                self._started = None
            self._revision += 1

    def _take(self, event: Event) -> None:
        if isinstance(event, Predicted):
            self._prediction, self._samples = event.prediction, event.samples
        elif isinstance(event, Planned):
            self._planned = (event.cells, event.estimated_samples)
        elif isinstance(event, CellStarted):
            self._current = event.cell
            self._cells[event.cell.path] = CellView(event.cell, "testing")
        elif isinstance(event, VotesCounted):
            self._count(event)
        elif isinstance(event, CellDecided):
            state: CellStatus = "passed" if event.passed else "failed"
            self._cells[event.cell.path] = CellView(event.cell, state, event.n, event.n_a, event.lower_bound)
            self._covered = event.covered
        elif isinstance(event, CellRefined):
            self._cells[event.cell.path] = replace(self._cells[event.cell.path], state="refined")
            self._cells.update({child.path: CellView(child, "waiting") for child in event.children})
        elif isinstance(event, Done):
            self._certificate = event.certificate
            self._samples = event.certificate.samples

    def _count(self, event: VotesCounted) -> None:
        self._samples = event.samples
        self._rates.append((time.monotonic(), event.samples))
        cell = event.cell or self._current
        if cell is None:
            known = self._counts[-1].lower_bound if self._counts else None
            self._counts.append(
                Count(event.n, event.n_a, event.lower_bound if event.lower_bound is not None else known)
            )
            return
        before = self._cells.get(cell.path)
        bound = event.lower_bound if event.lower_bound is not None or before is None else before.lower_bound
        self._cells[cell.path] = CellView(cell, "testing", event.n, event.n_a, bound)

    def _shown_status(self, position: int) -> Status:
        if self._status == "running" and position > 0:
            return "queued"
        return self._status

    def _seconds(self) -> float:
        return self._worked + (time.monotonic() - self._started if self._started is not None else 0.0)

    def _rate(self) -> float:
        recent = [entry for entry in self._rates if entry[0] > time.monotonic() - RATE_WINDOW]
        if self._status == "running" and len(recent) > 1 and recent[-1][0] - recent[0][0] > 0.2:
            return (recent[-1][1] - recent[0][1]) / (recent[-1][0] - recent[0][0])
        seconds = self._seconds()
        return self._samples / seconds if seconds > 0.05 else 0.0


class TooManyJobs(TpcError):
    """This visitor, or all together, have as many runs under way as the process allows."""


class JobBoard:
    """All runs of the process, by visitor; a visitor sees only their own."""

    def __init__(self, *, slots: int = 1, per_visitor: int = 3, in_all: int = 24, kept: int = 20) -> None:
        self.turns = Turns(slots)
        self.per_visitor, self.in_all, self.kept = per_visitor, in_all, kept
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}
        self._numbers = itertools.count(1)

    def submit(self, owner: str, request: Request, resume: Certificate | None = None) -> Job:
        """Start a run, or raise TooManyJobs."""
        with self._lock:
            live = [job for job in self._jobs.values() if job.live]
            if len(live) >= self.in_all:
                raise TooManyJobs(f"{len(live)} runs are under way here; try again in a while")
            if sum(job.owner == owner for job in live) >= self.per_visitor:
                raise TooManyJobs(f"you have {self.per_visitor} runs under way; cancel one or wait for it")
            self._forget(owner)
            job = Job(str(next(self._numbers)), owner, request, self.turns, resume)
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
                job._gone_since = None
            elif job._gone_since is None:
                job._gone_since = now
            elif now - job._gone_since > FORGOTTEN_AFTER:
                job.cancel()
                if not job.live:
                    with self._lock:
                        self._jobs.pop(job.id, None)

    def _forget(self, owner: str) -> None:
        """Keep the newest finished runs of a visitor only."""
        finished = [job.id for job in self._jobs.values() if job.owner == owner and not job.live]
        for number in finished[: max(0, len(finished) - self.kept + 1)]:
            del self._jobs[number]
