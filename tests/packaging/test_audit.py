"""`make audit` promises to find what is known of a locked release, and never to pass where it could not look."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from scripts import audit

FLAW = {"id": "PYSEC-1", "aliases": ["CVE-2026-1", "GHSA-x"], "fixed_in": ["2.1"], "withdrawn": None}
SAME = {"id": "GHSA-x", "aliases": ["CVE-2026-1", "PYSEC-1"], "fixed_in": ["2.1"], "withdrawn": None}


def release(version: str, *advisories: dict[str, Any]) -> dict[str, Any]:
    return {"info": {"version": version}, "vulnerabilities": list(advisories)}


KNOWN: dict[str, Any] = {
    "/sound/1.0/json": release("1.0"),
    "/broken/2.0/json": release("2.0", FLAW, SAME),
    "/newest/json": release("3.0"),
    "/flawed-newest/json": release("3.0", FLAW),
    "/excused/1.0/json": release("1.0", {**FLAW, "withdrawn": "2026-01-01T00:00:00Z"}),
    "/silent/1.0/json": {"info": {"version": "1.0"}},
    "/page/1.0/json": None,
}


class Index(BaseHTTPRequestHandler):
    """An index with the releases above, and nothing else; of /newest it knows the newest alone."""

    def do_GET(self) -> None:
        known = self.path in KNOWN
        self.send_response(200 if known else 404)
        self.end_headers()
        self.wfile.write(b"<html>" if KNOWN.get(self.path) is None else json.dumps(KNOWN[self.path]).encode())

    def log_message(self, *said: object) -> None:
        pass


@pytest.fixture(scope="module")
def index() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Index)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_releases_without_a_known_flaw_pass(index: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert audit.main(index, [("sound", "1.0"), ("newest", "3.0"), ("excused", "1.0")]) == 0
    assert capfd.readouterr().out == "3 of 3 packages were looked up, 0 are vulnerable.\n"


@pytest.mark.parametrize("package", [("broken", "2.0"), ("flawed-newest", "3.0")])
def test_a_known_flaw_is_named_once_and_fails(
    index: str, package: tuple[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert audit.main(index, [("sound", "1.0"), package, ("newest", "2.9")]) == 1
    assert f"{' '.join(package)}: CVE-2026-1 (mended in 2.1)\n" in capfd.readouterr().out


def test_what_the_newest_release_is_says_nothing_about_an_older_one(
    index: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert audit.main(index, [("sound", "1.0"), ("newest", "2.9")]) == 2
    assert "newest 2.9" in capfd.readouterr().err


@pytest.mark.parametrize("package", ["silent", "missing", "page"])
def test_an_index_without_advisories_is_one_sentence_and_no_pass(
    index: str, package: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert audit.main(index, [(package, "1.0")]) == 2
    said = capfd.readouterr().err
    assert said.startswith("error: nothing was checked: ")
    assert said.count("\n") == 1


def test_no_connection_is_one_sentence_and_no_pass(capfd: pytest.CaptureFixture[str]) -> None:
    assert audit.main("http://127.0.0.1:9") == 2
    assert capfd.readouterr().err.count("\n") == 1


def test_everything_that_is_locked_is_asked_about() -> None:
    asked = dict(audit.locked())
    assert {"torch", "streamlit", "numpy", "ruff"} <= set(asked)
    assert len(asked) > 100
