"""One run: a thread that works when it is its turn, and a picture of it for whoever looks."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from app.crowd import GiveWay
from app.jobs.progress import Progress
from app.jobs.saved import forget, keep
from app.jobs.views import LIVE, JobView, Request, Status
from app.turns import Turns, be_patient
from tpc_core import Certificate, certify_events
from tpc_core.certificate.schema import SingleEvidence
from tpc_core.certify import Event
from tpc_core.certify.keeping import kept
from tpc_core.certify.strategy import with_sigma
from tpc_core.errors import CannotWrite, TpcError
from tpc_core.landscape import Landscape, can_be_surveyed, span, survey
from tpc_core.votes import Voter, resolve_device


class Job:
    """One run. The worker thread writes under the lock; `view` copies."""

    def __init__(
        self,
        number: str,
        owner: str,
        request: Request,
        turns: Turns,
        resume: Certificate | None,
        place: Path | None = None,
    ) -> None:
        self.id = number
        self.owner = owner
        self.request = request
        self.gone_since: float | None = None
        """When its visitor was first missed."""
        self._give_way = GiveWay()
        self._turns = turns
        self._resume = resume
        self._place = place
        """Where the run is kept while it goes, if anywhere."""
        self._lock = threading.Lock()
        self._cancel = threading.Event()
        self._go = threading.Event()
        self._go.set()
        self._status: Status = "queued"
        self._message = ""
        self._progress = Progress()
        self._started: float | None = None
        self._worked = 0.0
        self._landscape: Landscape | None = None
        self._mapping = False
        self._revision = 0
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
            progress = self._progress
            return JobView(
                id=self.id,
                request=self.request,
                status="queued" if self._status == "running" and position > 0 else self._status,
                message=self._message,
                position=position,
                prediction=progress.prediction,
                cells=tuple(progress.cells.values()),
                counts=tuple(progress.counts),
                planned_cells=progress.planned_cells,
                planned_samples=progress.planned_samples,
                covered=progress.covered,
                samples=progress.samples,
                seconds=self._seconds(),
                rate=self._rate(),
                certificate=progress.certificate,
                landscape=self._landscape,
                mapping=self._mapping,
                revision=self._revision,
            )

    def _seconds(self) -> float:
        return self._worked + (time.monotonic() - self._started if self._started is not None else 0.0)

    def _rate(self) -> float:
        recent = self._progress.rate() if self._status == "running" else None
        if recent is not None:
            return recent
        seconds = self._seconds()
        return self._progress.samples / seconds if seconds > 0.05 else 0.0

    # -- for the worker ----------------------------------------------------------------------------------------

    def _work(self) -> None:
        be_patient()
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
            self._follow(self._kept(events))
        except TpcError as error:
            self._end("failed", str(error))
        except Exception as error:
            # Nobody awaits this thread: an error that is not shown would be a run that never ends.
            self._end("failed", f"unexpected {type(error).__name__}: {error}")
        finally:
            self._turns.leave(self.id)

    def _kept(self, events: Iterator[Event]) -> Iterator[Event]:
        """The same events, while the certificate so far is written down; when the run has ended, that is cleared."""
        request, place = self.request, self._place
        if place is None:
            yield from events
            return

        def write(certificate: Certificate) -> None:
            with suppress(CannotWrite):  # a full disk must not end a run
                keep(place, request, certificate)

        question = (request.model, request.cloud, request.transform, request.radius, request.options)
        yield from kept(events, write, *question, resume=self._resume)
        forget(place)

    def _follow(self, events: Iterator[Event]) -> None:
        for event in events:
            with self._lock:
                self._progress.take(event)
                self._revision += 1
        certificate = self._progress.certificate
        mapping = certificate is not None and not self._cancel.is_set() and self._map_wanted(certificate)
        with self._lock:
            self._mapping = mapping
        self._end("cancelled" if self._cancel.is_set() else "done", "")
        if mapping and certificate is not None:
            with suppress(TpcError):  # the verdict stands, with or without its picture
                self._survey(certificate)

    def _map_wanted(self, certificate: Certificate) -> bool:
        """Whether there is a map to draw: a certificate of one probability, in few parameters."""
        single = isinstance(certificate.evidence, SingleEvidence) and certificate.prediction is not None
        return single and can_be_surveyed(self.request.transform)

    def _survey(self, certificate: Certificate) -> None:
        """After the verdict from one probability: an empirical map, somewhat wider than what was certified."""
        request = self.request
        found = certificate.claim.radius
        half = span(request.transform, [p.to_internal(found[p.name]) for p in request.transform.radii])
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
        while True:
            if not self._go.is_set():
                self._turns.leave(self.id)
                self._mark_paused(True)
                self._go.wait()
                self._mark_paused(False)
            allowed = self._turns.step(self.id, lambda: self._cancel.is_set() or not self._go.is_set())
            if allowed or self._cancel.is_set():
                break  # else it was paused while queueing
        self._give_way.rest()
        with self._lock:
            if allowed and self._status == "queued":
                self._status = "running"
                self._started = self._started or time.monotonic()
        return allowed

    def _mark_paused(self, paused: bool) -> None:
        with self._lock:
            if paused:
                self._stop_clock()
            self._status = "paused" if paused else "queued"
            self._progress.forget_rate()
            self._revision += 1

    def _end(self, status: Status, message: str) -> None:
        with self._lock:
            self._status, self._message = status, message
            self._stop_clock()
            self._revision += 1

    def _stop_clock(self) -> None:
        if self._started is not None:
            self._worked += time.monotonic() - self._started
            self._started = None
