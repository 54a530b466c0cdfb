"""`make audit` promises to say that nothing was checked where nothing could be."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from scripts import audit


class Index(BaseHTTPRequestHandler):
    """An index with advisories at /with, one without at /without, and nothing else."""

    def do_GET(self) -> None:
        known = {"/with": b'{"affected": []}', "/without": b'{"info": {}}', "/page": b"<html>"}
        self.send_response(200 if self.path in known else 404)
        self.end_headers()
        self.wfile.write(known.get(self.path, b""))

    def log_message(self, *said: object) -> None:
        pass


@pytest.fixture(scope="module")
def index() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Index)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("path", ["/without", "/missing", "/page"])
def test_an_index_without_advisories_is_one_sentence_and_no_pass(
    index: str, path: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert audit.main(index + path) == 2
    said = capfd.readouterr().err
    assert said.startswith("error: nothing was checked: ")
    assert said.count("\n") == 1


def test_no_connection_is_one_sentence_and_no_pass(index: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert audit.main("http://127.0.0.1:9/") == 2
    assert capfd.readouterr().err.count("\n") == 1
    assert audit.obstacle(f"{index}/with") is None
