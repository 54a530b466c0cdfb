"""A real server and Debian's Chromium; where either is missing they are skipped, with the command that installs it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.server.serve import CHROMIUM_FLAGS, served
from app.server.system import BROWSERS, install_command, missing_browser

CHROMIUM = next((path for path in map(shutil.which, BROWSERS) if path), None)
PATIENCE = 180_000
"""Milliseconds until a test gives up: WebGL runs in software here, and the machine may be busy."""

READY = {
    "": ".tpc-demonstration[data-ready]",
    "about": ".tpc-table",
    "explore": ".tpc-stage[data-drawn]",
    "certify": "[data-testid=stBaseButton-primary]",
    "debug": "[class*=st-key-debug_]",
    "lessons": ".tpc-lesson-title",
    "theory": "[data-testid=stRadio]",
    "results": ".tpc-plot[data-drawn]",
    "library": ".tpc-thumbnails button",
    "runs": ".tpc-thumbnails button",
    "class": ".tpc-queue",
}
"""What is on a page once it can be used."""

WITHOUT_LINK = ("", "about")
"""Pages without a state of their own."""

POLICY = "Content Security Policy"
"""What Chromium's console names when a page does what its headers forbid."""

FAILED = pytest.StashKey[bool]()
"""Whether the body of a test failed."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report: Any = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of our own; what it complains of is shown when the tests are over."""
    log = tmp_path_factory.mktemp("server") / "log.txt"
    with served({"OMP_NUM_THREADS": "1"}, log) as mine:
        yield mine.address
    print(log.read_text()[-4000:])


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One browser for all tests."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="browser tests need `pip install playwright`"
    )
    if missing := missing_browser():
        reason = f"browser tests need {' '.join(missing)}: {install_command(missing)}"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def traffic() -> list[str]:
    """Every message between the pages of a test and the server, as it comes."""
    return []


def _listen(socket: Any, traffic: list[str]) -> None:
    socket.on("framesent", lambda _: traffic.append("sent"))
    socket.on("framereceived", lambda _: traffic.append("received"))


@pytest.fixture
def visit(
    chromium: Any, server: str, request: pytest.FixtureRequest, tmp_path: Path, traffic: list[str]
) -> Iterator[Callable[..., Any]]:
    """Open a page as a new visitor; an error, a breach of its policy, or a request to elsewhere fails the test."""
    contexts: list[Any] = []
    elsewhere: list[str] = []
    breaches: list[str] = []
    own = (server, "data:", "blob:", "ws")

    def open_page(path: str = "explore", width: int = 1280, height: int = 720, **settings: Any) -> Any:
        context = chromium.new_context(viewport={"width": width, "height": height}, **settings)
        context.set_default_timeout(PATIENCE)
        context.on("request", lambda r: None if r.url.startswith(own) else elsewhere.append(r.url))
        context.on("console", lambda said: breaches.append(said.text) if POLICY in said.text else None)
        contexts.append(context)
        page = context.new_page()
        page.on("websocket", lambda socket: _listen(socket, traffic))
        page.goto(f"{server}/{path}")
        name = "explore" if path.startswith("?") else path.partition("?")[0]
        page.wait_for_selector(READY.get(name, READY["explore"]))
        if name not in WITHOUT_LINK:
            page.wait_for_selector(".tpc-link")  # the last thing that a page draws
        return page

    yield open_page
    pages = [page for context in contexts for page in context.pages]
    if request.node.stash.get(FAILED, False):
        for number, page in enumerate(pages):
            picture = tmp_path / f"page-{number}.png"
            page.screenshot(path=picture)
            print(f"the page as it was: {page.url} {picture}")
    errors = [page.url for page in pages if page.locator("[data-testid=stException]").count()]
    for context in contexts:
        context.close()
    assert errors == []
    assert elsewhere == []
    assert breaches == []
