"""Runs that survive the server: what a run has seen is kept in the folder TPC_RUNS, if the server was given one.

Each file holds the certificate so far, and with it the whole question. A visitor is offered their own when they come
back; what they uploaded is never written down.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from app.server.jobs.views import Request
from tpc_core import Certificate, Model
from tpc_core.data.files import read_bytes
from tpc_core.errors import InvalidFile, TpcError
from tpc_core.machinery import write_atomically

FORMAT = "tpc-saved-run/2"
LARGEST = 128 << 20
KEPT_SECONDS = 14 * 24 * 3600.0
_CLOCK = time.time() - time.monotonic()
_JUMP = 3600.0
"""Seconds by which the clock of the day may drift from the one that cannot be set, while this process lives."""


@dataclass(frozen=True)
class SavedRun:
    """A run that was cut off."""

    path: Path
    title: str
    spec: str
    """How the command line calls the object."""
    certificate: Certificate

    def request(self, load: Callable[[str], Model]) -> Request:
        """The question again, so that the certificate can be continued; TpcError where that is not possible."""
        certificate = self.certificate
        model = load(certificate.model.name)
        if model.digest != certificate.model.digest:
            raise InvalidFile(f"{self.title}: the checkpoint {model.name} is another one now")
        question = replace(certificate.question, object=self.spec)
        return Request(self.title, question, model, certificate.cloud.cloud())


class SavedRuns:
    """The folder of saved runs, one folder in it for each visitor; without a folder nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    @staticmethod
    def from_environment() -> SavedRuns:
        """TPC_RUNS, or nowhere."""
        chosen = os.environ.get("TPC_RUNS")
        return SavedRuns(Path(chosen).expanduser() if chosen else None)

    def place(self, owner: str, request: Request) -> Path | None:
        """Where a new run is kept; None for an upload, which is its visitor's own business."""
        if self.folder is None or request.private:
            return None
        return self._of(owner) / f"{time.time_ns():020}.json"

    def unfinished(self, owner: str) -> list[SavedRun]:
        """The visitor's runs that were cut off, oldest first; damaged and old ones are cleared away.

        A file that cannot be read just now stays, and so does every file while the clock cannot be trusted.
        """
        if self.folder is None or not self._of(owner).is_dir():
            return []
        found = []
        for path in sorted(self._of(owner).glob("*.json")):
            try:
                path.open("rb").close()
                if _is_old(path):
                    raise InvalidFile(f"{path.name} is old")
                found.append(read_saved(path))
            except TpcError:
                forget(path)
            except OSError:
                continue
        return found

    def _of(self, owner: str) -> Path:
        assert self.folder is not None
        return self.folder / (re.sub(r"[^A-Za-z0-9_-]", "", owner)[:64] or "nobody")


def _is_old(path: Path) -> bool:
    """Whether a saved run has been kept for long enough, by a clock that was not set meanwhile."""
    now = time.time()
    jumped = abs(now - time.monotonic() - _CLOCK) > _JUMP
    return not jumped and now - path.stat().st_mtime > KEPT_SECONDS


def keep(path: Path, request: Request, certificate: str) -> None:
    """Write a run down, whole or not at all; the certificate is JSON already, and may be large."""
    head = {"format": FORMAT, "title": request.title, "spec": request.question.object}
    write_atomically(path, f'{json.dumps(head)[:-1]}, "certificate": {certificate}}}'.encode())


def read_saved(path: Path) -> SavedRun:
    """A saved run, or an InvalidFile."""
    try:
        content = json.loads(read_bytes(path, LARGEST))
        if content["format"] != FORMAT:
            raise InvalidFile(f"{path.name} is not a saved run")
        certificate = Certificate.from_json(json.dumps(content["certificate"]))
        return SavedRun(path, str(content["title"])[:200], str(content["spec"])[:200], certificate)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        if isinstance(error, TpcError):
            raise
        raise InvalidFile(f"{path.name} is not a saved run") from error


def forget(path: Path) -> None:
    """Clear a saved run away; one that cannot be cleared is found again, and does no harm."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return
