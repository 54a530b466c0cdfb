"""The engine: a queue of work and a crew of workers that do it. What its askers hold are handles."""

from __future__ import annotations

import itertools
import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, Self

from tpc_core.engines.crew import Crew, Hired, Link
from tpc_core.engines.fair_queue import IDLE, QUANTUM, USUAL, FairQueue, Waiting
from tpc_core.engines.handle import Handle, Listener
from tpc_core.engines.messages import (
    Cancel,
    Ended,
    Go,
    Hello,
    Help,
    Helped,
    Kept,
    Lacks,
    ModelSent,
    OtherVersion,
    Parked,
    Pause,
    Reports,
    Start,
    decode,
)
from tpc_core.engines.parcels import pack_model
from tpc_core.engines.wire import from_bytes
from tpc_core.engines.work import Restarted, Work, WorkerLost
from tpc_core.errors import TpcError
from tpc_core.models.store import Model
from tpc_core.version import VERSION

TRIES = 3
"""Workers that may die over one piece of work, or before they ever answered."""


class Engine(ABC):
    """Work goes in, its messages come out. What workers are is up to the subclass: `_hire` makes one."""

    shares_disk = True

    def __init__(self, workers: int) -> None:
        self.count = workers
        self.quantum = QUANTUM
        self._lock = threading.RLock()
        self._queue = FairQueue()
        self._handles: dict[int, Handle] = {}
        self.crew = Crew()
        self._numbers = itertools.count(1)
        self._stillborn = 0
        self._closed = False

    @abstractmethod
    def _hire(self) -> Link:
        """A new worker."""

    # -- for askers ----------------------------------------------------------------------------------------------

    def submit(
        self,
        work: Work,
        *,
        owner: str = "",
        rank: int = USUAL,
        listener: Listener | None = None,
        ended: Callable[[Handle], None] | None = None,
    ) -> Handle:
        """Hand in work. `listener` gets its messages and `ended` its end, from a thread of the engine.

        Owners take turns; `rank` says what goes first.
        """
        handle = Handle(self, next(self._numbers), work, owner, rank, listener, ended)
        with self._lock:
            if self._closed:
                raise WorkerLost("the engine is closed")
            self._handles[handle.number] = handle
            self._queue.push(Waiting(handle.number, owner, rank))
            self._dispatch()
        return handle

    def stream(self, works: Iterable[Work]) -> Iterator[Any]:
        """The messages of many pieces of work, as they come; as many are under way as there are workers.

        A reader who stops early cancels what is under way.
        """
        heard: queue.SimpleQueue[Any] = queue.SimpleQueue()
        source, live = iter(works), set[Handle]()
        try:
            while True:
                while len(live) < self.count and (work := next(source, None)) is not None:
                    live.add(self.submit(work, listener=heard.put, ended=heard.put))
                if not live:
                    return
                message = heard.get()
                if not isinstance(message, Handle):
                    yield message
                    continue
                live.discard(message)
                if message.error is not None:
                    raise message.error
        finally:
            for handle in live:
                handle.cancel()

    def warm(self) -> None:
        """Have the workers start now, before the first work comes."""
        with self._lock:
            while len(self.crew) < self.count and not self._closed:
                self.crew.hire(self._hire())

    def close(self) -> None:
        """End all workers, whatever they do."""
        with self._lock:
            self._closed = True
            workers = self.crew.clear()
            handles = list(self._handles.values())
        for worker in workers:
            worker.link.kill()
        for handle in handles:
            self._end(handle, WorkerLost("the engine was closed"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- for handles ---------------------------------------------------------------------------------------------

    def position(self, handle: Handle) -> int:
        with self._lock:
            return self._queue.position(handle.number)

    def cancel(self, handle: Handle) -> None:
        with self._lock:
            handle.cancelled = True
            worker = handle.worker
            if worker is not None:
                worker.link.send(Cancel(handle.number))
                return
            self._queue.remove(handle.number)
        self._end(handle, None)

    def pause(self, handle: Handle, paused: bool) -> None:
        with self._lock:
            if handle.status == "ended" or handle.paused == paused:
                return
            handle.paused = paused
            worker = handle.worker
            on_turn = worker is not None and worker.current is handle
            if paused and on_turn:
                assert worker is not None
                worker.link.send(Pause(handle.number))
            elif paused:
                self._queue.remove(handle.number)
                handle.status = "paused"
            elif on_turn:
                assert worker is not None
                worker.link.send(Go(handle.number))  # it may not have noticed the pause yet
            else:
                self._wait(handle)
                self._dispatch()

    # -- for links -----------------------------------------------------------------------------------------------

    def received(self, link: Link, data: bytes) -> None:
        """A message of a worker came in."""
        worker = self.crew.of(link)
        if worker is None:
            return
        try:
            message = decode(data)
        except OtherVersion as error:
            self._refuse(worker, error)
            return
        match message:
            case Reports():
                handle = self._handles.get(message.run)
                if handle is not None:
                    for report in from_bytes(message.content):
                        handle.tell(report)
            case Kept():
                handle = self._handles.get(message.run)
                if handle is not None:
                    handle.kept = message.state
                    handle.tell(message)
            case Ended():
                with self._lock:
                    handle = self._handles.get(message.run)
                    if worker.current is handle:
                        worker.current = None
                    self._dispatch()
                if handle is not None:
                    self._end(handle, message.error)
            case Parked():
                with self._lock:
                    self._parked(worker, self._handles.get(message.run))
            case Help() | Helped():
                with self._lock:
                    self.crew.relay(worker, message)
            case Lacks():
                self._send_model(worker, message.key)
            case Hello():
                self._greet(worker, message)

    def died(self, link: Link) -> None:
        """A worker is gone: its work is given to others, and another worker takes its place."""
        with self._lock:
            worker = self.crew.of(link)
            if worker is None or self._closed:
                return
            self.crew.dismiss(worker)
            left = [handle for handle in self._handles.values() if handle.worker is worker]
            self._stillborn = 0 if worker.greeted else self._stillborn + 1
            lost = list(self._handles.values()) if self._stillborn >= TRIES else []
        for handle in left:
            self._begin_again(handle)
        for handle in lost:
            self._end(handle, WorkerLost("worker processes end while they start; is there enough memory?"))
        with self._lock:
            if self._stillborn < TRIES:
                self.warm()
            self._dispatch()

    # -- turns, under the lock -----------------------------------------------------------------------------------

    def _wait(self, handle: Handle) -> None:
        handle.status = "waiting"
        self._queue.push(Waiting(handle.number, handle.owner, handle.rank))

    def _parked(self, worker: Hired, handle: Handle | None) -> None:
        if worker.current is handle:
            worker.current = None
        if handle is not None and handle.paused:
            handle.status = "paused"
        elif handle is not None and not handle.cancelled:
            self._wait(handle)
        self._dispatch()

    def _dispatch(self) -> None:
        """Give every worker without work the next turn that it can have, then tell all how things stand."""
        if self._closed:
            return
        if self._queue and len(self.crew) < self.count and self._stillborn < TRIES:
            self.warm()
        for worker in self.crew:
            if not worker.idle:
                continue
            entry = self._queue.take(lambda entry: self._fits(entry, worker))  # noqa: B023
            if entry is not None:
                self._give(worker, self._handles[entry.key])  # type: ignore[index]
        self._tell_all()

    def _fits(self, entry: Waiting, worker: Hired) -> bool:
        """Whether a worker can take a turn: work that was begun stays there, and some gives way to its owner's."""
        begun_in = self._handles[entry.key].worker  # type: ignore[index]
        return (begun_in is None or begun_in is worker) and not self.crew.is_wanted_by(
            entry.owner, entry.rank
        )

    def _give(self, worker: Hired, handle: Handle) -> None:
        first = handle.worker is None
        worker.current, handle.worker, handle.status = handle, worker, "running"
        worker.link.send(Start(handle.number, handle.parcel) if first else Go(handle.number))

    def _tell_all(self) -> None:
        waiting = self._queue.order()
        self.crew.tell(
            lambda worker: [entry.rank for entry in waiting if self._claims(entry, worker)], self.quantum
        )

    def _claims(self, entry: Waiting, worker: Hired) -> bool:
        """Whether a worker should give way to a turn: not where work of its own asker, which may wait, makes room.

        Work that was begun stays with its worker. So whoever gave way in its place would wait there for the whole run,
        beside a worker that is free.
        """
        if not self._fits(entry, worker):
            return False
        begun = self._handles[entry.key].worker is not None  # type: ignore[index]
        return begun or entry.rank == IDLE or not self.crew.makes_room(entry.owner, worker)

    # -- models --------------------------------------------------------------------------------------------------

    def _send_model(self, worker: Hired, key: str) -> None:
        model = self._model(key)
        if model is None:
            return
        try:
            worker.link.send(ModelSent(key, pack_model(model)))
        except TpcError as error:
            for handle in [h for h in self._handles.values() if key in h.models]:
                self._end(handle, error)

    def _model(self, key: str) -> Model | None:
        with self._lock:
            return next((h.models[key] for h in self._handles.values() if key in h.models), None)

    # -- beginnings and ends -------------------------------------------------------------------------------------

    def _greet(self, worker: Hired, message: Hello) -> None:
        if message.library != VERSION:
            self._refuse(
                worker,
                OtherVersion(
                    f"a worker runs version {message.library} of tpc-explorer and this process {VERSION}; "
                    "install the same version on all machines"
                ),
            )
            return
        with self._lock:
            worker.greeted = True
            self._stillborn = 0
            self._dispatch()

    def _refuse(self, worker: Hired, error: TpcError) -> None:
        """A worker that does not match: none of its kind will, so all that waits hears the sentence."""
        with self._lock:
            self._stillborn = TRIES
            self.crew.dismiss(worker)
            handles = list(self._handles.values())
        worker.link.kill()
        for handle in handles:
            self._end(handle, error)

    def _begin_again(self, handle: Handle) -> None:
        """Another worker takes up work whose worker died."""
        with self._lock:
            handle.worker = None
            handle.deaths += 1
            lost = handle.deaths >= TRIES
            if not handle.cancelled and not lost:
                handle.tell(Restarted(handle.deaths, handle.go_on_from_kept()))
                if handle.paused:
                    handle.status = "paused"
                else:
                    self._wait(handle)
                return
        self._end(
            handle, WorkerLost(f"{TRIES} worker processes ended while they did this work") if lost else None
        )

    def _end(self, handle: Handle, error: TpcError | None) -> None:
        with self._lock:
            if self._handles.pop(handle.number, None) is None:
                return
            self._queue.remove(handle.number)
            handle.status, handle.error = "ended", error
        handle.close()
