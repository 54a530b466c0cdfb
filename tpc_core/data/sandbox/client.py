"""The side of the app: hand a file to a child process, wait for its arrays, forgive it everything."""

from __future__ import annotations

import atexit
import json
import logging
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from tpc_core.data.files import FORMATS
from tpc_core.data.geometry import as_trimesh
from tpc_core.data.limits import (
    MAX_UPLOAD_BYTES,
    SMALL_UPLOAD_BYTES,
    UPLOAD_MEMORY_BYTES,
    UPLOAD_SECONDS,
)
from tpc_core.data.sandbox.frames import AT_ONCE, LARGE, SMALL, Deadline, receive_answer, send_parts
from tpc_core.data.shape import Shape
from tpc_core.errors import InvalidFile

SHAPES = "tpc_core.data.sandbox.shapes"
"""The module that reads meshes and clouds; another sandbox may be given another."""

_START_SECONDS = 60.0
_LONGEST_GREETING = 4096
_log = logging.getLogger(__name__)
T = TypeVar("T")
Receive = Callable[[socket.socket, str, Deadline], T]
"""Takes an answer off the line and checks it."""


class Sandbox:
    """One server process, started when first needed and again after it died; it forks for every file."""

    def __init__(
        self,
        reader: str = SHAPES,
        *,
        seconds: float = UPLOAD_SECONDS,
        memory: int = UPLOAD_MEMORY_BYTES,
    ) -> None:
        self.reader, self.seconds, self.memory = reader, seconds, memory
        self.confinement: list[str] = []
        """What was taken from the process that reads, in words; known once it was started."""
        self._lock = threading.Lock()
        self._small, self._large = threading.BoundedSemaphore(AT_ONCE), threading.BoundedSemaphore(1)
        self._server: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def start(self) -> None:
        """Start the server now, so that the first file need not wait for it."""
        with self._lock:
            self._running()

    def read(self, content: bytes, name: str) -> Shape:
        """The shape in a file, or an InvalidFile or InvalidCloud in one sentence."""
        shown = safe_name(name)
        ending = Path(shown).suffix
        if ending not in FORMATS:
            raise InvalidFile(f"{shown} cannot be read; these can: {', '.join(sorted(FORMATS))}")
        geometry, ordered = self.ask(content, shown, receive_answer)
        return Shape(name=Path(shown).stem, label=None, mesh=as_trimesh(geometry), ordered=ordered)

    def ask(self, content: bytes, shown: str, receive: Receive[T]) -> T:
        """Let a child read a file; what it answered, or the error that it reports."""
        if len(content) > MAX_UPLOAD_BYTES:
            raise InvalidFile(f"{shown} is larger than {MAX_UPLOAD_BYTES >> 20} MB")
        turns = self._small if len(content) <= SMALL_UPLOAD_BYTES else self._large
        if not turns.acquire(timeout=self.seconds):
            raise InvalidFile("many files are being read at this moment; try again in a while")
        try:
            return self._ask(content, shown, receive)
        except (EOFError, OSError) as error:  # TimeoutError is an OSError
            if not self._server_died():
                raise self._failed(shown) from error
            try:  # not the parser but the server had died, which is not this file's fault
                return self._ask(content, shown, receive)
            except (EOFError, OSError) as again:
                raise self._failed(shown) from again
        finally:
            turns.release()

    def _ask(self, content: bytes, shown: str, receive: Receive[T]) -> T:
        with self._child(large=len(content) > SMALL_UPLOAD_BYTES) as link:
            deadline = Deadline(self.seconds + 1)
            send_parts(link, [shown.encode(), content], deadline)
            return receive(link, shown, deadline)

    def _server_died(self) -> bool:
        """Whether the server itself is gone; a process that was killed takes a moment to be seen dead."""
        server = self._server
        with suppress(subprocess.TimeoutExpired):
            return server is None or server.wait(0.5) is not None
        return False

    def _failed(self, shown: str) -> InvalidFile:
        return InvalidFile(
            f"{shown} crashed its parser, or took longer than {self.seconds:g} s; it was not read"
        )

    def stop(self) -> None:
        """End the server; it ends by itself when this process does."""
        with self._lock:
            if self._control is not None:
                self._control.close()
            if self._server is not None:
                self._server.wait(10)
            self._control = self._server = None

    @property
    def server_id(self) -> int | None:
        """The process id of the server, if it runs."""
        return self._server.pid if self._server is not None and self._server.poll() is None else None

    def _child(self, *, large: bool = True) -> socket.socket:
        """The line to a new child, which has all of the memory or a small share of it."""
        size = LARGE if large else SMALL
        ours, theirs = socket.socketpair()
        with self._lock, theirs:
            try:
                socket.send_fds(self._running(), [size], [theirs.fileno()])
            except OSError:  # it died since the last file: one fresh start
                self._forget()
                socket.send_fds(self._running(), [size], [theirs.fileno()])
        return ours

    def _running(self) -> socket.socket:
        if self._control is not None and self._server is not None and self._server.poll() is None:
            return self._control
        self._forget()
        ours, theirs = socket.socketpair()
        # One thread: a fork of a process with threads may inherit a lock that nobody will ever open.
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        self._server = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("start.py"))]
            + [str(value) for value in (theirs.fileno(), self.seconds, self.memory, self.reader)]
            + [_folder_of(self.reader)],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            env={**os.environ, **threads},
        )
        theirs.close()
        ours.settimeout(_START_SECONDS)
        try:
            self.confinement = _greeting(ours)
        except (OSError, ValueError) as error:
            self._server.kill()
            self._forget()
            raise InvalidFile(
                "files cannot be read here: the process that reads them does not start"
            ) from error
        _log.info("uploads are read by a process with %s", ", ".join(self.confinement) or "limits alone")
        ours.settimeout(None)
        self._control = ours
        return ours

    def _forget(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._server is not None:
            self._server.poll()
        self._control = self._server = None


def _folder_of(module: str) -> str:
    """The folder from which the package of a module is imported here."""
    found = find_spec(module.partition(".")[0])
    return str(Path(found.origin).parents[1]) if found is not None and found.origin else ""


def _greeting(control: socket.socket) -> list[str]:
    """The first line of a server: it is ready, and this was taken from it."""
    line = b""
    while not line.endswith(b"\n"):
        piece = control.recv(_LONGEST_GREETING)
        line += piece
        if not piece or len(line) > _LONGEST_GREETING:
            raise ValueError("not a greeting")
    return [str(words) for words in json.loads(line)["ready"]]


def safe_name(name: str) -> str:
    """The last part of a name, cut down to letters that are safe in a path, in HTML and in Markdown."""
    last = re.split(r"[/\\]", name)[-1]
    stem, dot, ending = last.rpartition(".")
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", stem if dot else last)[:60].strip("-") or "upload"
    ending = re.sub(r"[^a-z0-9]+", "", ending.lower())[:8] if dot else ""
    return f"{stem}.{ending}" if ending else stem


_shared = Sandbox()


@atexit.register
def _end() -> None:
    with suppress(Exception):
        _shared.stop()


def warm_up() -> None:
    """Start the server in the background: it takes seconds to import what it needs, and a visitor notices."""
    if _shared.server_id is None:
        threading.Thread(target=_quietly_start, name="sandbox-start", daemon=True).start()


def _quietly_start() -> None:
    with suppress(InvalidFile):  # whoever sends a file is told
        _shared.start()


def read_untrusted(content: bytes, name: str) -> Shape:
    """The shape in a file that anyone may have sent, read in a child process with limits."""
    return _shared.read(content, name)
