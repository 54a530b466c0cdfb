"""Votes per second of the explorer beside the command line's, and a slider beside a certificate.

`python -m benchmarks.app_rate` starts the explorer as `make app` does and one page of Chromium, all on this machine.
In turns, `tpc certify` answers a question by itself, and the page asks the same question while a visitor watches the
map fill; both rates are read from the certificates. Then the visitor drags a slider on the Explore page, in turns with
nothing else under way and while somebody else's certificate runs. `--write` puts the figures into benchmarks/APP.md. It
exits with 1 where a promise does not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlencode

from app.server.serve import Served, served
from benchmarks.app_latency import MOVE, percentile
from benchmarks.app_load import chromium
from benchmarks.app_report import write_section
from benchmarks.machine import describe_machine
from benchmarks.marked import make_marks
from benchmarks.protocol import LineVisitor, new_line_visitor
from benchmarks.visitors import ENDED, RUN
from tpc_core import Certificate

OBJECT, TRANSFORM, RADIUS, MODEL = "gallery:chair-1", "general-rotation", "15", "pointnet64-noise"
LEAST_SHARE, MOST_DELAY = 0.85, 1.20
"""The explorer's part of the command line's rate at least; the slider's 95th percentile beside a run, at most."""
PATIENCE = 600_000


@dataclass
class Found:
    """All that was measured."""

    command: list[float] = field(default_factory=list)
    explorer: list[float] = field(default_factory=list)
    seen: list[float] = field(default_factory=list)
    """Votes over the time from the click to the verdict on the page."""
    alone: list[float] = field(default_factory=list)
    beside: list[float] = field(default_factory=list)
    """Milliseconds of a slider's movements, to the prediction."""

    @property
    def share(self) -> float:
        return median(self.explorer) / median(self.command)

    @property
    def delay(self) -> float:
        return percentile(self.beside, 0.95) / percentile(self.alone, 0.95)


def question(votes: int | None) -> str:
    """The link to the question; without a limit, nothing ends it while a slider is dragged."""
    asked = {"object": OBJECT, "transform": TRANSFORM, "radius": RADIUS, "model": MODEL, "complete": "yes"}
    return urlencode(asked if votes is None else {**asked, "budget": votes})


def commanded(votes: int) -> float:
    """Votes per second of the command line."""
    program = Path(sys.executable).with_name("tpc")
    command = [str(program), "certify", OBJECT, "-t", TRANSFORM, "-r", RADIUS, "-m", MODEL, "--complete"]
    done = subprocess.run(
        [*command, "--budget-samples", str(votes), "--json"], capture_output=True, check=False, env=os.environ
    )
    return rate_of(Certificate.from_json(done.stdout.decode()))


def rate_of(certificate: Certificate) -> float:
    return certificate.samples / certificate.seconds


async def certified(page: Any, address: str, votes: int) -> tuple[float, float]:
    """Ask on the page, watch, and take the certificate: its own rate, and the rate as the visitor saw it."""
    await page.goto(f"{address}/certify?{question(votes)}")
    await page.wait_for_selector(".st-key-start")
    await page.wait_for_selector(".tpc-link")
    await page.wait_for_timeout(3000)
    before, start = await page.evaluate(RUN), asyncio.get_running_loop().time()
    await page.locator(".st-key-start button").click()
    await page.wait_for_function(ENDED, arg=before)
    seconds = asyncio.get_running_loop().time() - start
    async with page.expect_download() as download:
        await page.locator(".st-key-save_json button").click()
    certificate = Certificate.from_json(Path(await (await download.value).path()).read_text())
    return rate_of(certificate), certificate.samples / seconds


