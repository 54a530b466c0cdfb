"""Walk the three ways through the explorer as a new visitor would, count the clicks, and take a picture at each stop.

`python scripts/walks.py OUT` starts a server and a browser of its own, writes OUT/learner-1.png and so on, and prints
the clicks and the seconds to the goal of each way.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright  # noqa: E402

from app.server.serve import CHROMIUM_FLAGS, serve  # noqa: E402

PATIENCE = 180_000


class Walk:
    """One visitor: every click is counted, every stop leaves a picture."""

    def __init__(self, name: str, page: Any, folder: Path) -> None:
        self.name, self.page, self.folder = name, page, folder
        self.clicks = self.stops = 0
        self.began = time.monotonic()

    def click(self, what: Any) -> None:
        what.click()
        self.clicks += 1

    def button(self, name: str) -> None:
        """Click a button by what it says."""
        self.click(self.page.get_by_role("button", name=name, exact=True))

    def stop(self, what: str, sign: str) -> None:
        """Arrive: wait for a sign of it, take a picture, say how far it was."""
        self.page.wait_for_selector(sign)
        self.page.wait_for_timeout(1500)
        self.stops += 1
        self.page.screenshot(path=self.folder / f"{self.name}-{self.stops}.png")
        seconds = time.monotonic() - self.began
        print(f"| {self.name} | {what} | {self.clicks} | {seconds:.0f} |", flush=True)


def learner(walk: Walk) -> None:
    """From the first screen to a solved question, and on to the next lesson."""
    page = walk.page
    walk.stop("the first screen", ".tpc-demonstration[data-ready]")
    walk.click(page.locator(".st-key-door_lessons a"))
    walk.stop("lesson 1, an object to twist", ".tpc-stage[data-drawn]")
    walk.button("Next: the numbers")
    page.wait_for_selector(".tpc-plot[data-drawn]")
    walk.button("Next: the question")
    page.wait_for_selector(".st-key-question")
    walk.click(page.locator(".st-key-question label:has(input[type=radio])").nth(1))
    walk.stop("question answered, and why", '[data-answer="right"]')
    walk.click(page.locator(".tpc-presenter [data-go=next]"))
    walk.stop("lesson 2", '.tpc-lesson-title[data-lesson="2"]')


def teacher(walk: Walk) -> None:
    """From the first screen to notes beside the projector, and a room for the class."""
    page = walk.page
    walk.stop("the first screen", ".tpc-demonstration[data-ready]")
    walk.click(page.locator(".st-key-door_lessons a"))
    page.wait_for_selector(".tpc-presenter [data-go=notes]")
    with page.expect_popup() as opened:
        walk.click(page.locator(".tpc-presenter [data-go=notes]"))
    opened.value.wait_for_selector(".tpc-notes-clock")
    opened.value.screenshot(path=walk.folder / f"{walk.name}-notes.png")
    walk.stop("notes in a window of their own", ".tpc-lesson-title")
    walk.click(page.locator(".st-key-widget_lesson button").last)
    page.wait_for_selector(".st-key-challenge_new")
    walk.click(page.locator(".st-key-challenge_new button"))
    walk.stop("a room with its code", ".st-key-challenge_submit")


def researcher(walk: Walk) -> None:
    """From the first screen to a certificate; then a failed one, repaired, with before and after."""
    page = walk.page
    walk.stop("the first screen", ".tpc-demonstration[data-ready]")
    walk.click(page.locator(".st-key-door_certify a"))
    page.wait_for_selector("[data-testid=stBaseButton-primary]")
    walk.button("Certify")
    walk.stop("a verdict with its certificate", '.tpc-facts[data-status="done"]')
    walk.click(page.get_by_role("link", name="Debug").first)
    page.wait_for_selector("[class*=st-key-debug_]")
    examples = page.get_by_role("button", name="Examples")
    if examples.count():
        walk.click(examples)
    walk.click(page.locator(".st-key-debug_start_undecided button").first)
    walk.stop("a failed run, taken apart", '.tpc-verdict[data-verdict="undecided"]')
    walk.click(page.locator("[class*=st-key-debug_do_all] button").first)
    walk.stop("repaired: before and after", '.tpc-step[data-after="certified"]')


WAYS: dict[str, Callable[[Walk], None]] = {"learner": learner, "teacher": teacher, "researcher": researcher}


def main() -> None:
    """Walk every way."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "walks")
    folder.mkdir(parents=True, exist_ok=True)
    print("| who | where they are | clicks | seconds |\n|---|---|---|---|", flush=True)
    with serve() as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM_FLAGS)
        for name, way in WAYS.items():
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            context.set_default_timeout(PATIENCE)
            page = context.new_page()
            page.goto(address)
            way(Walk(name, page, folder))
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
