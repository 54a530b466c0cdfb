"""A class at work: 20 browsers on one server, dragging and certifying objects of their own.

`python -m benchmarks.app_load` starts the explorer as `make app` does, and 20 pages of Debian's Chromium, all on this
machine. Every visitor brings a marked file, then drags a slider over a few values, each as soon as the one
before is answered, looks at it for one to two seconds, and drags again; a few at a time go to certify. Afterwards the
script says how long the sliders took, how much memory the server had, and whether anyone received anything of
anyone else (benchmarks/marked.py). It exits with 1 where a promise does not hold.

With `--attack 3`, somebody else is there all the while who sends hostile certificates, floods the server with uploads,
messages and connections, and fills the places for runs under many names (benchmarks/attacker.py), three of each at
once. The same promises hold for the honest visitors. `--attack 0 1 3 8` makes a run for each, on a server of its own;
`--write` puts the figures into docs/reliability.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from app.server.serve import CHROMIUM_FLAGS, Served, served
from benchmarks.app_latency import percentile
from benchmarks.app_report import write_section
from benchmarks.attacker import idle_kinds
from benchmarks.classroom import CERTIFYING, let_in, work
from benchmarks.machine import describe_machine
from benchmarks.marked import make_marks
from benchmarks.processes import Meter, processor_seconds
from benchmarks.protocol import new_line_visitor
from benchmarks.visitors import PageVisitor, new_page_visitor
from benchmarks.visits import Visit
from tpc_core import verify

RELIABILITY = Path(__file__).parents[1] / "docs" / "reliability.md"
TARGET_MS = 1000
"""A slider is answered within this time, 19 times of 20."""
PAINTED_MS = 400
"""Without an attacker, its picture is painted within this time, 19 times of 20."""
CERTIFICATE_S = 4.9
"""Without an attacker, half of the certificates take less: half of what they took as threads of the server."""
MEMORY_MB = 3000
"""The server stays below this, half of what compose.yaml allows it."""
ATTACKED_MB = 2000
"""Under attack, with the processes that read files: what an attacker may make it take."""
PATIENCE = 120.0
"""Seconds that the last visitor may still take when time is up."""


async def class_at_work(
    server: Served, given: argparse.Namespace, folder: Path, at_once: int
) -> dict[str, Any]:
    """Let everybody in, work for a while beside an attacker who does so much at once, and gather what was seen."""
    from playwright.async_api import async_playwright

    marks = make_marks(given.visitors, folder)
    async with async_playwright() as driver, chromium(folder / "profile") as address:
        browser = await driver.chromium.connect_over_cdp(address)
        visitors: list[Visit] = [
            await new_page_visitor(browser, mark, marks, draws=True) for mark in marks[: given.pages]
        ]
        visitors += [new_line_visitor(mark, marks) for mark in marks[given.pages :]]
        meter = Meter(server.pid)
        watching = asyncio.create_task(meter.watch())
        arriving = time.monotonic()
        await let_in(visitors, server.address)
        start, worked = time.monotonic(), processor_seconds(server.pid)
        print(
            f"{len(visitors)} visitors are in after {start - arriving:.0f} s, {meter.largest:.0f} MB",
            flush=True,
        )
        attacking = asyncio.create_task(_attacked(server, given, at_once)) if at_once else None
        stopped: list[str] = []
        try:
            async with asyncio.timeout(given.seconds + PATIENCE):
                await work(visitors, start + given.seconds, given.certifying)
        except Exception as error:  # whatever stops an honest visitor is what this looks for
            stopped.append(f"a visitor could not go on: {type(error).__name__} {error}".rstrip())
        tried = await attacking if attacking is not None else {}
        seconds, worked = time.monotonic() - start, processor_seconds(server.pid) - worked
        for visitor in visitors:
            await visitor.look_around()
        watching.cancel()
        await browser.close()
    found = _summary(visitors)
    found["troubles"] += stopped
    return {
        "seconds": seconds,
        "server_cores": worked / seconds,
        "memory": meter,
        "at_once": at_once,
        "attack": tried,
        **found,
    }


async def _attacked(server: Served, given: argparse.Namespace, at_once: int) -> dict[str, int]:
    """An attacker in a process of its own; what it tried, and what became of it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "benchmarks.attacker", server.address, "--seconds", str(given.seconds)),
        *("--at-once", str(at_once)),
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await process.communicate()
    tried: dict[str, int] = json.loads(said or b"{}")  # it said nothing where it broke: no kind came through
    return tried


