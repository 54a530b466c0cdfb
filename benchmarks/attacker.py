"""An attacker beside an honest class: hostile files, uploads without end, every place for runs, floods, all at once.

`python -m benchmarks.attacker ADDRESS --seconds 60 --at-once 3`; `python -m benchmarks.app_load --attack 3` starts it
as a process of its own, so that what it does to itself is not taken for what it does to others.

It says what a page would say (benchmarks/protocol.py), under as many names as it likes. Being refused is what should
happen, so nothing that the server says to it counts as trouble; what counts is what the honest visitors notice. Every
act is counted by what became of it, and an attack of which a kind never came through to the server is none.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import shutil
import tempfile
import time
import urllib.error
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import websockets

from benchmarks.marked import Mark, make_marks
from benchmarks.protocol import LineVisitor, new_line_visitor

NAMES = 9
"""Identities that fill the places for runs: three runs each."""
LARGE = bytes(49 << 20)
ENDLESS = urlencode(
    {
        "transform": "z-twist+z-taper+z-rotation",
        "radius": "twist=180,taper=0.5,rotation=180",
        "model": "pointnet64-noise",
    }
)
"""A question that nobody could answer soon."""
BOMBS = (
    b'{"reasons":[' + b",".join([b"[]"] * 800_000) + b"]}",
    b'{"ledger":[' + b",".join([b"{}"] * 400_000) + b"]}",
    b'{"a":' * 200_000,
)
"""Certificates that a parser would choke on."""
SILENT = 40
"""Connections that are opened at a time and say half a request."""
ENOUGH = 10.0
"""Seconds that the attacker waits for an answer."""
OFTEN = 0.02
"""Seconds between two reruns that a flood asks for, whether the one before was answered or not."""


@dataclass
class Attack:
    """What was tried, and what became of it."""

    address: str
    folder: Path
    at_once: int = 1
    """How many of each kind are at work at the same time."""
    tried: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self.mark: Mark = make_marks(1, self.folder)[0]

    @property
    def kinds(self) -> dict[str, Callable[[float], Awaitable[None]]]:
        """Every kind of act, by the word with which its counts begin."""
        return {
            "certificates": self._certificates,
            "files": self._files,
            "slow files": self._slow_files,
            "runs": self._places,
            "reruns": self._reruns,
            "connections": self._silence,
        }

    async def until(self, end: float) -> None:
        """All of it, again and again, until the time is over."""
        work = [
            self._again(kind, act, end)
            for kind, act in self.kinds.items()
            for _ in range(NAMES if kind == "runs" else self.at_once)
        ]
        await asyncio.gather(*work)

    async def _again(self, kind: str, act: Callable[[float], Awaitable[None]], end: float) -> None:
        while time.monotonic() < end:
            try:
                async with asyncio.timeout(max(1.0, end - time.monotonic())):
                    await act(end)
            except (OSError, TimeoutError, websockets.WebSocketException, AssertionError) as error:
                if (
                    time.monotonic() < end
                ):  # what the end of the attack breaks off is nothing that the server did
                    self.tried[f"{kind}: broken off ({type(error).__name__})"] += 1
                await asyncio.sleep(0.2)

    async def _enter(self, question: str = "") -> LineVisitor:
        visitor = new_line_visitor(self.mark, [self.mark])
        await visitor.enter(self.address, question)
        return visitor

    async def _certificates(self, end: float) -> None:
        """Hostile certificates to the Debug page."""
        page = await self._enter()
        try:
            await page._go("Debug")
            for number in range(20):
                if time.monotonic() > end:
                    return
                await page._until(lambda: "debug_file" in page.ids)
                before = len(page.alerts)
                await page.bring("debug_file", f"evil-{number}.json", BOMBS[number % len(BOMBS)])
                self.tried["certificates: sent"] += 1
                self.tried["certificates: refused in a sentence"] += await _seen(
                    page,
                    lambda before=before: len(page.alerts) > before,  # type: ignore[misc]
                )
        finally:
            await page.close()

    async def _files(self, end: float) -> None:
        """Files of 49 MB, under names that were announced and under names that were not."""
        page = await self._enter()
        try:
            for number in range(30):
                if time.monotonic() > end:
                    return
                place = await page.announce("large.off")
                announced = "announced" if number % 2 == 0 else "under an invented name"
                if number % 2:
                    place = f"{place.rpartition('/')[0]}/{uuid.uuid4()}"
                try:
                    await page.send_file(place, "large.off", LARGE)
                    self.tried[f"files: of 49 MB, {announced}, taken"] += 1
                except urllib.error.HTTPError as error:
                    self.tried[f"files: of 49 MB, {announced}, refused ({error.code})"] += 1
                except OSError:
                    self.tried[f"files: of 49 MB, {announced}, cut off"] += 1
        finally:
            await page.close()

    async def _slow_files(self, end: float) -> None:
        """Files that are announced, and then hardly come: each would keep its room on the way for two minutes."""
        page = await self._enter()
        try:
            place = await page.announce("slow.off")
            self.tried["slow files: begun"] += 1
            closed = await asyncio.to_thread(self._trickle, page, place, end)
            self.tried["slow files: ended by the server"] += closed
        finally:
            await page.close()

    def _trickle(self, page: LineVisitor, place: str, end: float) -> bool:
        parts = urlsplit(self.address)
        line = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        try:
            line.putrequest("PUT", place)
            for name, value in (
                ("Content-Type", "multipart/form-data; boundary=slow"),
                ("Content-Length", str(len(LARGE))),
                ("X-Xsrftoken", page.cookie),
                ("Cookie", page.cookies),
            ):
                line.putheader(name, value)
            line.endheaders()
            while time.monotonic() < end:
                line.send(b"-")
                time.sleep(0.25)
        except OSError:
            return True
        finally:
            line.close()
        return False

    async def _places(self, end: float) -> None:
        """Three runs that nobody waits for, and then gone."""
        page = await self._enter(ENDLESS)
        try:
            for _ in range(3):
                before = page.status[0]
                await page._press("start")
                self.tried["runs: asked for"] += 1
                begun = await _seen(page, lambda before=before: page.status[0] != before)  # type: ignore[misc]
                self.tried["runs: begun" if begun else "runs: not begun"] += 1
            await asyncio.sleep(2.0)
        finally:
            await page.close()

    async def _reruns(self, end: float) -> None:
        """A page that asks to be drawn anew far more often than it can be."""
        page = await self._enter()
        try:
            await page._go("Explore")
            before = page.begun
            for _ in range(200):
                if time.monotonic() > end:
                    break
                await page._say()
                self.tried["reruns: asked for"] += 1
                await asyncio.sleep(OFTEN)
            self.tried["reruns: begun by the server"] += page.begun - before
        finally:
            await page.close()

    async def _silence(self, end: float) -> None:
        """Connections that say half a request, and hold on."""
        parts = urlsplit(self.address)
        lines = [await asyncio.open_connection(parts.hostname, parts.port) for _ in range(SILENT)]
        self.tried["connections: opened"] += len(lines)
        try:
            for _, writer in lines:
                writer.write(b"GET / HTTP/1.1\r\nHost: ")
            read = [asyncio.ensure_future(reader.read()) for reader, _ in lines]
            done, waiting = await asyncio.wait(read, timeout=min(45.0, max(0.1, end - time.monotonic())))
            self.tried["connections: ended by the server"] += len(done)
            for each in waiting:
                each.cancel()
        finally:
            for _, writer in lines:
                writer.close()


async def _seen(page: LineVisitor, true: Callable[[], bool]) -> bool:
    """Whether the page shows something before the attacker has had enough of waiting."""
    try:
        async with asyncio.timeout(ENOUGH):
            await page._until(true)
    except TimeoutError:
        return False
    return True


def idle_kinds(tried: dict[str, int]) -> list[str]:
    """The kinds of act of which none came as far as the server: an attack without them proves nothing."""
    came = ("sent", "taken", "refused (", "begun", "opened")
    kinds = ("certificates", "files", "slow files", "runs", "reruns", "connections")

    def reached(kind: str) -> bool:
        return any(
            count and words.startswith(f"{kind}:") and any(word in words for word in came)
            for words, count in tried.items()
        )

    return [kind for kind in kinds if not reached(kind)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attacker", description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--at-once", type=int, default=1, help="acts of each kind at a time")
    given = parser.parse_args()
    asyncio.run(_report(given.address, given.seconds, given.at_once))


async def _report(address: str, seconds: float, at_once: int) -> None:
    """Attack, say what came of it, and end at once: threads that still send would hold the process up for minutes."""
    folder = Path(tempfile.mkdtemp())
    attack = Attack(address, folder, at_once)
    await attack.until(time.monotonic() + seconds)
    shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps({words: count for words, count in attack.tried.items() if count}), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
