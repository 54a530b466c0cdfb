"""An attacker beside an honest class: hostile certificates, uploads without end, and every place for runs, all at once.

`python -m benchmarks.attacker ADDRESS --seconds 90 --at-once 3`; `python -m benchmarks.app_load --attack 3` starts it
as a process of its own, so that what it does to itself is not taken for what it does to others.

It says what a page would say (benchmarks/protocol.py), under as many names as it likes. Being refused is what should
happen, so nothing that the server says to it counts as trouble; what counts is what the honest visitors notice.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
import urllib.error
import uuid
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import websockets

from benchmarks.marked import Mark, make_marks
from benchmarks.protocol import LineVisitor, new_line_visitor

NAMES = 9
"""Identities that fill the places for runs: three runs each."""
LARGE = bytes(49 << 20)
ENDLESS = (
    "transform=z-twist%2Bz-taper%2Bz-rotation&radius=twist:180,taper:0.5,rotation:180&model=pointnet64-noise"
)
"""A question that nobody could answer soon."""
BOMBS = (
    b'{"reasons":[' + b",".join([b"[]"] * 800_000) + b"]}",
    b'{"ledger":[' + b",".join([b"{}"] * 400_000) + b"]}",
    b'{"a":' * 200_000,
)
"""Certificates that a parser would choke on."""


@dataclass
class Attack:
    """What was tried, and what became of it."""

    address: str
    folder: Path
    at_once: int = 1
    """Sessions that send hostile certificates at the same time, and as many that send files."""
    tried: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self.mark: Mark = make_marks(1, self.folder)[0]

    async def until(self, end: float) -> None:
        """All of it, again and again, until the time is over."""
        work = [
            self._again(act, end) for act in (self._certificates, self._files) for _ in range(self.at_once)
        ]
        work += [self._again(self._places, end) for _ in range(NAMES)]
        await asyncio.gather(*work)

    async def _again(self, act: object, end: float) -> None:
        while time.monotonic() < end:
            try:
                async with asyncio.timeout(max(1.0, end - time.monotonic())):
                    await act(end)  # type: ignore[operator]
            except (OSError, TimeoutError, websockets.WebSocketException, AssertionError) as error:
                self.tried[f"{act.__name__}: {type(error).__name__}"] += 1  # type: ignore[attr-defined]
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
                await page.bring("debug_file", f"evil-{number}.json", BOMBS[number % len(BOMBS)])
                await page._settle()
                self.tried["certificates sent"] += 1
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
                if number % 2:
                    place = f"{place.rpartition('/')[0]}/{uuid.uuid4()}"
                try:
                    await page.send_file(place, "large.off", LARGE)
                    self.tried["files of 49 MB taken"] += 1
                except urllib.error.HTTPError as error:
                    self.tried[f"files of 49 MB refused ({error.code})"] += 1
                except OSError:
                    self.tried["files of 49 MB cut off"] += 1
        finally:
            await page.close()

    async def _places(self, end: float) -> None:
        """Three runs that nobody waits for, and then gone."""
        page = await self._enter(ENDLESS)
        try:
            for _ in range(3):
                await page._press("start")
                await page._settle()
                self.tried["runs asked for"] += 1
            await asyncio.sleep(2.0)
        finally:
            await page.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attacker", description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument(
        "--at-once", type=int, default=1, help="certificates, and files, on their way at a time"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        attack = Attack(given.address, Path(folder), given.at_once)
        asyncio.run(attack.until(time.monotonic() + given.seconds))
    print(json.dumps(attack.tried))


if __name__ == "__main__":
    main()
