"""Connections that ask for nothing are closed, and a message larger than a page's is refused before it is kept."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.processes import megabytes

SERVER = """
import asyncio, sys
import uvicorn
from app.server.protection.sockets import bound_sockets

async def answer(scope, receive, send):
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (await receive())["type"] != "websocket.disconnect":
            await send({"type": "websocket.send", "bytes": b"heard"})
    elif scope["type"] == "http":
        await asyncio.sleep(1.5 if scope["path"] == "/slow" else 0)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

if sys.argv[2] == "bounded":
    bound_sockets(0.4)
uvicorn.run(answer, port=int(sys.argv[1]), log_level="error", timeout_keep_alive=60)
"""
HALF = b"GET / HTTP/1.1\r\nHost: x\r\nX-"
UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def line(port: int, said: bytes) -> socket.socket:
    opened = socket.create_connection(("127.0.0.1", port), timeout=10)
    opened.sendall(said)
    return opened


def is_closed(opened: socket.socket, within: float) -> bool:
    """Whether the server ends the connection; what it says before is read away."""
    opened.settimeout(within)
    try:
        while opened.recv(1 << 16):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    return True


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    root = str(Path(__file__).resolve().parents[2])
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(port), "bounded"], env={**os.environ, "PYTHONPATH": root}
    )
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                line(port, HALF).close()
                break
            except OSError:
                time.sleep(0.1)
        yield port, process.pid
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("said", [b"", HALF, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + HALF])
def test_a_connection_that_asks_for_nothing_is_closed(server: tuple[int, int], said: bytes) -> None:
    """Silent from the start, in the middle of its first request, or of its second."""
    assert is_closed(line(server[0], said), 10.0)


def test_a_request_under_way_is_not_cut_off(server: tuple[int, int]) -> None:
    opened = line(server[0], b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
    assert opened.recv(1 << 16).startswith(b"HTTP/1.1 200")


def test_an_open_page_stays_open(server: tuple[int, int]) -> None:
    opened = line(server[0], UPGRADE)
    assert opened.recv(1 << 16).startswith(b"HTTP/1.1 101")
    time.sleep(1.5)
    opened.sendall(b"\x82\x81\0\0\0\0a")
    assert b"heard" in opened.recv(1 << 16)


@pytest.mark.parametrize("pieces", [1, 190])
def test_a_message_too_large_for_a_page_is_not_kept(server: tuple[int, int], pieces: int) -> None:
    """In one frame, or in pieces of which each is small enough."""
    port, process = server
    opened = line(port, UPGRADE)
    opened.recv(1 << 16)
    before, size = megabytes(process), (190 << 20) // pieces
    for number in range(pieces):
        kind = 0x02 if number == 0 else 0x00
        try:
            opened.sendall(struct.pack(">BBQI", kind, 0xFF, size, 0))
            for _ in range(size >> 20):
                opened.sendall(bytes(1 << 20))
        except OSError:
            break
    assert is_closed(opened, 10.0)
    assert megabytes(process) - before < 48  # without the limit: all 190
