"""A real server and Debian's Chromium; where either is missing they are skipped, with the command that installs it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from app.serve import CHROMIUM_FLAGS, serve
from app.system import BROWSERS, install_command, missing_browser

CHROMIUM = next((path for path in map(shutil.which, BROWSERS) if path), None)
PATIENCE = 180_000
"""Milliseconds until a test gives up: WebGL runs in software here, and the machine may be busy."""

READY = {"explore": ".tpc-plot[data-drawn]", "certify": "[data-testid=stBaseButton-primary]"}
"""What is on a page once it can be used."""


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a server of our own."""
    with serve() as address:
        yield address


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One browser for all tests."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="browser tests need `pip install playwright`"
    )
    if CHROMIUM is None:
        reason = f"browser tests need Chromium: {install_command(missing_browser())}"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Any, server: str) -> Iterator[Callable[..., Any]]:
    """Open a page as a new visitor; any error that a page shows fails the test."""
    contexts: list[Any] = []

    def open_page(path: str = "", width: int = 1280, height: int = 720) -> Any:
        context = chromium.new_context(viewport={"width": width, "height": height})
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.goto(f"{server}/{path}")
        page.wait_for_selector(READY["certify" if path.startswith("certify") else "explore"])
        page.wait_for_selector(".tpc-link")  # the last thing that a page draws
        return page

    yield open_page
    for context in contexts:
        for page in context.pages:
            assert page.locator("[data-testid=stException]").count() == 0
        context.close()
