"""A real server and Debian's Chromium; where either is missing they are skipped, with the command that installs it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.system import BROWSERS, install_command, missing_browser

ROOT = Path(__file__).resolve().parents[3]
CHROMIUM = next((path for path in map(shutil.which, BROWSERS) if path), None)
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]  # fmt: skip
PATIENCE = 180_000
"""Milliseconds until a test gives up: WebGL runs in software here, and the machine may be busy."""

READY = {"explore": ".tpc-plot[data-drawn]", "certify": "[data-testid=stBaseButton-primary]"}
"""What is on a page once it can be used."""


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a server of our own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GOMP_SPINCOUNT": "0"}
    command = [sys.executable, "-m", "streamlit", "run", "app/main.py", "--server.port", str(port)]
    command += ["--server.fileWatcherType", "none"]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{address}/_stcore/health", process)
        yield address
    finally:
        process.terminate()
        process.wait(20)


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < end:
        assert process.poll() is None, "the server ended"
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError("the server did not start")


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
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
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
