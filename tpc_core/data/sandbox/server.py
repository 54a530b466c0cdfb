"""The process that waits with everything imported, and forks once for each file; `start.py` starts it.

Forking takes milliseconds where a new interpreter takes seconds. Each fork gives up every right that computing does not
need, reads one file under limits of memory and time, answers through a socket of its own, and ends.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from typing import Protocol

from tpc_core.data.limits import MAX_UPLOAD_BYTES
from tpc_core.data.sandbox.confinement import (
    LOCKS,
    CannotConfine,
    Limits,
    keep_only,
    leave_network,
    limit,
    lock,
)
from tpc_core.data.sandbox.frames import SHARE, SMALL, answer_of_error, receive_parts, send_parts
from tpc_core.errors import InvalidFile, TpcError

GRACE = 2.0
"""Seconds past its own limit after which a child that does not end is killed from outside."""

Locks = tuple[Callable[[], str], ...]


class Reader(Protocol):
    """What a sandbox reads: the module that `start.py` was told to use."""

    def answer(self, content: bytes, name: str) -> list[bytes]:
        """The pieces of the answer to one file, or a TpcError."""

    def samples(self) -> dict[str, bytes]:
        """Genuine files by name, to be read before the first stranger's."""


def serve(control: socket.socket, limits: Limits, reader: Reader) -> None:
    """Take one socket after another from the control line and give each to a child of its own.

    A small file has a share of the memory, so that however many come, they take no more than the large ones.
    """
    share = Limits(limits.seconds, limits.memory // SHARE)
    children: dict[int, float] = {}
    had = []
    with contextlib.suppress(CannotConfine):
        had.append(leave_network())
    samples = reader.samples()
    for (
        name,
        content,
    ) in samples.items():  # what is imported on first use is imported now: children open no file
        reader.answer(content, name)
    # What was imported is not touched by the collector any more, so children share it instead of copying it.
    gc.collect()
    gc.freeze()
    locks, turned = rehearsed(reader, samples, limits)
    control.sendall(json.dumps({"ready": had + turned}).encode() + b"\n")
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
                _child(link, share if message == SMALL else limits, locks, reader)
            children[child] = time.monotonic() + limits.seconds + GRACE
            link.close()
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def rehearsed(reader: Reader, samples: dict[str, bytes], limits: Limits) -> tuple[Locks, list[str]]:
    """The locks under which every sample can still be read, and what they are in words.

    Another system library may need a call that our list does not have; better to read without that one lock, and
    to say so, than not to read at all.
    """
    for count in range(len(LOCKS), 0, -1):  # the last lock is the strictest
        locks = LOCKS[:count]
        said = _rehearse(reader, samples, limits, locks)
        if said is not None:
            return locks, said
    return (), []


def _rehearse(reader: Reader, samples: dict[str, bytes], limits: Limits, locks: Locks) -> list[str] | None:
    """One child reads all samples under these locks; what it turned, or None where it could not read them."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            limit(limits)
            keep_only(theirs.fileno())
            had = lock(locks)
            for name, content in samples.items():
                reader.answer(content, name)
            send_parts(theirs, [json.dumps(had).encode()])
            code = 0
        finally:
            os._exit(code)
    theirs.close()
    with ours:
        try:
            (said,) = receive_parts(ours, 1, 4096)
            words: list[str] | None = json.loads(said)
        except (EOFError, OSError):
            words = None
    os.waitpid(child, 0)
    return words


def _reap(children: dict[int, float]) -> None:
    for child, end in list(children.items()):
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
        if os.waitpid(child, os.WNOHANG)[0]:
            del children[child]


def _child(link: socket.socket, limits: Limits, locks: Locks, reader: Reader) -> None:
    """Read one file and answer; this process never returns from here."""
    code = 1
    try:
        limit(limits)
        keep_only(link.fileno())
        lock(locks)
        name, content = receive_parts(link, 2, MAX_UPLOAD_BYTES + 4096)
        send_parts(link, answer(reader, content, name.decode("utf-8", "replace")))
        link.shutdown(socket.SHUT_RDWR)
        code = 0
    finally:
        os._exit(code)  # no handlers, no buffers: nothing that belongs to the parent runs twice


def answer(reader: Reader, content: bytes, name: str) -> list[bytes]:
    """The pieces of the answer: what the reader found, or a sentence."""
    try:
        return reader.answer(content, name)
    except TpcError as error:
        return answer_of_error(error)
    except MemoryError:
        return answer_of_error(InvalidFile(f"{name} needs more memory than a file may use here"))
    except Exception as error:  # whatever it is, it is the fault of the file, and one sentence
        return answer_of_error(InvalidFile(f"{name} cannot be read ({type(error).__name__})"))


def main(handle: str, seconds: str, memory: str, reader: str) -> None:
    """Serve the process at the other end of a socket until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the app; we end when it does
    module: Reader = importlib.import_module(reader)
    serve(socket.socket(fileno=int(handle)), Limits(float(seconds), int(memory)), module)
