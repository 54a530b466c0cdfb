"""The engine: a queue of work, workers that do it, and handles by which the askers follow, pause and cancel it."""

from __future__ import annotations

import itertools
import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self

from tpc_core.engines.fair_queue import QUANTUM, USUAL, FairQueue, Waiting
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
    OtherVersion,
    Parked,
    Pause,
    Reports,
    Start,
    decode,
)
from tpc_core.engines.parcels import pack, pack_model
from tpc_core.engines.wire import from_bytes
from tpc_core.engines.work import Restarted, Work, WorkerLost
from tpc_core.errors import TpcError
from tpc_core.models.store import Model
from tpc_core.version import VERSION

TRIES = 3
"""Workers that may die over one piece of work, or before they ever answered."""

Status = Literal["waiting", "running", "paused", "ended"]
Listener = Callable[[Any], None]


class Link(ABC):
    """The way to one worker. Its owner calls `Engine.received` with each message, and `Engine.died` at the end."""

    @abstractmethod
    def send(self, message: Message) -> None:
        """Hand a message over; it never waits for the worker."""

    @abstractmethod
    def kill(self) -> None:
        """End the worker at once."""


@dataclass(eq=False)
class _Worker:
    """What the engine knows of a worker."""

    link: Link
    greeted: bool = False
    current: Handle | None = None
    """Whose turn it is."""
    helping: dict[int, tuple[_Worker, int]] = field(default_factory=dict)
    """Parts of votes that it casts for others: who asked, and under which number."""
    told_after: float | None = None
    told_helpers: int = 0


class Handle:
    """A piece of work that was handed in. Its messages go to the listener, or are read by `messages`."""

    def __init__(
        self,
        engine: Engine,
        number: int,
        work: Work,
        owner: str,
        rank: int,
        listener: Listener | None,
        ended: Callable[[Handle], None] | None,
    ) -> None:
        self.number, self.owner, self.rank = number, owner, rank
        self._engine, self._work = engine, work
        self._parcel, self._models = pack(work)
        self._listener, self._ended = listener, ended
        self._inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._over = threading.Event()
        self._worker: _Worker | None = None
        self._kept: bytes | None = None
        self._paused = False
        self._deaths = 0
        self.status: Status = "waiting"
        self.cancelled = False
        self.error: TpcError | None = None
        """What ended it, where it did not end well."""

    @property
    def position(self) -> int:
        """Its place in the queue; 0 where it does not wait."""
        return self._engine.position(self)

    def cancel(self) -> None:
        """End it at its next batch; it may still report what it has."""
        self._engine.cancel(self)

    def pause(self) -> None:
        """Let it rest from its next batch on."""
        self._engine.pause(self, True)

    def resume(self) -> None:
        """Let it wait for its turn again."""
        self._engine.pause(self, False)

    def join(self, timeout: float | None = None) -> bool:
        """Wait for its end; whether it came."""
        return self._over.wait(timeout)

    def messages(self) -> Iterator[Any]:
        """What it reports, in order, to its end; raises what ended it. A reader who stops early cancels it."""
        try:
            while (message := self._inbox.get()) is not _END:
                yield message
        except BaseException:
            self.cancel()
            raise
        if self.error is not None:
            raise self.error

    def _tell(self, message: Any) -> None:
        if self._listener is not None:
            self._listener(message)
        else:
            self._inbox.put(message)


_END = object()


