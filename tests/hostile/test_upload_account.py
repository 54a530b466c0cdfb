"""The account of uploads: of one visitor and of all, whatever their names; whoever holds most makes room."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from app.server.protection import uploads
from app.server.protection.connections import Connections, paced
from app.server.protection.uploads import ANNOUNCED, AccountedFiles, UploadDoor


def store(whose: dict[str, tuple[str, str]], of_one: int = 100, of_all: int = 300) -> AccountedFiles:
    return AccountedFiles("/x", of_one, of_all, lambda session: whose.get(session, ("m", session)))


def send(files: AccountedFiles, session: str, size: int) -> str:
    (place,) = files.get_upload_urls(session, ["f"])
    files.add_file(session, UploadedFileRec(place.file_id, "f", "", bytes(size)))
    return place.file_id


def held(files: AccountedFiles, session: str) -> int:
    return sum(len(file.data) for file in files.file_storage.get(session, {}).values())


def test_a_file_that_was_not_announced_is_not_kept() -> None:
    files = store({})
    files.get_upload_urls("s", ["a"])
    files.add_file("s", UploadedFileRec("invented", "f", "", b"x"))
    assert held(files, "s") == 0


def test_announcements_do_not_pile_up() -> None:
    files = store({})
    for _ in range(100):
        files.get_upload_urls("s", ["f"] * 50)
    assert len(files.announced["s"]) == ANNOUNCED


def test_one_visitor_holds_no_more_than_one_may_in_any_number_of_sessions() -> None:
    files = store({f"tab{n}": ("m", "greedy") for n in range(5)})
    first = send(files, "tab0", 60)
    for number in range(1, 5):
        send(files, f"tab{number}", 60)
    total = sum(held(files, f"tab{n}") for n in range(5))
    assert total == 60
    assert files.get_files("tab0", [first]) == []
    assert held(files, "tab4") == 60  # the newest is the one that is wanted


def test_all_together_hold_no_more_than_all_may_and_who_holds_most_makes_room() -> None:
    files = store({})
    send(files, "honest", 10)
    for number in range(8):
        send(files, f"greedy{number}", 90)
    assert held(files, "honest") == 10
    assert sum(held(files, f"greedy{n}") for n in range(8)) <= 290


def test_many_names_of_one_machine_are_one_holder_against_another_machine() -> None:
    whose = {f"fake{n}": ("attacker", f"fake{n}") for n in range(30)}
    files = store({**whose, "honest": ("class", "honest")})
    send(files, "honest", 90)
    for number in range(30):
        send(files, f"fake{number}", 20)
    assert held(files, "honest") == 90


def test_the_account_is_settled_when_files_and_sessions_go() -> None:
    files = store({})
    kept = send(files, "s", 50)
    files.remove_file("s", kept)
    send(files, "t", 50)
    files.remove_session_files("t")
    assert files.ledger.files == {}
    assert "t" not in files.announced


class Everything:
    """A store that expects whatever comes."""

    def expects(self, session: str, file: str) -> bool:
        return True


def put(door: UploadDoor, session: str, size: int, machine: str = "m") -> Any:
    scope = {
        "type": "http", "method": "PUT", "path": f"/_stcore/upload_file/{session}/f", "client": (machine, 1),
        "headers": [(b"content-length", str(size).encode())],
    }  # fmt: skip
    status: list[int] = []

    async def sent(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            status.append(message["status"])

    async def received() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def go() -> int:
        await door(scope, received, sent)  # type: ignore[arg-type]
        return status[0] if status else 0

    return go()


def test_only_so_many_bytes_are_on_their_way_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "accounted_files", Everything)
    monkeypatch.setattr(uploads, "WAIT_SECONDS", 0.5)
    largest = [0]

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        largest[0] = max(largest[0], sum(each.size for each in door.under_way))
        await asyncio.sleep(2)
        await send({"type": "http.response.start", "status": 204, "headers": []})

    door = UploadDoor(slow, under_way=200 << 20)

    async def crowd() -> list[int]:
        return list(await asyncio.gather(*(put(door, f"s{n}", 50 << 20) for n in range(10))))

    found = asyncio.run(crowd())
    assert found.count(204) == 4
    assert found.count(503) == 6
    assert largest[0] <= 200 << 20
    assert door.under_way == []


def test_one_session_sends_one_large_file_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "accounted_files", Everything)
    monkeypatch.setattr(uploads, "WAIT_SECONDS", 10.0)
    together = [0]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        together[0] = max(together[0], sum(each.size for each in door.under_way))
        await asyncio.sleep(0.1)
        await send({"type": "http.response.start", "status": 204, "headers": []})

    door = UploadDoor(app)

    async def crowd() -> list[int]:
        return list(await asyncio.gather(*(put(door, "s", 40 << 20) for _ in range(4))))

    assert asyncio.run(crowd()) == [204] * 4  # they wait for each other
    assert together[0] == 40 << 20


async def reading(scope: Any, receive: Any, send: Any) -> None:
    """An application that waits for a file that never comes, and takes small ones at once."""
    if int(dict(scope["headers"])[b"content-length"]) > 1 << 20:
        await asyncio.sleep(30)
    await send({"type": "http.response.start", "status": 204, "headers": []})


def test_files_that_hardly_come_give_way_to_one_that_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody announces large files and sends nothing of them; without this the door is shut for two minutes."""
    monkeypatch.setattr(uploads, "accounted_files", Everything)
    monkeypatch.setattr(uploads, "GRACE", 0.3)
    monkeypatch.setattr(uploads, "WAIT_SECONDS", 5.0)
    door = UploadDoor(reading, under_way=200 << 20)

    async def crowd() -> int:
        sleepers = [asyncio.ensure_future(put(door, f"s{n}", 50 << 20)) for n in range(4)]
        await asyncio.sleep(0.1)
        honest: int = await put(door, "honest", 1 << 20)
        assert sum(task.done() for task in sleepers) == 1  # no more had to go
        for task in sleepers:
            task.cancel()
        return honest

    assert asyncio.run(crowd()) == 204


