"""Memory of a server that runs for long: what the collector need not walk over, and what the allocator gives back."""

from __future__ import annotations

import ctypes
import gc
import sys
from contextlib import suppress

ARENAS = 2
_M_ARENA_MAX = -8
"""The name of this setting in glibc's malloc.h."""


def set_libraries_aside() -> None:
    """Spare the collector the objects of the libraries, which live as long as the process does.

    A third of a million objects of torch, scipy and Streamlit would be walked over after every slider movement and
    every poll of a run: 0.17 s with no other thread at work. What visitors bring comes later, and is collected.
    """
    gc.collect()
    gc.freeze()


def share_arenas() -> None:
    """Let all threads take memory from two arenas, where the system's allocator is glibc's.

    Every run has a thread of its own, and glibc gives threads up to eight arenas a core, each of which keeps what it
    once had: over 200 runs the server grew by 50 MB that nobody used.
    """
    if sys.platform != "linux":
        return
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, ARENAS)
