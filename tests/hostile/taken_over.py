"""A reader that its file has taken over: it does whatever it is told. The sandbox runs it in place of a parser."""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tpc_core.data.sandbox.frames import document_answer

MEMORY = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC


def _connect(kind: int, where: object) -> None:
    with socket.socket(kind, socket.SOCK_STREAM) as link:
        link.settimeout(2)
        link.connect(where)  # type: ignore[arg-type]


def _listen() -> None:
    with socket.socket() as link:
        link.bind(("127.0.0.1", 0))


def _datagram() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.sendto(b"x", ("127.0.0.1", 9))


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def _trace(parent: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(16, parent, 0, 0) != 0:  # PTRACE_ATTACH
        raise OSError(ctypes.get_errno(), "ptrace")


def _still_open() -> None:
    """Whether any file is open but the line on which the answer goes; 0, 1 and 2 lead nowhere."""
    found = [number for number in range(3, 64) if _is_open(number)]
    if len(found) == 1:
        raise OSError(0, "only the line is open")


def _is_open(number: int) -> bool:
    try:
        os.read(number, 0)
    except OSError as error:
        return error.errno != 9  # EBADF
    return True


ACTS: dict[str, Callable[[str], object]] = {
    "read a file": lambda path: Path(path).read_bytes(),
    "list a folder": lambda path: os.listdir(os.path.dirname(path)),
    "look whether a file is there": lambda path: os.stat(path),
    "write a file": lambda path: Path(path).write_bytes(b"x"),
    "make a file": lambda path: os.close(os.open(f"{path}.new", os.O_CREAT | os.O_WRONLY)),
    "remove a file": lambda path: os.unlink(path),
    "rename a file": lambda path: os.rename(path, f"{path}.moved"),
    "change a file's mode": lambda path: os.chmod(path, 0o777),
    "make a link": lambda path: os.symlink(path, f"{path}.link"),
    "make a folder": lambda path: os.mkdir(f"{path}.folder"),
    "run a program": lambda path: subprocess.run(["true"], check=True),
    "become a program": lambda path: os.execv(sys.executable, [sys.executable, "-c", ""]),
    "fork": lambda path: _fork(),
    "open a connection": lambda path: _connect(
        socket.AF_INET, ("127.0.0.1", int(Path(path).suffix[1:] or 9))
    ),
    "open an IPv6 connection": lambda path: _connect(socket.AF_INET6, ("::1", 9)),
    "send a datagram": lambda path: _datagram(),
    "reach a local service": lambda path: _connect(socket.AF_UNIX, f"{path}.socket"),
    "listen": lambda path: _listen(),
    "stop its parent": lambda path: os.kill(os.getppid(), signal.SIGSTOP),
    "signal everybody": lambda path: os.kill(-1, signal.SIGCONT),
    "trace its parent": lambda path: _trace(os.getppid()),
    "make memory that runs": lambda path: mmap.mmap(-1, 4096, prot=MEMORY),
    "lift its limits": lambda path: __import__("resource").setrlimit(
        __import__("resource").RLIMIT_FSIZE, (1 << 20, 1 << 20)
    ),
    "put off its end": lambda path: signal.setitimer(signal.ITIMER_REAL, 0),
    "be root": lambda path: os.setuid(0),
    "find another open file": lambda path: _still_open(),
}
"""What a stranger's code would like to do, given the path of a file that it would like to have."""


def answer(content: bytes, name: str) -> list[bytes]:
    """Do what the file says; "done" where it worked, else why not."""
    act, path = content.decode().split("\n")
    try:
        ACTS[act](path)
    except (OSError, ValueError) as error:  # ValueError: the limits of a process may not be raised
        return document_answer(f"refused: {error}".encode())
    return document_answer(b"done")


def samples() -> dict[str, bytes]:
    """Nothing to rehearse but that an answer can be given."""
    return {}