async def dragged(page: Any, moves: int) -> list[float]:
    """Milliseconds from each movement of the slider to the prediction on the page."""
    taken: list[float] = [await page.evaluate(MOVE, step) for step in range(-moves // 4, moves)]
    return taken[-moves:]


async def begun(server: Served, folder: Path) -> LineVisitor:
    """Somebody else, without a browser, whose certificate runs until they are told to stop."""
    mark = make_marks(1, folder)[0]
    visitor = new_line_visitor(mark, [mark])
    await visitor.enter(server.address, question(None))
    await visitor._press("start")
    await visitor._until(lambda: visitor.status[1] == "running")
    return visitor


async def measure(server: Served, given: argparse.Namespace, folder: Path) -> Found:
    from playwright.async_api import async_playwright

    found = Found()
    async with async_playwright() as driver, chromium(folder / "profile") as address:
        browser = await driver.chromium.connect_over_cdp(address)

        async def new_page() -> Any:
            context = await browser.new_context(
                viewport={"width": 1280, "height": 720}, accept_downloads=True
            )
            context.set_default_timeout(PATIENCE)
            return await context.new_page()

        for number in range(given.rounds):
            found.command.append(await asyncio.to_thread(commanded, given.votes))
            page = await new_page()  # another visitor each time: no votes of an earlier run are read
            own, seen = await certified(page, server.address, given.votes)
            found.explorer.append(own)
            found.seen.append(seen)
            await page.context.close()
            print(
                f"round {number + 1}: {found.command[-1]:,.0f} votes/s by tpc certify, {own:,.0f} here",
                flush=True,
            )
        page = await new_page()
        await page.goto(f"{server.address}/explore?transform=z-twist")
        await page.wait_for_selector(".tpc-stage[data-drawn]")
        await page.wait_for_selector(".tpc-link")
        await page.wait_for_timeout(3000)
        for _ in range(given.rounds):
            found.alone += await dragged(page, given.moves)
            other = await begun(server, folder)
            found.beside += await dragged(page, given.moves)
            await other._press("cancel")
            await other._until(lambda other=other: other.status[1] == "cancelled")
            await other.close()
        await browser.close()
    return found


def report(found: Found, given: argparse.Namespace, load: str) -> str:
    """The section of APP.md."""

    def milliseconds(values: list[float]) -> str:
        return f"{len(values)} | {median(values):.0f} | {percentile(values, 0.95):.0f}"

    return f"""## The explorer beside the command line

Made by `python -m benchmarks.app_rate --write` on {describe_machine()}; load average before the run:
{load}. `{MODEL}` on `{OBJECT}`, {TRANSFORM} within {RADIUS} degrees, {given.votes:,} votes,
{given.rounds} rounds in turns; one visitor watches in Chromium, whose software renderer shares the cores. Targets:
{LEAST_SHARE:.0%} of the command line's rate, and a 95th percentile of the slider at most {MOST_DELAY - 1:.0%} above its
value with nothing else under way.

| votes/s, median (all rounds) | |
|---|---|
| `tpc certify` | {median(found.command):,.0f} ({_listed(found.command)}) |
| the explorer, by its certificate | {median(found.explorer):,.0f} ({_listed(found.explorer)}) |
| the explorer, from the click to the verdict | {median(found.seen):,.0f} ({_listed(found.seen)}) |
| share of the command line's | **{found.share:.0%}** |

| slider to its prediction, milliseconds | moves | median | 95th percentile |
|---|---:|---:|---:|
| nothing else under way | {milliseconds(found.alone)} |
| while a certificate runs | {milliseconds(found.beside)} |
| 95th percentile, times that without | | | **{found.delay:.2f}** |
"""


def _listed(values: list[float]) -> str:
    return ", ".join(f"{value:,.0f}" for value in values)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.app_rate", description=__doc__)
    parser.add_argument("--votes", type=int, default=100_000, help="one of the budgets that the page offers")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--moves", type=int, default=40, help="movements of the slider in each round")
    parser.add_argument("--write", action="store_true", help="put the figures into benchmarks/APP.md")
    given = parser.parse_args()
    load = f"{os.getloadavg()[0]:.1f}"
    with tempfile.TemporaryDirectory() as temporary, served({}) as server:
        found = asyncio.run(measure(server, given, Path(temporary)))
    text = report(found, given, load)
    print(text)
    if given.write:
        write_section("rate", text)
    wrong = []
    if found.share < LEAST_SHARE:
        wrong.append(f"the explorer casts {found.share:.0%} of the command line's votes per second")
    if found.delay > MOST_DELAY:
        wrong.append(f"beside a certificate the slider takes {found.delay:.2f} times as long")
    for words in wrong:
        print(f"does not hold: {words}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
