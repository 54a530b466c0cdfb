"""The process that waits with everything imported, and forks once for each file; `start.py` starts it.

Forking takes milliseconds where a new interpreter takes seconds. Each fork reads one file under limits of memory
and time, answers through a socket of its own, and ends.
"""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import select
import signal
import socket
import sys
import time
from dataclasses import dataclass

from tpc_core.data.files.parse import read_geometry
from tpc_core.data.geometry import ordered_points
from tpc_core.data.limits import MAX_UPLOAD_BYTES
from tpc_core.data.sandbox.frames import answer_of, answer_of_error, receive_parts, send_parts
from tpc_core.errors import InvalidCloud, InvalidFile

GRACE = 2.0
"""Seconds past its own limit after which a child that does not end is killed from outside."""


@dataclass(frozen=True)
class Limits:
    """What one file may cost."""

    seconds: float
    memory: int


def serve(control: socket.socket, limits: Limits) -> None:
    """Take one socket after another from the control line and give each to a child of its own."""
    children: dict[int, float] = {}
    # What was imported is not touched by the collector any more, so children share it instead of copying it.
    gc.collect()
    gc.freeze()
    control.sendall(b"ready")
    while True:
        readable, _, _ = select.select([control], [], [], 0.5 if children else None)
        _reap(children)
        if not readable:
            continue
        message, handles, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            break  # the app is gone
        for handle in handles:
            link = socket.socket(fileno=handle)
            child = os.fork()
            if child == 0:
                control.close()
                _child(link, limits)
            children[child] = time.monotonic() + limits.seconds + GRACE
            link.close()
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def _reap(children: dict[int, float]) -> None:
    for child, end in list(children.items()):
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
        if os.waitpid(child, os.WNOHANG)[0]:
            del children[child]


def _child(link: socket.socket, limits: Limits) -> None:
    """Read one file and answer; this process never returns from here."""
    code = 1
    try:
        confine(limits)
        name, content = receive_parts(link, 2, MAX_UPLOAD_BYTES + 4096)
        send_parts(link, answer(content, name.decode("utf-8", "replace")))
        link.shutdown(socket.SHUT_RDWR)
        code = 0
    finally:
        os._exit(code)  # no handlers, no buffers: nothing that belongs to the parent runs twice


def answer(content: bytes, name: str) -> list[bytes]:
    """The pieces of the answer: arrays, or a sentence."""
    try:
        geometry = read_geometry(content, name)
        return answer_of(geometry, ordered_points(geometry)[0])
    except (InvalidFile, InvalidCloud) as error:
        return answer_of_error(error)
    except MemoryError:
        return answer_of_error(InvalidFile(f"{name} needs more memory than a file may use here"))
    except Exception as error:  # ordering the points may fail as well as reading them
        return answer_of_error(InvalidFile(f"{name} cannot be read ({type(error).__name__})"))


def confine(limits: Limits) -> None:
    """Limits of this process: memory beyond what is mapped already, time, and no writing of files at all."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, limits.seconds)  # ends even a loop inside a C library
    seconds = int(limits.seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":  # elsewhere the limit is not enforced, or counts other things
        with open("/proc/self/statm", encoding="ascii") as statistics:
            mapped = int(statistics.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        limit = mapped + limits.memory
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main(handle: str, seconds: str, memory: str) -> None:
    """Serve the process at the other end of a socket until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the app; we end when it does
    serve(socket.socket(fileno=int(handle)), Limits(float(seconds), int(memory)))
