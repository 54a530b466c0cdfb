"""A long day: 200 certificates on one server, one after another, and what they leave behind in memory.

`python -m benchmarks.app_soak` starts the explorer as `make app` does. Two visitors, each with a marked object, press
Certify again and again. A visitor's last 20 runs are kept, so memory may grow until both have as many; from then on it
must be flat: a line is fitted through what the server had after each run. It exits with 1 where it is not.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from app.server.serve import Served, served
from benchmarks.machine import describe_machine
from benchmarks.marked import make_marks
from benchmarks.processes import Meter
from benchmarks.protocol import LineVisitor, new_line_visitor

VISITORS = 2
WARM_UP = 60
"""Runs that do not count: the caches fill, and each visitor has the 20 runs that are kept."""
FLAT_MB = 10.0
"""The most that the fitted line may rise over 100 runs."""


async def soak(server: Served, runs: int, folder: Path) -> tuple[list[float], list[LineVisitor]]:
    """The memory after each run, in megabytes, and the visitors."""
    marks = make_marks(VISITORS, folder)
    visitors = [new_line_visitor(mark, marks) for mark in marks]
    meter = Meter(server.pid)
    for visitor in visitors:
        await visitor.open(server.address)
        await visitor.to_certify()
    after: list[float] = []

    async def work(visitor: LineVisitor, count: int) -> None:
        for _ in range(count):
            await visitor.run()
            await visitor.take()
            after.append(meter.look())

    await asyncio.gather(*(work(visitor, runs // VISITORS) for visitor in visitors))
    for visitor in visitors:
        await visitor.look_around()
        await visitor.close()
    return after, visitors


def slope(after: list[float]) -> float:
    """Megabytes per 100 runs, by least squares over the runs that count."""
    counted = np.asarray(after[WARM_UP:])
    return float(100 * np.polyfit(np.arange(len(counted)), counted, 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.app_soak", description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    given = parser.parse_args()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        log = Path(temporary) / "server.log"
        with served({}, log) as server:
            after, visitors = asyncio.run(soak(server, given.runs, Path(temporary)))
        said = log.read_text(errors="replace")
    rise = slope(after)
    troubles = [trouble for visitor in visitors for trouble in visitor.troubles]
    certificates = sum(len(visitor.certificates) for visitor in visitors)
    shown = ", ".join(f"{after[place - 1]:.0f}" for place in range(20, len(after) + 1, 20))
    print(
        f"{len(after)} runs, {certificates} certificates in {time.monotonic() - start:.0f} s on {describe_machine()}"
    )
    print(f"Memory of the server after every 20th run, in MB: {shown}")
    print(
        f"Slope after the first {WARM_UP}: {rise:+.2f} MB per 100 runs; troubles: {'; '.join(troubles) or 'none'}"
    )
    sys.exit(1 if rise > FLAT_MB or troubles or "Traceback" in said else 0)


if __name__ == "__main__":
    main()
