"""A handle: by it whoever handed in a piece of work follows, pauses and cancels it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, Protocol

from tpc_core.engines.parcels import pack
from tpc_core.engines.work import Work
from tpc_core.errors import TpcError

if TYPE_CHECKING:
    from tpc_core.engines.crew import Hired

Status = Literal["waiting", "running", "paused", "ended"]
Listener = Callable[[Any], None]

_END = object()


class Desk(Protocol):
    """Where handles turn to: the engine."""

    def position(self, handle: Handle) -> int: ...
    def cancel(self, handle: Handle) -> None: ...
    def pause(self, handle: Handle, paused: bool) -> None: ...


class Handle:
    """A piece of work that was handed in. Its messages go to the listener, or are read by `messages`."""

    def __init__(
        self,
        desk: Desk,
        number: int,
        work: Work,
        owner: str,
        rank: int,
        listener: Listener | None,
        ended: Callable[[Handle], None] | None,
    ) -> None:
        self.number, self.owner, self.rank = number, owner, rank
        self.status: Status = "waiting"
        self.cancelled = False
        self.error: TpcError | None = None
        """What ended it, where it did not end well."""
        self._desk, self._listener, self._ended = desk, listener, ended
        self._inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._over = threading.Event()
        # The engine's notes, under its lock.
        self.work = work
        self.parcel, self.models = pack(work)
        self.worker: Hired | None = None
        self.kept: bytes | None = None
        self.paused = False
        self.deaths = 0

    @property
    def position(self) -> int:
        """Its place in the queue; 0 where it does not wait."""
        return self._desk.position(self)

    def cancel(self) -> None:
        """End it at its next batch; it may still report what it has."""
        self._desk.cancel(self)

    def pause(self) -> None:
        """Let it rest from its next batch on."""
        self._desk.pause(self, True)

    def resume(self) -> None:
        """Let it wait for its turn again."""
        self._desk.pause(self, False)

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

    # -- for the engine ------------------------------------------------------------------------------------------

    def tell(self, message: Any) -> None:
        """Pass a message on."""
        if self._listener is not None:
            self._listener(message)
        else:
            self._inbox.put(message)

    def go_on_from_kept(self) -> bool:
        """After a worker died: take the work up where it was kept; False where it begins anew."""
        going_on = getattr(self.work, "going_on", None)
        if going_on is None or self.kept is None:
            return False
        self.work = going_on(self.kept)
        self.parcel, self.models = pack(self.work)
        return True

    def close(self) -> None:
        """Tell everybody that it is over."""
        self._inbox.put(_END)
        if self._ended is not None:
            self._ended(self)
        self._over.set()
