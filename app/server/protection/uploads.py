"""Uploads by the book: only files that were announced, only so many bytes at once, of a visitor and of all.

Streamlit takes every file that is sent to an open session, under any name, and keeps all of them.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime import exists, get_instance, memory_uploaded_file_manager
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec, UploadFileUrlInfo

from app.server.protection.address import client_of, header
from app.server.protection.cookie import NAME, name_in
from tpc_core.data import MAX_UPLOAD_BYTES

OF_ONE = 2 * MAX_UPLOAD_BYTES
"""Bytes of one visitor that are kept: the file at hand, and the one that takes its place."""
OF_ALL = 8 * MAX_UPLOAD_BYTES
"""Bytes of all visitors that are kept; who holds most makes room."""
ANNOUNCED = 8
"""Files of a session that may be announced and not yet sent."""
UNDER_WAY = 4 * MAX_UPLOAD_BYTES
"""Bytes of all visitors that may be on their way at the same time."""
FRAME = 64 << 10
"""What the form around a file may add to it."""
WAIT_SECONDS, SEND_SECONDS = 20.0, 120.0
GRACE, SLOWEST = 5.0, 64 << 10
"""A file that has sent fewer bytes a second than this, after some seconds, gives way to one that waits."""
_PATH = re.compile(r"/_stcore/upload_file/([^/]+)/([^/]+)$")

Holder = tuple[str, str]
"""The machine and the visitor whose a file is."""


def holder_of(session: str) -> Holder:
    """Whose a session is, by what its browser said when it connected; a visitor without a cookie is its session."""
    client = get_instance().get_client(session) if exists() else None
    context = client.client_context if client is not None else None
    if context is None:
        return "unknown", session
    return context.remote_ip or "unknown", name_in(context.cookies.get(NAME)) or session


@dataclass
class Ledger:
    """The order in which files came, and whose they are."""

    files: dict[tuple[str, str], tuple[Holder, int]] = field(default_factory=dict)
    """(session, file) -> whose it is, and its bytes; the oldest first."""

    def to_give_up(self, of_one: int, of_all: int) -> list[tuple[str, str]]:
        """The files that have to go, so that nobody holds more than one may and all no more than all may."""
        going: list[tuple[str, str]] = []
        left = dict(self.files)
        while left:
            by_holder: dict[Holder, int] = {}
            by_machine: dict[str, int] = {}
            for holder, size in left.values():
                by_holder[holder] = by_holder.get(holder, 0) + size
                by_machine[holder[0]] = by_machine.get(holder[0], 0) + size
            most = max(by_holder, key=lambda holder: by_holder[holder])
            if by_holder[most] <= of_one:
                if sum(by_holder.values()) <= of_all:
                    break
                # Of all machines the one that holds most, of its visitors the one that does.
                machine = max(by_machine, key=lambda name: by_machine[name])
                theirs = [holder for holder in by_holder if holder[0] == machine]
                most = max(theirs, key=lambda holder: by_holder[holder])
            oldest = next(key for key, (holder, _) in left.items() if holder == most)
            going.append(oldest)
            del left[oldest]
        return going


class AccountedFiles(MemoryUploadedFileManager):
    """Streamlit's store of uploads with an account: what was not announced is not taken, what is too much goes."""

    def __init__(
        self,
        upload_endpoint: str,
        of_one: int = OF_ONE,
        of_all: int = OF_ALL,
        whose: Callable[[str], Holder] = holder_of,
    ) -> None:
        super().__init__(upload_endpoint)
        self.of_one, self.of_all, self.whose = of_one, of_all, whose
        self.announced: dict[str, list[str]] = {}
        self.ledger = Ledger()

    def get_upload_urls(self, session_id: str, file_names: Sequence[str]) -> list[UploadFileUrlInfo]:
        """Addresses for files that a page is about to send; the latest few of a session count."""
        made = super().get_upload_urls(session_id, list(file_names)[:ANNOUNCED])
        known = self.announced.get(session_id, []) + [info.file_id for info in made]
        self.announced[session_id] = known[-ANNOUNCED:]
        return made

    def expects(self, session_id: str, file_id: str) -> bool:
        """Whether this file was announced, and has not come yet."""
        return file_id in self.announced.get(session_id, [])

    def add_file(self, session_id: str, file: UploadedFileRec) -> None:
        """Keep a file that was announced; the oldest of whoever holds too much go."""
        if not self.expects(session_id, file.file_id):
            return
        self.announced[session_id].remove(file.file_id)
        super().add_file(session_id, file)
        self.ledger.files[session_id, file.file_id] = (self.whose(session_id), len(file.data))
        for session, old in self.ledger.to_give_up(self.of_one, self.of_all):
            self.remove_file(session, old)

    def remove_file(self, session_id: str, file_id: str) -> None:
        """Forget one file."""
        self.ledger.files.pop((session_id, file_id), None)
        super().remove_file(session_id, file_id)

    def remove_session_files(self, session_id: str) -> None:
        """Forget the files of a session that has ended."""
        self.announced.pop(session_id, None)
        for key in [key for key in self.ledger.files if key[0] == session_id]:
            del self.ledger.files[key]
        super().remove_session_files(session_id)


