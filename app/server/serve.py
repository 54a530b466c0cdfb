"""An explorer of one's own for as long as a script needs it: tests, screenshots and measurements drive it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 180.0
"""Seconds until a server must have answered."""
CHROMIUM_FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]  # fmt: skip
"""Chromium without a screen: WebGL is drawn in software, and nothing is fetched from elsewhere."""


@dataclass(frozen=True)
class Served:
    """A server that runs: where it answers, and which process it is."""

    address: str
    pid: int


@contextmanager
def serve() -> Iterator[str]:
    """Start a server on a free port; its address. It computes on one core, to leave one to the browser beside it.

    Who drives it waits for certificates while the browser draws, so the workers do not stand back here.
    """
    with served({"OMP_NUM_THREADS": "1", "TPC_NICE": "0"}) as server:
        yield server.address


@contextmanager
def served(environment: Mapping[str, str], log: Path | None = None) -> Iterator[Served]:
    """Start a server on a free port as `make app` does, with further settings; what it says goes to a file."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app/main.py", "--server.port", str(port)]
    command += ["--server.fileWatcherType", "none", "--server.headless", "true"]
    with (log or Path(os.devnull)).open("wb") as said:
        server = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "GOMP_SPINCOUNT": "0", **environment},
            stdout=said,
            stderr=subprocess.STDOUT,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{address}/_stcore/health", server)
        yield Served(address, server.pid)
    finally:
        server.terminate()
        server.wait(20)


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if server.poll() is not None:
            raise RuntimeError("the server ended; run `streamlit run app/main.py` to see why")
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the server did not answer in time")