class Engine(ABC):
    """Work goes in, its messages come out. What workers are is up to the subclass: `_hire` makes one."""

    shares_disk = True

    def __init__(self, workers: int) -> None:
        self.count = workers
        self.quantum = QUANTUM
        self._lock = threading.RLock()
        self._queue = FairQueue()
        self._handles: dict[int, Handle] = {}
        self._workers: list[_Worker] = []
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
            while len(self._workers) < self.count and not self._closed:
                self._workers.append(_Worker(self._hire()))

    def close(self) -> None:
        """End all workers, whatever they do."""
        with self._lock:
            self._closed = True
            workers, self._workers = self._workers, []
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
            worker = handle._worker
            if worker is not None:
                worker.link.send(Cancel(handle.number))
                return
            self._queue.remove(handle.number)
        self._end(handle, None)

    def pause(self, handle: Handle, paused: bool) -> None:
        with self._lock:
            if handle.status == "ended" or handle._paused == paused:
                return
            handle._paused = paused
            worker = handle._worker
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
        worker = self._of(link)
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
                        handle._tell(report)
            case Kept():
                handle = self._handles.get(message.run)
                if handle is not None:
                    handle._kept = message.state
                    handle._tell(message)
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
                    self._relay(worker, message)
            case Lacks():
                self._send_model(worker, message.key)
            case Hello():
                self._greet(worker, message)

    def died(self, link: Link) -> None:
        """A worker is gone: its work is given to others, and another worker takes its place."""
        with self._lock:
            worker = self._of(link)
            if worker is None or self._closed:
                return
            self._workers.remove(worker)
            for asker, number in worker.helping.values():
                asker.link.send(Helped(number, None))
            for other in self._workers:
                other.helping = {n: w for n, w in other.helping.items() if w[0] is not worker}
            left = [handle for handle in self._handles.values() if handle._worker is worker]
            self._stillborn = 0 if worker.greeted else self._stillborn + 1
            lost = list(self._handles.values()) if self._stillborn >= TRIES else []
        for handle in left:
            self._begin_again(handle)
        for handle in lost:
            self._end(handle, WorkerLost("worker processes end before they can work; is memory short?"))
        with self._lock:
            if self._stillborn < TRIES:
                self.warm()
            self._dispatch()

    def _of(self, link: Link) -> _Worker | None:
        return next((worker for worker in list(self._workers) if worker.link is link), None)

    # -- turns, under the lock -----------------------------------------------------------------------------------

    def _wait(self, handle: Handle) -> None:
        handle.status = "waiting"
        self._queue.push(Waiting(handle.number, handle.owner, handle.rank))

    def _parked(self, worker: _Worker, handle: Handle | None) -> None:
        if worker.current is handle:
            worker.current = None
        if handle is not None and handle._paused:
            handle.status = "paused"
        elif handle is not None and not handle.cancelled:
            self._wait(handle)
        self._dispatch()

    def _dispatch(self) -> None:
        """Give every worker without work the next turn that it can have, then tell all how things stand."""
        if self._closed:
            return
        if self._queue and len(self._workers) < self.count and self._stillborn < TRIES:
            self.warm()
        for worker in self._workers:
            if worker.current is not None or not worker.greeted:
                continue
            entry = self._queue.take(lambda entry: self._fits(entry, worker))  # noqa: B023
            if entry is not None:
                self._give(worker, self._handles[entry.key])  # type: ignore[index]
        self._tell_all()

    def _fits(self, entry: Waiting, worker: _Worker) -> bool:
        """Whether a worker can take a turn: work that was begun stays where it is."""
        begun_in = self._handles[entry.key]._worker  # type: ignore[index]
        return begun_in is None or begun_in is worker

    def _give(self, worker: _Worker, handle: Handle) -> None:
        first = handle._worker is None
        worker.current, handle._worker, handle.status = handle, worker, "running"
        worker.link.send(Start(handle.number, handle._parcel) if first else Go(handle.number))

    def _tell_all(self) -> None:
        """Workers learn who waits for them, and how many could help."""
        waiting = self._queue.order()
        idle = sum(worker.current is None and worker.greeted for worker in self._workers)
        leads = sum(worker.current is not None for worker in self._workers)
        for worker in self._workers:
            if worker.current is None:
                continue
            mine = [entry.rank for entry in waiting if self._fits(entry, worker)]
            after = None
            if mine and min(mine) <= worker.current.rank:
                after = self.quantum if min(mine) == worker.current.rank else 0.0
            if after != worker.told_after:
                worker.told_after = after
                worker.link.send(GiveWay(after))
            helpers = -(-idle // leads)
            if helpers != worker.told_helpers:
                worker.told_helpers = helpers
                worker.link.send(Helpers(helpers))

    # -- votes for others ----------------------------------------------------------------------------------------

    def _relay(self, worker: _Worker, message: Help | Helped) -> None:
        if isinstance(message, Helped):
            asker, number = worker.helping.pop(message.number, (None, 0))
            if asker is not None:
                asker.link.send(Helped(number, message.counts))
            return
        idle = [other for other in self._workers if other.current is None and other.greeted]
        if not idle:
            worker.link.send(Helped(message.number, None))
            return
        helper = min(idle, key=lambda other: len(other.helping))
        number = next(self._numbers)
        helper.helping[number] = (worker, message.number)
        helper.link.send(Help(number, message.voter, message.blocks))

    def _send_model(self, worker: _Worker, key: str) -> None:
        model = self._model(key)
        if model is None:
            return
        try:
            worker.link.send(ModelSent(key, pack_model(model)))
        except TpcError as error:
            for handle in [h for h in self._handles.values() if key in h._models]:
                self._end(handle, error)

    def _model(self, key: str) -> Model | None:
        with self._lock:
            return next((h._models[key] for h in self._handles.values() if key in h._models), None)

    # -- beginnings and ends -------------------------------------------------------------------------------------

    def _greet(self, worker: _Worker, message: Hello) -> None:
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

    def _refuse(self, worker: _Worker, error: TpcError) -> None:
        """A worker that does not match: none of its kind will, so all that waits hears the sentence."""
        with self._lock:
            self._stillborn = TRIES
            if worker in self._workers:
                self._workers.remove(worker)
            handles = list(self._handles.values())
        worker.link.kill()
        for handle in handles:
            self._end(handle, error)

    def _begin_again(self, handle: Handle) -> None:
        """Another worker takes up work whose worker died."""
        with self._lock:
            handle._worker = None
            handle._deaths += 1
            lost = handle._deaths >= TRIES
            if not handle.cancelled and not lost:
                going_on, kept = getattr(handle._work, "going_on", None), handle._kept
                if going_on is not None and kept is not None:
                    handle._work = going_on(kept)
                    handle._parcel, handle._models = pack(handle._work)
                handle._tell(Restarted(handle._deaths, going_on is not None and kept is not None))
                if handle._paused:
                    handle.status = "paused"
                else:
                    self._wait(handle)
                return
        self._end(handle, WorkerLost(f"{TRIES} worker processes died over this work") if lost else None)

    def _end(self, handle: Handle, error: TpcError | None) -> None:
        with self._lock:
            if self._handles.pop(handle.number, None) is None:
                return
            self._queue.remove(handle.number)
            handle.status, handle.error = "ended", error
        handle._inbox.put(_END)
        if handle._ended is not None:
            handle._ended(handle)
        handle._over.set()