def test_one_machine_does_not_fill_the_line_while_others_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "accounted_files", Everything)
    monkeypatch.setattr(uploads, "WAIT_SECONDS", 3.0)
    turns: list[str] = []

    async def taking(scope: Any, receive: Any, send: Any) -> None:
        turns.append(scope["client"][0])
        await asyncio.sleep(0.1)
        await send({"type": "http.response.start", "status": 204, "headers": []})

    door = UploadDoor(taking, under_way=100 << 20)

    async def crowd() -> None:
        flood = [asyncio.ensure_future(put(door, f"s{n}", 50 << 20, "attacker")) for n in range(40)]
        await asyncio.sleep(0.05)
        await put(door, "honest", 50 << 20, "school")
        assert turns.index("school") <= 5
        for task in flood:
            task.cancel()

    asyncio.run(crowd())


def test_a_machine_opens_no_more_pages_than_it_may() -> None:
    async def page(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0.2)

    door = Connections(page, of_one=3, of_all=5)

    async def knock(machine: str) -> bool:
        refused: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "websocket.connect"}

        async def send(message: Any) -> None:
            refused.append(message)

        await door({"type": "websocket", "client": (machine, 1)}, receive, send)  # type: ignore[arg-type]
        return not refused

    async def crowd() -> list[bool]:
        return list(await asyncio.gather(*(knock(name) for name in ["a"] * 6 + ["b"] * 6)))

    let_in = asyncio.run(crowd())
    assert let_in == [True] * 3 + [False] * 3 + [True] * 2 + [False] * 4
    assert not door.open


def test_a_page_is_heard_no_more_often_than_a_hand_can_speak() -> None:
    """A flood of messages waits where it comes from; the first few, and slow ones, come at once."""

    async def flood() -> tuple[float, float]:
        async def speak() -> dict[str, Any]:
            return {"type": "websocket.receive", "bytes": b""}

        hear, clock = paced(speak, rate=100.0, burst=20), asyncio.get_running_loop().time
        start = clock()
        for _ in range(20):
            await hear()
        first = clock() - start
        for _ in range(50):
            await hear()
        return first, clock() - start

    first, all_ = asyncio.run(flood())
    assert first < 0.2
    assert all_ >= 0.49  # fifty more, at a hundred a second


@pytest.mark.parametrize("leaves", [True, False])
def test_a_page_that_leaves_while_it_is_spoken_to_leaves_no_stack(leaves: bool) -> None:
    """Streamlit takes it for a fault of its own, and ends with an error; any other error is still one."""

    async def page(scope: Any, receive: Any, send: Any) -> None:
        with contextlib.suppress(OSError):
            await send({"type": "websocket.send", "bytes": b"news"})
        raise TypeError("WebSocket text frames are not supported")

    async def gone(message: Any) -> None:
        if leaves:
            raise OSError

    async def silent() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    door = Connections(page)
    visit = door({"type": "websocket", "client": ("m", 1)}, silent, gone)  # type: ignore[arg-type]
    with contextlib.nullcontext() if leaves else pytest.raises(TypeError):
        asyncio.run(visit)  # type: ignore[arg-type]
    assert not door.open
