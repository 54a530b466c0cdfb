"""What a process that reads a stranger's file may still do: compute, and answer. Everything else is taken from it.

Several locks, each of which the system may or may not have; what could be had is reported, never assumed:
limits of memory and time, an ordinary user in place of root, a network of its own with nothing in it, Landlock
(no file can be opened, no port reached) and seccomp (no system call but those that computing and answering need).
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from tpc_core.data.sandbox.syscalls import ALLOWED, ARCHITECTURE, EXECUTABLE_MEMORY

NOBODY = 65534
_MOST_HANDLES = 65_536
_NEW_NETWORK, _NEW_IPC, _NEW_USER = 0x4000_0000, 0x0800_0000, 0x1000_0000
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _SECCOMP_FILTER = 38, 22, 2
_LANDLOCK_CREATE, _LANDLOCK_RESTRICT, _LANDLOCK_VERSION = 444, 446, 1
_FILE_RIGHTS = ((5, 0xFFFF), (3, 0x7FFF), (2, 0x3FFF), (1, 0x1FFF))
"""Version of Landlock -> every right over files that it knows, as bits; newest first."""


class CannotConfine(Exception):
    """One of the locks is not to be had on this system."""


@dataclass(frozen=True)
class Limits:
    """What one file may cost."""

    seconds: float
    memory: int


def limit(limits: Limits) -> None:
    """Memory beyond what is mapped already, time, and no writing of files at all."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, limits.seconds)  # ends even a loop inside a C library
    seconds = int(limits.seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":  # elsewhere the limit is not enforced, or counts other things
        with open("/proc/self/statm", encoding="ascii") as statistics:
            mapped = int(statistics.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        most = mapped + limits.memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def leave_network() -> str:
    """Move to a network in which there is nothing, where the system lets us; once, before any fork."""
    _on_linux()
    libc = _libc()
    # Root may do it as it is; others in a user namespace of their own, if those are allowed.
    if libc.unshare(_NEW_NETWORK | _NEW_IPC) != 0 and libc.unshare(_NEW_USER | _NEW_NETWORK | _NEW_IPC) != 0:
        raise CannotConfine("no network namespace")
    return "a network of its own"


def keep_only(handle: int) -> None:
    """Close every file but one; what is said goes nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    os.closerange(3, handle)
    os.closerange(handle + 1, _MOST_HANDLES)


def leave_root() -> str:
    """Be nobody from now on, if this is root."""
    if os.geteuid() != 0:
        return "an ordinary user"
    try:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    except (OSError, AttributeError) as error:
        raise CannotConfine("still root") from error
    return "the user nobody"


def forbid_files() -> str:
    """Landlock with no exception to it: no file is opened, made, listed, run or removed, no port bound or reached."""
    _on_linux()
    libc = _libc()
    version = libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_LANDLOCK_VERSION))
    if version < 1:
        raise CannotConfine("no Landlock")
    rights = next(bits for least, bits in _FILE_RIGHTS if version >= least)
    ports, scopes = (3 if version >= 4 else 0), (3 if version >= 6 else 0)
    content = struct.pack("<QQQ", rights, ports, scopes)
    # Older kernels know a shorter record, and refuse a longer one only where the rest of it is not zero.
    record = ctypes.create_string_buffer(content, len(content))
    rules = libc.syscall(_LANDLOCK_CREATE, record, ctypes.c_size_t(len(content)), ctypes.c_uint32(0))
    if rules < 0:
        raise CannotConfine("no Landlock")
    try:
        _no_new_privileges(libc)
        if libc.syscall(_LANDLOCK_RESTRICT, ctypes.c_int(rules), ctypes.c_uint32(0)) != 0:
            raise CannotConfine("no Landlock")
    finally:
        os.close(rules)
    return f"no files (Landlock {version})"


def forbid_calls() -> str:
    """Seccomp: every system call that is not on the list fails, as does making memory executable."""
    _on_linux()
    if ARCHITECTURE is None:
        raise CannotConfine("no seccomp filter for this processor")
    libc = _libc()
    _no_new_privileges(libc)
    program = _filter()
    instructions = ctypes.create_string_buffer(program, len(program))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))

    given = Program(len(program) // 8, ctypes.cast(instructions, ctypes.c_void_p))
    if libc.prctl(_SET_SECCOMP, _SECCOMP_FILTER, ctypes.byref(given), 0, 0) != 0:
        raise CannotConfine("no seccomp")
    return "no system calls but those of computing (seccomp)"


LOCKS: tuple[Callable[[], str], ...] = (leave_root, forbid_files, forbid_calls)
"""In the order in which they must come: seccomp forbids the calls that the others need."""


def lock(locks: tuple[Callable[[], str], ...] = LOCKS) -> list[str]:
    """Turn every lock that there is; what could be had, in words."""
    had = []
    for turn in locks:
        with suppress(CannotConfine):
            had.append(turn())
    return had


def _filter() -> bytes:
    """The seccomp program, in the kernel's classic BPF: load, compare, answer."""
    assert ARCHITECTURE is not None
    load, equal, bits, answer = 0x20, 0x15, 0x45, 0x06
    allow, refuse = 0x7FFF_0000, 0x0005_0001  # refuse: the call fails with EPERM

    def step(code: int, value: int, then: int = 0, other: int = 0) -> bytes:
        return struct.pack("<HBBI", code, then, other, value)

    program = step(load, 4) + step(equal, ARCHITECTURE, 1, 0) + step(answer, refuse) + step(load, 0)
    for number in EXECUTABLE_MEMORY:  # mmap and mprotect, without the right to run what is in the memory
        program += step(equal, number, 0, 4) + step(load, 16 + 8 * 2)
        program += step(bits, 0x4, 0, 1) + step(answer, refuse) + step(answer, allow)
    for number in ALLOWED:
        program += step(equal, number, 0, 1) + step(answer, allow)
    return program + step(answer, refuse)


def _no_new_privileges(libc: ctypes.CDLL) -> None:
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        raise CannotConfine("privileges could be gained")


def _on_linux() -> None:
    if sys.platform != "linux":
        raise CannotConfine("only Linux has this")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