def account_for_uploads() -> None:
    """Let Streamlit keep uploads in the accounted store; called before it makes its own."""
    memory_uploaded_file_manager.MemoryUploadedFileManager = AccountedFiles  # type: ignore[misc]


def accounted_files() -> AccountedFiles | None:
    """The store of the server that runs."""
    store = get_instance().uploaded_file_mgr if exists() else None
    return store if isinstance(store, AccountedFiles) else None


@dataclass(eq=False)
class Sending:
    """A file on its way: whose, how large it is by its own word, and how much has come."""

    session: str
    machine: str
    size: int
    began: float
    task: asyncio.Task[object] | None = None
    came: int = 0
    given_up: bool = False

    def is_slow(self, now: float) -> bool:
        """Whether it may be cut off for another one."""
        seconds = now - self.began
        return seconds > GRACE and self.came < min(self.size, SLOWEST * seconds)


class UploadDoor:
    """Turns away a file before it is read: not announced, too large, or with no room for it on the way."""

    def __init__(self, app: ASGIApp, under_way: int = UNDER_WAY) -> None:
        self.app, self.most = app, under_way
        self.under_way: list[Sending] = []
        self.waiting: Counter[str] = Counter()
        """How many files wait, by machine."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _PATH.search(scope["path"]) if scope["type"] == "http" and scope["method"] == "PUT" else None
        if found is None:
            await self.app(scope, receive, send)
            return
        session = found[1]
        size = self._size(scope)
        store = accounted_files()
        if store is None or not store.expects(session, found[2]):
            await self._refuse(scope, receive, send, 403, "No such file was announced.")
        elif size is None:
            await self._refuse(scope, receive, send, 411, "Say how large the file is.")
        elif size > MAX_UPLOAD_BYTES + FRAME:
            await self._refuse(scope, receive, send, 413, f"A file has at most {MAX_UPLOAD_BYTES >> 20} MB.")
        elif (sending := await self._room(session, client_of(scope), size)) is None:
            await self._refuse(
                scope, receive, send, 503, "Many files are on their way; try again in a while."
            )
        else:
            await self._let_through(scope, receive, send, sending)

    async def _let_through(self, scope: Scope, receive: Receive, send: Send, sending: Sending) -> None:
        sending.task = asyncio.current_task()

        async def counted() -> Message:
            message = await receive()
            sending.came += len(message.get("body", b""))
            return message

        try:
            async with asyncio.timeout(SEND_SECONDS):
                await self.app(scope, counted, send)
        except TimeoutError:
            return  # the connection ends with it
        except asyncio.CancelledError:
            if not sending.given_up:
                raise
        finally:
            self.under_way.remove(sending)

    @staticmethod
    def _size(scope: Scope) -> int | None:
        stated = header(scope, b"content-length") or ""
        return int(stated) if re.fullmatch(r"[0-9]{1,15}", stated) else None

    async def _room(self, session: str, machine: str, size: int) -> Sending | None:
        """Wait for room; a session sends one large file at a time. Who hardly sends gives way to who waits."""
        clock = asyncio.get_running_loop().time
        end = clock() + WAIT_SECONDS
        self.waiting[machine] += 1
        try:
            while not self._has_room(session, machine, size):
                if clock() > end:
                    return None
                self._cut_off(clock())
                await asyncio.sleep(0.05)
        finally:
            self.waiting[machine] -= 1
            self.waiting = +self.waiting
        sending = Sending(session, machine, size, clock())
        self.under_way.append(sending)
        return sending

    def _has_room(self, session: str, machine: str, size: int) -> bool:
        def total(of: Callable[[Sending], bool]) -> int:
            return size + sum(each.size for each in self.under_way if of(each))

        others_wait = any(name != machine for name in self.waiting)
        return (
            total(lambda each: each.session == session) <= MAX_UPLOAD_BYTES + FRAME
            and total(lambda each: True) <= self.most
            and not (others_wait and total(lambda each: each.machine == machine) > self.most // 2)
        )

    def _cut_off(self, now: float) -> None:
        """End the file that has been slow for longest, one at a time."""
        if any(each.given_up for each in self.under_way):
            return
        slow = [each for each in self.under_way if each.is_slow(now) and each.task is not None]
        if slow:
            going = min(slow, key=lambda each: each.began)
            going.given_up = True
            assert going.task is not None
            going.task.cancel()

    @staticmethod
    async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, words: str) -> None:
        answer = PlainTextResponse(f"{words}\n", status, headers={"Connection": "close"})
        await answer(scope, receive, send)
