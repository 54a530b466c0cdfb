"""A parser that was taken over can compute and answer, and nothing else, where the system has the locks for it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.taken_over import ACTS
from tpc_core.data.sandbox import Sandbox
from tpc_core.data.sandbox import shapes as shapes_reader
from tpc_core.data.sandbox.confinement import LOCKS, Limits, forbid_calls, forbid_files
from tpc_core.data.sandbox.frames import receive_document
from tpc_core.data.sandbox.server import _rehearse, rehearsed

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Landlock and seccomp are Linux's")


@pytest.fixture(scope="module")
def taken_over() -> Iterator[Sandbox]:
    made = Sandbox("tests.hostile.taken_over", seconds=20.0)
    made.start()
    yield made
    made.stop()


def has(sandbox: Sandbox, lock: str) -> bool:
    return any(lock in words for words in sandbox.confinement)


@pytest.mark.parametrize("act", sorted(ACTS))
def test_a_parser_that_was_taken_over_cannot(act: str, taken_over: Sandbox, tmp_path: Path) -> None:
    if not has(taken_over, "seccomp"):
        pytest.skip("this kernel has no seccomp")
    secret = tmp_path / "secret"
    secret.write_text("nobody's business")
    tmp_path.chmod(0o777)
    secret.chmod(0o666)
    said = taken_over.ask(f"{act}\n{secret}".encode(), "file", receive_document).decode()
    assert said.startswith("refused"), said
    assert secret.read_text() == "nobody's business"
    assert sorted(tmp_path.iterdir()) == [secret]


def test_files_are_out_of_reach_by_landlock_alone(tmp_path: Path) -> None:
    """Each lock holds by itself: without seccomp, Landlock still keeps every file away."""
    if _rehearse(shapes_reader, {}, Limits(5, 1 << 30), (forbid_files,)) == []:
        pytest.skip("this kernel has no Landlock")
    secret = tmp_path / "secret"
    secret.write_text("x")
    secret.chmod(0o666)

    class Reader:
        def samples(self) -> dict[str, bytes]:
            return {}

        def answer(self, content: bytes, name: str) -> list[bytes]:
            secret.read_text()
            return []

    assert _rehearse(Reader(), {"a": b""}, Limits(5, 1 << 30), ()) == []
    assert _rehearse(Reader(), {"a": b""}, Limits(5, 1 << 30), (forbid_files,)) is None


def test_every_format_is_read_under_all_locks_that_there_are() -> None:
    samples = shapes_reader.samples()
    assert {name.split(".")[-1] for name in samples} >= {
        "glb",
        "npy",
        "obj",
        "off",
        "pcd",
        "ply",
        "stl",
        "xyz",
    }
    for name, content in samples.items():
        shapes_reader.answer(content, name)  # as the server does, so that nothing is left to import
    locks, had = rehearsed(shapes_reader, samples, Limits(20, 2 << 30))
    assert locks == LOCKS
    assert had


def test_a_system_that_cannot_read_under_seccomp_reads_without_it_and_says_so() -> None:
    """A library that needs a call which is not on the list: one lock fewer, not no files at all."""

    class NeedsCall:
        def samples(self) -> dict[str, bytes]:
            return {"a": b""}

        def answer(self, content: bytes, name: str) -> list[bytes]:
            import os

            os.getpriority(os.PRIO_PROCESS, 0)
            return []

    locks, had = rehearsed(NeedsCall(), {"a": b""}, Limits(5, 1 << 30))
    assert forbid_calls not in locks
    assert not any("seccomp" in words for words in had)


def test_the_server_prints_what_could_be_had() -> None:
    code = "import app.main\nfrom tpc_core.data.sandbox import Sandbox\nmade = Sandbox()\nmade.start()\nmade.stop()\n"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert "uploads are read by a process with" in done.stderr, done.stderr


def test_what_could_be_had_is_said_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="tpc_core.data.sandbox.client")
    made = Sandbox()
    made.start()
    try:
        assert made.confinement
        assert all(words in caplog.text for words in made.confinement)
    finally:
        made.stop()
