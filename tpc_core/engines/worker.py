"""A worker: it holds models, and does one piece of work at a time; others wait in it, half done, for their turn.

How messages reach it is not its business: a pipe (`python -m tpc_core.engines.worker`), or the calls of a Ray actor.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import torch

from tpc_core.engines.helping import Helper, Lead
from tpc_core.engines.messages import (
    Cancel,
    Ended,
    GiveWay,
    Go,
    Hello,
    Help,
    Helped,
    Helpers,
    Kept,
    Lacks,
    Message,
    ModelSent,
    Parked,
    Pause,
    Reports,
    Start,
    decode,
    encode,
)
from tpc_core.engines.parcels import Lacking, Shelf
from tpc_core.engines.wire import to_bytes
from tpc_core.engines.work import Work, WorkFailed
from tpc_core.errors import TpcError
from tpc_core.version import VERSION
from tpc_core.votes import assistance

_REPORT_SECONDS = 0.05
_REPORT_SIZE = 256
"""Messages of a piece of work are sent together: so many, or what came in so many seconds."""


class Worker:
    """All that a worker process does; `receive` takes its messages, one after the other."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send_bytes = send
        self._sending = threading.Lock()
        self._shelf = Shelf()
        self._helper = Helper()
        self._runs: dict[int, _Run] = {}
        self._waiting: list[Message] = []
        """What waits for a model."""
        self.turn = threading.Condition()
        """Guards whose turn it is, in all runs of this worker."""
        self.give_way_after: float | None = None
        self.lead = Lead(self.send)

    def send(self, message: Message) -> None:
        with self._sending:
            self._send_bytes(encode(message))

    def hello(self) -> None:
        self.send(Hello(VERSION, os.getpid()))

    def receive(self, data: bytes) -> None:
        """Take a message; it returns soon."""
        self._take(decode(data))

    def _take(self, message: Message) -> None:
        match message:
            case Start() | Help():
                self._open(message)
            case ModelSent():
                self._shelf.put(message.key, message.content)
                waiting, self._waiting = self._waiting, []
                for each in waiting:
                    self._take(each)
            case Helped():
                self.lead.helped(message)
            case Helpers():
                self.lead.helpers = message.count
            case GiveWay():
                with self.turn:
                    self.give_way_after = message.after
            case Go() | Pause() | Cancel():
                run = self._runs.get(message.run)
                if run is not None:
                    run.told(message)

    def _open(self, message: Start | Help) -> None:
        """Begin a piece of work, or cast votes for another worker; where its model is not here, ask for it first."""
        try:
            if isinstance(message, Help):
                voter, blocks = self._helper.open(message, self._shelf)
                reply = lambda: self.send(Helped(message.number, self._helper.count(voter, blocks)))  # noqa: E731
                threading.Thread(target=reply, name="help", daemon=True).start()
                return
            work = self._shelf.unpack(message.work)
        except Lacking as lacking:
            self._waiting.append(message)
            self.send(Lacks(lacking.key))
            return
        except Exception as error:
            if isinstance(message, Start):
                self.send(Ended(message.run, _told(error)))
            else:
                self.send(Helped(message.number, None))
            return
        run = _Run(self, message.run, work)
        self._runs[message.run] = run
        run.start()

    def forget(self, number: int) -> None:
        self._runs.pop(number, None)


class _Run:
    """One piece of work in a thread of its own; it is the bench that the work sees."""

    def __init__(self, worker: Worker, number: int, work: Work) -> None:
        self._worker, self._number, self._work = worker, number, work
        self._on_turn, self._pause, self._cancelled = True, False, False
        self._since = time.monotonic()
        self._reports: list[Any] = []
        self._reported = time.monotonic()
        self._thread = threading.Thread(target=self._life, name=f"run-{number}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def told(self, message: Go | Pause | Cancel) -> None:
        with self._worker.turn:
            if isinstance(message, Go):
                self._on_turn, self._pause, self._since = True, False, time.monotonic()
            elif isinstance(message, Pause):
                self._pause = True
            else:
                self._cancelled = True
            self._worker.turn.notify_all()

    # -- the bench -----------------------------------------------------------------------------------------------

    def stop(self) -> bool:
        worker = self._worker
        with worker.turn:
            due = worker.give_way_after
            over = due is not None and time.monotonic() - self._since >= due
            if self._on_turn and not self._cancelled and (self._pause or over):
                self._on_turn = False
                self._flush()
                worker.send(Parked(self._number))
            while not self._on_turn and not self._cancelled:
                worker.turn.wait()
            cancelled = self._cancelled
        self._flush()  # a batch takes long, and what is known should be seen meanwhile
        return cancelled

    def keep(self, state: bytes) -> None:
        self._flush()
        self._worker.send(Kept(self._number, state))

    def tell(self, message: Any) -> None:
        self._reports.append(message)
        self._flush(_REPORT_SECONDS)

    # -- its life ------------------------------------------------------------------------------------------------

    def _life(self) -> None:
        assistance.set(self._worker.lead)
        error: TpcError | None = None
        try:
            for report in self._work.run(self):
                self.tell(report)
            self._flush()
        except Exception as caught:
            error = _told(caught)
        self._worker.forget(self._number)
        try:
            self._flush()
        except Exception as caught:
            error = error or _told(caught)
        self._worker.send(Ended(self._number, error))

    def _flush(self, unless_within: float = 0.0) -> None:
        recent = time.monotonic() - self._reported < unless_within
        if self._reports and (not recent or len(self._reports) >= _REPORT_SIZE):
            reports, self._reports = tuple(self._reports), []
            content = to_bytes(reports)
            self._worker.send(Reports(self._number, content))
            self._reported = time.monotonic()


def _told(error: Exception) -> TpcError:
    """An error as the asker will see it; one that nobody raised on purpose is a bug, and goes to the log in full."""
    if isinstance(error, TpcError):
        return error
    traceback.print_exception(error)
    return WorkFailed(f"unexpected {type(error).__name__}: {error}")


def main() -> None:
    """The life of a worker process: it ends when its pipe does, so a killed parent leaves no orphans."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    torch.set_num_threads(1)
    with Connection(int(sys.argv[1])) as pipe:
        worker = Worker(pipe.send_bytes)
        try:
            worker.hello()
            while True:
                worker.receive(pipe.recv_bytes())
        except (EOFError, OSError):
            os._exit(0)  # threads of half-done work must not keep the process


if __name__ == "__main__":
    main()
