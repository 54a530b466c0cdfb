"""The system calls that computing and answering need, by processor; everything else fails in the sandbox."""

from __future__ import annotations

import platform
import sys

_X86_64 = {
    "read": 0, "write": 1, "close": 3, "poll": 7, "lseek": 8, "munmap": 11, "brk": 12, "rt_sigaction": 13,
    "rt_sigprocmask": 14, "rt_sigreturn": 15, "select": 23, "sched_yield": 24, "mremap": 25, "madvise": 28,
    "nanosleep": 35, "getpid": 39, "sendto": 44, "recvfrom": 45, "shutdown": 48, "exit": 60, "uname": 63,
    "gettimeofday": 96, "getrusage": 98, "sysinfo": 99, "times": 100, "sigaltstack": 131, "gettid": 186, "time": 201,
    "futex": 202, "sched_getaffinity": 204, "restart_syscall": 219, "clock_gettime": 228, "clock_getres": 229,
    "clock_nanosleep": 230, "exit_group": 231, "pselect6": 270, "ppoll": 271, "getcpu": 309, "getrandom": 318,
}  # fmt: skip
_AARCH64 = {
    "read": 63, "write": 64, "close": 57, "lseek": 62, "pselect6": 72, "ppoll": 73, "exit": 93, "exit_group": 94,
    "futex": 98, "nanosleep": 101, "clock_gettime": 113, "clock_getres": 114, "clock_nanosleep": 115,
    "sched_getaffinity": 123, "sched_yield": 124, "restart_syscall": 128, "sigaltstack": 132, "rt_sigaction": 134,
    "rt_sigprocmask": 135, "rt_sigreturn": 139, "times": 153, "uname": 160, "getrusage": 165, "getcpu": 168,
    "gettimeofday": 169, "getpid": 172, "gettid": 178, "sysinfo": 179, "sendto": 206, "recvfrom": 207,
    "shutdown": 210, "brk": 214, "munmap": 215, "mremap": 216, "madvise": 233, "getrandom": 278,
}  # fmt: skip
_PROCESSORS: dict[str, tuple[int, dict[str, int], tuple[int, int]]] = {
    "x86_64": (0xC000_003E, _X86_64, (9, 10)),
    "aarch64": (0xC000_00B7, _AARCH64, (222, 226)),
}
"""The kernel's name of a processor, its calls, and its numbers of mmap and mprotect."""

_known = _PROCESSORS.get(platform.machine()) if sys.platform == "linux" and sys.maxsize > 2**32 else None
ARCHITECTURE: int | None = _known[0] if _known else None
ALLOWED: tuple[int, ...] = tuple(_known[1].values()) if _known else ()
EXECUTABLE_MEMORY: tuple[int, ...] = _known[2] if _known else ()
