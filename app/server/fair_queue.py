"""Fair turns on one device: whoever waits longest goes next, and nobody keeps the device while others wait."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable

from tpc_core.machinery.thread_pool import share_out

SWITCH = 0.001
"""Seconds after which a thread of Python lets another one in, if one waits."""


PATIENT = 10
"""How nice the threads of certificates are: pages come first, and certificates have what is left of the machine.

Not nicer: a thread that is put off while it holds Python's lock puts off the pages, too. In a class of twenty the
slowest twentieth of sliders took 0.95 s with 19 and 0.84 s with 10 (docs/reliability.md)."""


def let_others_in() -> None:
    """Make the threads of this process give way sooner than after Python's 5 ms, and those that vote before all others.

    Votes are computed in many small steps outside Python, and each step ends with a wait for Python's lock. Where the
    pages of a whole class hold it for 5 ms at a time, a certificate spends its turn waiting; and where certificates
    take both cores, sliders wait for them.
    """
    sys.setswitchinterval(SWITCH)
    hiring = threading.Thread(target=_hire_patient_voters)
    hiring.start()
    hiring.join()


def be_patient() -> None:
    """Let every other thread of the process go first, where the system can tell threads apart."""
    if sys.platform == "linux":
        me = threading.get_native_id()
        if os.getpriority(os.PRIO_PROCESS, me) < PATIENT:  # less nice again is not allowed to everybody
            os.setpriority(os.PRIO_PROCESS, me, PATIENT)


def _hire_patient_voters() -> None:
    be_patient()  # threads are as nice as the one that starts them
    list(share_out(lambda _: None, range(1)))


class Turns:
    """At most `slots` holders at once; a holder gives way after `quantum` seconds if somebody waits."""

    def __init__(self, slots: int = 1, quantum: float = 1.0) -> None:
        self.slots = slots
        self.quantum = quantum
        self._changed = threading.Condition()
        self._waiting: deque[str] = deque()
        self._holders: dict[str, float] = {}

    def position(self, who: str) -> int:
        """How many are before `who` in the queue, plus one; 0 for a holder or a stranger."""
        with self._changed:
            return self._waiting.index(who) + 1 if who in self._waiting else 0

    def step(self, who: str, stop: Callable[[], bool]) -> bool:
        """Called between batches: keep or take a turn, waiting if need be. False where `stop` says so."""
        with self._changed:
            since = self._holders.get(who)
            if since is not None:
                if not self._waiting or time.monotonic() - since < self.quantum:
                    return not stop()
                self._give_up(who)
            if who not in self._waiting:
                self._waiting.append(who)
            try:
                while not (self._waiting[0] == who and len(self._holders) < self.slots):
                    if stop():
                        return False
                    self._changed.wait(timeout=0.1)
                self._holders[who] = time.monotonic()
            finally:
                self._waiting.remove(who)
                self._changed.notify_all()
        return not stop()

    def leave(self, who: str) -> None:
        """Give the turn back: paused or finished."""
        with self._changed:
            self._give_up(who)

    def _give_up(self, who: str) -> None:
        self._holders.pop(who, None)
        self._changed.notify_all()