@asynccontextmanager
async def chromium(profile: Path) -> AsyncIterator[str]:
    """Chromium in the session of this script, as the server is; gives the address to speak to it.

    Linux can divide processors among sessions first and look at priorities only within each (sched_autogroup), and
    Playwright starts its browsers in sessions of their own. Then a certificate at a low priority would take
    as much of the machine as the pages: an artefact of having a class on the server's own machine.
    """
    program = shutil.which("chromium")
    assert program is not None, (
        "Chromium is not here; `python -m app.server.system --browser --install` brings it"
    )
    flags = ["--headless=new", "--remote-debugging-port=0", f"--user-data-dir={profile}", *CHROMIUM_FLAGS]
    process = await asyncio.create_subprocess_exec(
        program, *flags, "about:blank", stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    port = profile / "DevToolsActivePort"
    try:
        async with asyncio.timeout(PATIENCE):
            while not (port.exists() and port.read_text().count("\n")):
                await asyncio.sleep(0.1)
        yield f"http://127.0.0.1:{port.read_text().splitlines()[0]}"
    finally:
        process.terminate()
        await process.wait()


def _summary(visitors: list[Visit]) -> dict[str, Any]:
    pages = [move for visitor in visitors if isinstance(visitor, PageVisitor) for move in visitor.moves]
    lines = [move for visitor in visitors if not isinstance(visitor, PageVisitor) for move in visitor.moves]
    certificates = [certificate for visitor in visitors for certificate in visitor.certificates]
    for certificate in certificates:
        verify(certificate)
    return {
        "opened": [visitor.opened for visitor in visitors],
        "lines": [move["reply"] for move in lines],
        "reply": [move["reply"] for move in pages],
        "answered": [move["answered"] for move in pages],
        "painted": [move["total"] for move in pages],
        "rests": [rest for visitor in visitors for rest in visitor.rests],
        "runs": [run for visitor in visitors for run in visitor.runs],
        "certifying_visitors": sum(bool(visitor.runs) for visitor in visitors),
        "certificates": len(certificates),
        "megabytes": sum(visitor.received for visitor in visitors) / 2**20,
        "troubles": [
            f"{visitor.mark.name} {trouble}" for visitor in visitors for trouble in visitor.troubles
        ],
    }


def report(found: dict[str, Any], given: argparse.Namespace) -> str:
    """The figures as a table in Markdown."""

    def row(words: str, values: list[float], scale: float = 1.0) -> str:
        if not values:
            return f"| {words} | 0 | | | |"
        shown = (percentile(values, 0.5), percentile(values, 0.95), max(values))
        return (
            f"| {words} | {len(values):,} | " + " | ".join(f"{scale * value:.2f}" for value in shown) + " |"
        )

    memory: Meter = found["memory"]
    return "\n".join(
        [
            f"{given.visitors} visitors ({given.pages} of them in Chromium) for {found['seconds']:.0f} s on "
            f"{describe_machine()}",
            "",
            "| seconds | times | median | 95th percentile | slowest |",
            "|---|---:|---:|---:|---:|",
            row("slider to its answer, visitors without a browser", found["lines"], 1e-3),
            row("slider to its answer, visitors in Chromium", found["reply"], 1e-3),
            row("slider to its answer on the page", found["answered"], 1e-3),
            row("slider to the painted picture", found["painted"], 1e-3),
            row("slider let go to the whole page", found["rests"], 1e-3),
            row("certificate, from the click to the verdict", found["runs"]),
            row("first page, all arriving within ten seconds", found["opened"]),
            "",
            f"Memory of the server: {memory.first:.0f} MB at the start, at most {memory.largest:.0f} MB, "
            f"{memory.last:.0f} MB at the end. It used {found['server_cores']:.2f} of {os.cpu_count()} cores.",
            f"{found['certificates']} certificates by {found['certifying_visitors']} visitors, all valid and of "
            f"their own object; {found['megabytes']:.0f} MB were searched for marks of others.",
            f"Troubles: {'; '.join(found['troubles']) or 'none'}",
            *([f"The attacker: {_counted(found['attack'])}."] if found["at_once"] else []),
        ]
    )


def _counted(tried: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in sorted(tried.items()))


def broken_promises(found: dict[str, Any], log: str) -> list[str]:
    """What does not hold, in words."""
    wrong = list(found["troubles"])
    for name in ("lines", "reply", "painted"):
        if found[name] and percentile(found[name], 0.95) > TARGET_MS:
            wrong.append(f"sliders take more than {TARGET_MS} ms at the 95th percentile ({name})")
    if found["at_once"]:
        wrong += [
            f"the attacker did nothing that came through: {kind}" for kind in idle_kinds(found["attack"])
        ]
        if not found["lines"]:
            wrong.append("no honest visitor moved a slider")
    else:
        if found["painted"] and percentile(found["painted"], 0.95) > PAINTED_MS:
            wrong.append(f"pictures take more than {PAINTED_MS} ms at the 95th percentile")
        if found["runs"] and percentile(found["runs"], 0.5) > CERTIFICATE_S:
            wrong.append(f"half of the certificates take more than {CERTIFICATE_S} s")
    most = ATTACKED_MB if found["at_once"] else MEMORY_MB
    if found["memory"].largest > most:
        wrong.append(f"the server took more than {most} MB")
    if "Traceback" in log:
        wrong.append("the server wrote a stack")
    return wrong


def attack_table(runs: list[dict[str, Any]], given: argparse.Namespace) -> str:
    """The runs beside one another: what the honest visitors felt, and what became of what the attacker did."""
    rows = [
        "| at once | movements | median, s | 95th percentile, s | slowest, s | certificates | memory, MB | troubles |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for found in runs:
        moves = found["lines"] + found["reply"]
        seconds = [percentile(moves, 0.5), percentile(moves, 0.95), max(moves)] if moves else []
        times = [f"{value / 1000:.2f}" for value in seconds] or ["-"] * 3
        rows.append(
            f"| {found['at_once'] or 'no attacker'} | {len(moves):,} | {' | '.join(times)} | {found['certificates']} | "
            f"{found['memory'].largest:,.0f} | {len(found['troubles'])} |"
        )
    kinds = sorted({words for found in runs for words in found["attack"]})
    attacked = [found for found in runs if found["at_once"]]
    counts = [
        f"| what the attacker did | {' | '.join(str(found['at_once']) for found in attacked)} |",
        f"|---|{'---:|' * len(attacked)}",
    ]
    counts += [
        f"| {words} | {' | '.join(format(found['attack'].get(words, 0), ',') for found in attacked)} |"
        for words in kinds
    ]
    command = (
        f"--seconds {given.seconds:.0f} --attack {' '.join(str(found['at_once']) for found in runs)} --write"
    )
    made = (
        f"Made by `python -m benchmarks.app_load {command}`: {given.visitors} honest visitors ({given.pages} of them "
        f"in Chromium) for {given.seconds:.0f} s each time, on {describe_machine()}, which server, visitors and "
        f"attacker share; load average before the first run: {given.load:.1f}."
    )
    return "\n".join([made, "", *rows, *(["", *counts] if attacked else [])])


def one_run(given: argparse.Namespace, at_once: int) -> tuple[dict[str, Any], list[str]]:
    """A class on a server of its own; what was seen, and what does not hold."""
    with tempfile.TemporaryDirectory() as temporary:
        log = Path(temporary) / "server.log"
        with served({}, log) as server:
            found = asyncio.run(class_at_work(server, given, Path(temporary), at_once))
        said = log.read_text(errors="replace")
    if "Traceback" in said:
        print(said[-4000:])
    return found, broken_promises(found, said)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.app_load", description=__doc__)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument(
        "--pages", type=int, default=2, help="visitors in Chromium; the others have no browser"
    )
    parser.add_argument(
        "--certifying", type=int, default=CERTIFYING, help="visitors that certify at the same time"
    )
    parser.add_argument("--seconds", type=float, default=180.0)
    parser.add_argument(
        "--attack", type=int, nargs="+", default=[0], metavar="N",
        help="a run for each N, with an attacker who does N things of each kind at once; 0: without",
    )  # fmt: skip
    parser.add_argument("--json", type=Path, help="also write every single time to this file")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/reliability.md")
    given = parser.parse_args()
    given.load = os.getloadavg()[0]
    runs, wrong = [], []
    for at_once in given.attack:
        found, broken = one_run(given, at_once)
        runs.append(found)
        print(report(found, given), flush=True)
        named = f" with an attacker who does {at_once} at once" if at_once else ""
        wrong += [f"does not hold{named}: {words}" for words in broken]
        if given.write and not at_once:
            write_section(
                "load",
                f"Made by `python -m benchmarks.app_load --write`: {report(found, given)}",
                RELIABILITY,
            )
    if given.write and any(given.attack):
        write_section("attacked", attack_table(runs, given), RELIABILITY)
    if given.json:
        given.json.write_text(json.dumps(runs, default=vars))
    for words in wrong:
        print(words)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
