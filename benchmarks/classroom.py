"""A class at work on a server: visitors who bring an object, drag its slider, look, and now and then certify.

`python -m benchmarks.classroom ADDRESS` lets 20 of them in, none with a browser (benchmarks/protocol.py), says "in"
once all are there, and keeps them at work until its input ends. Measurements run it beside what they measure.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen

from benchmarks.marked import make_marks
from benchmarks.protocol import new_line_visitor
from benchmarks.visits import Visit

STEPS = 4
THINKING = (1.0, 2.0)
CERTIFYING = 4
"""Visitors that certify at the same time."""
APART = 1.0
"""Seconds between two who come in."""


async def let_in(visitors: Sequence[Visit], address: str) -> None:
    """All of them, one after the other."""

    async def enter(visitor: Visit, after: float) -> None:
        await asyncio.sleep(after)
        await visitor.open(address)

    await asyncio.gather(*(enter(visitor, APART * n) for n, visitor in enumerate(visitors)))


async def work(visitors: Sequence[Visit], end: float, certifying: int = CERTIFYING) -> None:
    """Drag and look, and now and then certify, if there is a place at the counter; until the clock says `end`."""
    counter = asyncio.Semaphore(certifying)

    async def one(visitor: Visit, dice: random.Random) -> None:
        while time.monotonic() < end:
            await visitor.drag(dice, STEPS)
            await asyncio.sleep(dice.uniform(*THINKING))
            if not counter.locked() and dice.random() < 0.4:
                async with counter:
                    await visitor.certify()

    await asyncio.gather(*(one(visitor, random.Random(n)) for n, visitor in enumerate(visitors)))


@contextmanager
def beside(address: str, visitors: int) -> Iterator[int]:
    """A class in a process of its own, at work as long as the block runs; the process."""
    command = [sys.executable, "-m", "benchmarks.classroom", address, "--visitors", str(visitors)]
    with Popen(command, stdin=PIPE, stdout=PIPE, text=True) as process:
        assert process.stdout is not None
        if process.stdout.readline().strip() != "in":
            raise RuntimeError("the class did not come in")
        try:
            yield process.pid
            if process.poll() is not None:
                raise RuntimeError("the class did not stay to the end")
        finally:
            process.kill()


async def _stay(address: str, count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        marks = make_marks(count, Path(folder))
        visitors = [new_line_visitor(mark, marks) for mark in marks]
        await let_in(visitors, address)
        print("in", flush=True)
        working = asyncio.ensure_future(work(visitors, float("inf")))
        told = asyncio.ensure_future(asyncio.to_thread(sys.stdin.read))
        await asyncio.wait([working, told], return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()  # somebody could not go on: say why


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.classroom", description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--visitors", type=int, default=20)
    given = parser.parse_args()
    asyncio.run(_stay(given.address, given.visitors))


if __name__ == "__main__":
    main()
