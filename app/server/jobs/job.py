"""One run: a thread that works when it is its turn, and a picture of it for whoever looks."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from app.server.crowd import GiveWay
from app.server.fair_queue import Turns, be_patient
from app.server.jobs.accounts import Account
from app.server.jobs.progress import Progress
from app.server.jobs.saved import forget, keep
from app.server.jobs.views import LIVE, JobView, Request, Status
from tpc_core import Certificate, Ledger, certify_events
from tpc_core.case_view import named
from tpc_core.certificate.certain import CellsRecord
from tpc_core.certify import Event, prepare
from tpc_core.errors import CannotWrite, TpcError
from tpc_core.landscape import Landscape, can_be_surveyed, span, survey
from tpc_core.ledger import WHOLE
from tpc_core.proofs import Proof, Standing
from tpc_core.proofs.judgement import proven_attack
from tpc_core.verify import certain_case_of
from tpc_core.votes import Voter


class Job:
    """One run. The worker thread writes under the lock; `view` copies."""

    def __init__(
        self,
        number: str,
        owner: str,
        request: Request,
        turns: Turns,
        account: Account,
        resume: Certificate | None = None,
        place: Path | None = None,
    ) -> None:
        self.id = number
        self.owner = owner
        self.request = request
        self.gone_since: float | None = None
        """When its visitor was first missed."""
        self._give_way = GiveWay()
        self._turns = turns
        self._account = account
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
        self._proof: Proof | None = None
        self._standing: Standing | None = None
        self._votes: dict[str, int] = {}
        self._attack: tuple[float, ...] | None = None
        self._landscape: Landscape | None = None
        self._mapping = False
        self._behind = True
        """Whether another run writes into its ledger; at first nobody knows."""
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
                behind=self._behind and self._account.busy,
                prediction=progress.prediction,
                cells=tuple(progress.cells.values()),
                counts=tuple(progress.counts),
                planned_cells=progress.planned_cells,
                planned_samples=progress.planned_samples,
                covered=progress.covered,
                samples=progress.samples,
                earlier=progress.earlier,
                seconds=self._seconds(),
                rate=self._rate(),
                certificate=progress.certificate,
                proof=self._proof,
                standing=self._standing,
                votes=self._votes,
                attack=self._attack,
                landscape=self._landscape,
                mapping=self._mapping,
                revision=self._revision,
                boxes=tuple(progress.boxes),
                bounded=progress.bounded,
            )

    def _seconds(self) -> float:
        return self._worked + (time.monotonic() - self._started if self._started is not None else 0.0)

    def _rate(self) -> float:
        recent = self._progress.rate() if self._status == "running" else None
        if recent is not None:
            return recent
        seconds = self._seconds()
        cast = self._progress.samples - self._progress.earlier
        return cast / seconds if seconds > 0.05 else 0.0

    # -- for the worker ----------------------------------------------------------------------------------------

    def _work(self) -> None:
        be_patient()
        try:
            with self._account.writing(self._cancel.is_set) as mine:
                if not mine:
                    self._end("cancelled", "")
                    return
                self._behind = False
                self._wait_for_turn()
                draw = self._certify()
            if draw is not None:
                with suppress(TpcError):  # the verdict stands, with or without its picture
                    self._survey(*draw)
        except TpcError as error:
            self._end("failed", str(error))
        except Exception as error:
            # Nobody awaits this thread: an error that is not shown would be a run that never ends.
            self._end("failed", f"unexpected {type(error).__name__}: {error}")
        finally:
            self._turns.leave(self.id)

    def _certify(self) -> tuple[Certificate, Voter, Ledger] | None:
        """The run itself; what its map takes, where there is one to draw."""
        question, model, cloud = self.request.question, self.request.model, self.request.cloud
        asked = (model, cloud, question.transform, question.radius, question.options)
        if self.request.is_certain:
            self._prove(certify_events(*asked, cancelled=lambda: not self._wait_for_turn()))
            return None
        run = prepare(*asked, resume=self._account.latest(self._resume))
        with self._lock:
            self._proof = run.proof
            self._progress.begin(run.proof, run.ledger)
        events = certify_events(
            *asked,
            cancelled=lambda: not self._wait_for_turn(),
            resume=run.ledger,
            voter=run.voter,
            keep=None if self._place is None else self._write,
        )
        certificate = self._follow(events, run.ledger)
        self._account.certificate = certificate
        if self._place is not None:
            if self.gone_since is None:
                forget(self._place)
            else:
                self._write(certificate)  # its visitor is away: they find it when they come back
        mapping = not self._cancel.is_set() and self._map_wanted(run.proof, certificate)
        with self._lock:
            self._mapping = mapping
        self._end("cancelled" if self._cancel.is_set() else "done", "")
        return (certificate, run.voter, run.ledger) if mapping else None

    def _prove(self, events: Iterator[Event]) -> None:
        """A proof without votes: no ledger, nothing to go on with, and no map but its own cells."""
        for event in events:
            with self._lock:
                self._progress.take(event)
                self._revision += 1
        certificate = self._progress.certificate
        assert certificate is not None
        points = certain_case_of(certificate).proof.points
        with self._lock:
            if points is not None:
                self._standing = Standing(certificate.verdict == "certified", (), points)
            elif (
                isinstance(certificate.certain, CellsRecord)
                and certificate.certain.counterexample is not None
            ):
                self._attack = tuple(certificate.certain.counterexample.parameter)
        self._end("cancelled" if self._cancel.is_set() else "done", "")

    def _write(self, certificate: Certificate) -> None:
        assert self._place is not None
        with suppress(CannotWrite):  # a full disk must not end a run
            keep(self._place, self.request, certificate)

    def _follow(self, events: Iterator[Event], ledger: Ledger) -> Certificate:
        for event in events:
            with self._lock:
                self._progress.take(event)
                self._revision += 1
        certificate, proof = self._progress.certificate, self._proof
        assert certificate is not None
        assert proof is not None
        if certificate.verdict == "refuted":
            number = proven_attack(proof.claim, ledger)
            self._attack = None if number is None else ledger.refutations[number].parameter
        if proof.kind not in ("cover", "grid") and ledger.chosen is not None:
            standing = proof.standing(ledger)
            with self._lock:
                self._standing = standing
                if proof.kind == "group":
                    self._votes = named(ledger.tally(WHOLE).total, certificate.model.classes)
        return certificate

    def _map_wanted(self, proof: Proof, certificate: Certificate) -> bool:
        """Whether there is a map to draw: a certificate of one probability, in few parameters."""
        single = proof.kind == "single" and certificate.prediction is not None
        return single and can_be_surveyed(self.request.transform)

    def _survey(self, certificate: Certificate, voter: Voter, ledger: Ledger) -> None:
        """After the verdict from one probability: an empirical map, somewhat wider than what was certified."""
        request = self.request
        transform, classes = request.transform, list(request.model.classes)
        half = span(transform, [p.to_internal(certificate.radius[p.name]) for p in transform.radii])
        target = ledger.target
        assert target is not None
        try:
            for landscape in survey(
                voter, request.cloud, transform, half, classes, target, self._wait_for_turn
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
