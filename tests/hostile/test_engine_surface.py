"""Pickles pass between a process and its own workers: nobody else can come between them, or speak to them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tpc_core.engines import Call, LocalEngine, Report

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def workers() -> Iterator[list[int]]:
    """The process numbers of two workers that are at work."""
    with LocalEngine(2) as engine:
        handles = [engine.submit(Call(os.getpid, ())) for _ in range(2)]
        for handle in handles:
            assert all(isinstance(message, Report) for message in handle.messages())
        yield engine.processes


def sockets(process: int) -> list[str]:
    """The inodes of the sockets that a process holds."""
    links = [os.readlink(link) for link in Path(f"/proc/{process}/fd").iterdir() if link.is_symlink()]
    return [link.removeprefix("socket:[").removesuffix("]") for link in links if link.startswith("socket:[")]


def rows(table: str) -> list[list[str]]:
    return [line.split() for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_worker_has_one_line_to_its_parent_and_no_door(workers: list[int]) -> None:
    """An unnamed pair of sockets: it has no path and no port, so there is nothing to connect to."""
    network = {row[9] for table in ("tcp", "tcp6", "udp", "udp6") for row in rows(table)}
    named = {row[6] for row in rows("unix") if len(row) > 7}
    for worker in workers:
        held = sockets(worker)
        assert len(held) == 1
        assert not set(held) & (network | named)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_everybody_may_read_of_a_worker_says_nothing(workers: list[int]) -> None:
    for worker in workers:
        command = Path(f"/proc/{worker}/cmdline").read_bytes().split(b"\0")[1:4]
        assert command[:2] == [b"-m", b"tpc_core.engines.worker"]
        assert command[2].isdigit()
        assert Path(f"/proc/{worker}/environ").stat().st_mode & 0o077 == 0


OWN_CLUSTER = """
import subprocess, sys
from tpc_core.engines import Call
from tpc_core.engines.ray_cluster import RayEngine

with RayEngine(size=1) as engine:
    assert [message.result for message in engine.submit(Call(len, ("abc",))).messages()] == [3]
    address = engine._ray.get_runtime_context().gcs_address
    print(subprocess.run([sys.executable, "-c", sys.argv[1], address], env={"PATH": "/usr/bin"}).returncode)
"""
STRANGER = """
import sys, ray
ray.init(address=sys.argv[1], logging_level="CRITICAL", log_to_driver=False)
"""


@pytest.mark.ray
@pytest.mark.slow
def test_a_cluster_of_our_own_joins_no_other_and_answers_nobody_without_its_token(tmp_path: Path) -> None:
    """Ray reads the address of "the" cluster from a file in /tmp that anyone may write, unless it is told not to."""
    pytest.importorskip("ray")
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "RAY_ADDRESS": "192.0.2.99:6379",
        "RAY_worker_niceness": "0",
    }
    command = [sys.executable, "-c", OWN_CLUSTER, STRANGER]
    found = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert found.returncode == 0, found.stderr[-2000:]
    assert found.stdout.split()[-1] == "1"
    assert "Failed to connect" in found.stderr
