"""One certificate: a question in the engine, and a picture of it for whoever looks."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from app.server.jobs.accounts import Account
from app.server.jobs.background import Background
from app.server.jobs.progress import Progress
from app.server.jobs.saved import forget, keep
from app.server.jobs.views import JobView, Request
from tpc_core import Certificate
from tpc_core.engines import Engine, Kept, Work
from tpc_core.errors import CannotWrite
from tpc_core.proofs import Proof, proof_of
from tpc_core.runs import Begun, CertifyWork, Outcome


class Job(Background):
    """A run."""

    def __init__(
        self,
        number: str,
        owner: str,
        request: Request,
        engine: Engine,
        account: Account,
        resume: Certificate | None = None,
        place: Path | None = None,
    ) -> None:
        super().__init__(number, owner, engine, account)
        self.request = request
        self._resume = resume
        self._place = place
        """Where the run is kept while it goes, if anywhere."""
        self._progress = Progress()
        self._proof: Proof | None = None
        self._outcome = Outcome()
        self._behind = True
        """Whether another run writes into its ledger; at first nobody knows."""

    # -- for pages -----------------------------------------------------------------------------------------------

    def view(self) -> JobView:
        """The job as it stands."""
        position = self.position
        with self._lock:
            self._tick()
            progress, status = self._progress, self.status
            return JobView(
                id=self.id,
                request=self.request,
                status=status,
                message=self._message,
                notice=self.notice,
                position=position,
                behind=self._behind and self._account is not None and self._account.busy,
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
                standing=self._outcome.standing,
                votes=self._outcome.votes,
                attack=self._outcome.attack,
                revision=self._revision,
                boxes=tuple(progress.boxes),
                bounded=progress.bounded,
            )

    def _rate(self) -> float:
        recent = self._progress.rate() if self.status == "running" else None
        if recent is not None:
            return recent
        seconds = self._seconds()
        cast = self._progress.samples - self._progress.earlier
        return cast / seconds if seconds > 0.05 else 0.0

    def pause(self) -> None:
        super().pause()
        with self._lock:
            self._progress.forget_rate()

    # -- its life ------------------------------------------------------------------------------------------------

    def _work(self) -> Work:
        assert self._account is not None
        self._behind = False
        request = self.request
        resume = None if request.is_certain else self._account.latest(self._resume)
        return CertifyWork(request.question, request.model, request.cloud, resume)

    def _learn(self, message: Any) -> None:
        if isinstance(message, Begun):
            self._proof = proof_of(message.claim)
            self._progress.begin(message)
        elif isinstance(message, Outcome):
            self._outcome = message
        elif isinstance(message, Kept):
            self._write(message.state.decode())
        else:
            self._progress.take(message)

    def _finish(self) -> None:
        certificate = self._progress.certificate
        if certificate is None:
            return  # cancelled before its first turn
        if self._account is not None and not self.request.is_certain:
            self._account.certificate = certificate
        if self._place is not None:
            if self.gone_since is None:
                forget(self._place)
            else:
                self._write(certificate.to_json())  # its visitor is away: they find it when they come back

    def _write(self, certificate: str) -> None:
        if self._place is not None:
            with suppress(CannotWrite):  # a full disk must not end a run
                keep(self._place, self.request, certificate)
