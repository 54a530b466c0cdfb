"""The sandbox promises: whatever a file does to its parser, its owner gets one sentence and nobody else notices."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.hostile.fuzz import check_sentence
from tpc_core.data.files import load_file
from tpc_core.data.geometry import Geometry
from tpc_core.data.limits import MAX_UPLOAD_BYTES
from tpc_core.data.sandbox import Sandbox, safe_name
from tpc_core.data.sandbox.frames import Deadline, answer_of, receive_answer, send_parts
from tpc_core.data.shape import OrderedPoints
from tpc_core.errors import InvalidCloud, InvalidFile, TpcError

TETRAHEDRON = b"OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 3\n3 0 2 3\n3 1 2 3\n"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """A sandbox in which a large file is too slow, and a very large one too big."""
    made = Sandbox(seconds=3.0, memory=200 << 20)
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def huge() -> bytes:
    """A regular OFF cloud of a million points: its lines alone take more memory than the sandbox has."""
    return b"OFF\n1000000 0 0\n" + b"0.12345 1.23456 2.34567\n" * 1_000_000


def children(server: int) -> list[int]:
    listing = Path(f"/proc/{server}/task/{server}/children").read_text()
    return [int(child) for child in listing.split()]


def test_a_good_file_comes_out_as_it_would_without_the_sandbox(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "shape.off").write_bytes(TETRAHEDRON)
    direct, apart = load_file(tmp_path / "shape.off"), sandbox.read(TETRAHEDRON, "shape.off")
    assert apart.name == "shape"
    assert np.array_equal(direct.ordered.points, apart.ordered.points)
    assert direct.mesh is not None
    assert apart.mesh is not None
    assert np.allclose(direct.mesh.vertices, apart.mesh.vertices, atol=0)
    assert np.array_equal(direct.mesh.faces, apart.mesh.faces)


def test_a_cloud_stays_a_cloud(sandbox: Sandbox) -> None:
    shape = sandbox.read(b"0 0 0\n1 0 0\n0 1 0\n" * 10, "points.xyz")
    assert shape.mesh is None
    assert len(shape.ordered) == 30


@pytest.mark.parametrize(
    ("content", "name", "error"),
    [
        (b"", "a.off", InvalidFile),
        (b"junk", "a.ply", InvalidFile),
        (b"OFF\n1 0 0\n0 0 0\n", "a.off", InvalidCloud),
        (b"PK\x03\x04", "a.zip", InvalidFile),
        (TETRAHEDRON, "noending", InvalidFile),
        (bytes(MAX_UPLOAD_BYTES + 1), "a.off", InvalidFile),
    ],
)
def test_a_bad_file_is_refused_as_it_would_be_without(
    sandbox: Sandbox, content: bytes, name: str, error: type[TpcError]
) -> None:
    with pytest.raises(error) as caught:
        sandbox.read(content, name)
    check_sentence(str(caught.value))


def test_a_file_that_needs_too_much_memory_costs_a_sentence(sandbox: Sandbox, huge: bytes) -> None:
    server = sandbox.server_id
    with pytest.raises(InvalidFile, match=r"memory|crashed"):
        sandbox.read(huge, "huge.off")
    assert sandbox.server_id == server
    assert sandbox.read(TETRAHEDRON, "after.off").max_points == 2048


def test_a_file_that_takes_too_long_costs_a_sentence_and_does_not_hold_up_others(huge: bytes) -> None:
    patient = Sandbox(seconds=0.75, memory=2 << 30)
    patient.start()
    errors: list[str] = []

    def slow() -> None:
        with pytest.raises(InvalidFile) as caught:
            patient.read(huge, "slow.off")
        errors.append(str(caught.value))

    try:
        thread = threading.Thread(target=slow)
        thread.start()
        small = patient.read(b"0 0 0\n1 0 0\n0 1 0\n", "small.xyz")
        assert thread.is_alive()
        assert len(small.ordered) == 3
        thread.join(30)
        assert errors == ["slow.off crashed its parser, or took longer than 0.75 s; it was not read"]
    finally:
        patient.stop()


def test_a_parser_that_crashes_costs_a_sentence(sandbox: Sandbox) -> None:
    server = sandbox.server_id
    assert server is not None
    # A child that waits for the rest of its file, as one would that is stuck in a parser.
    link = sandbox._child()
    try:
        deadline = time.monotonic() + 20
        while not (mine := children(server)):
            assert time.monotonic() < deadline
            time.sleep(0.005)
        os.kill(mine[-1], signal.SIGSEGV)
        with pytest.raises((EOFError, OSError)):
            receive_answer(link, "x", Deadline(20))
    finally:
        link.close()
    assert sandbox.server_id == server
    assert sandbox.read(TETRAHEDRON, "after.off").max_points == 2048


def test_a_server_that_died_is_started_again(sandbox: Sandbox) -> None:
    assert sandbox.server_id is not None
    os.kill(sandbox.server_id, signal.SIGKILL)
    assert sandbox.read(TETRAHEDRON, "after.off").max_points == 2048


def test_the_server_has_one_thread_so_that_its_forks_are_safe(sandbox: Sandbox) -> None:
    assert len(list(Path(f"/proc/{sandbox.server_id}/task").iterdir())) == 1


def test_the_server_ends_with_the_process_that_started_it() -> None:
    short = Sandbox()
    short.start()
    server = short.server_id
    short.stop()
    assert not Path(f"/proc/{server}").exists()


GEOMETRY = Geometry(np.eye(3), np.array([[0, 1, 2]]))
POINTS = OrderedPoints(np.eye(3, dtype=np.float32))


def answered(parts: list[bytes]) -> tuple[Geometry, OrderedPoints]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sender = threading.Thread(target=lambda: (send_parts(theirs, parts), theirs.shutdown(socket.SHUT_WR)))
        sender.start()
        try:
            return receive_answer(ours, "file.off", Deadline(10))
        finally:
            sender.join(10)


def changed(number: int, part: bytes) -> list[bytes]:
    parts = answer_of(GEOMETRY, POINTS)
    parts[number] = part
    return parts


def array(values: np.ndarray) -> bytes:
    geometry = Geometry(np.zeros((1, 3)))
    return answer_of(geometry, OrderedPoints(values.astype(np.float32)))[3]


TAKEN_OVER = {
    "unknown kind": changed(0, b"pickle"),
    "not an array": changed(1, b"garbage"),
    "a pickle": changed(1, pickle.dumps(GEOMETRY.vertices)),
    "an array of objects": changed(3, array(np.eye(3)).replace(b"<f4", b"|O4")),
    "another type": changed(3, array(np.eye(3)).replace(b"<f4", b"<i4")),
    "more rows than bytes": changed(3, array(np.eye(3)).replace(b"(3, 3)", b"(9, 3)")),
    "columns first": changed(3, array(np.eye(3)).replace(b"False", b"True ")),
    "not a number": changed(3, array(np.full((3, 3), np.nan))),
    "outside the ball": changed(3, array(np.full((3, 3), 7.0))),
    "no points": changed(3, array(np.empty((0, 3)))),
    "a face of nothing": answer_of(Geometry(np.eye(3), np.array([[0, 1, 7]])), POINTS),
    "a negative face": answer_of(Geometry(np.eye(3), np.array([[0, 1, -1]])), POINTS),
    "a mesh without faces": changed(0, b"cloud-shape"),
}


@pytest.mark.parametrize("what", sorted(TAKEN_OVER))
def test_a_parser_that_was_taken_over_cannot_answer_nonsense(what: str) -> None:
    with pytest.raises(InvalidFile, match="makes no sense"):
        answered(TAKEN_OVER[what])


def test_a_parser_that_was_taken_over_cannot_fill_memory_or_terminals() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall((1 << 60).to_bytes(8, "little"))
        with pytest.raises(EOFError):
            receive_answer(ours, "file.off", Deadline(10))
    with pytest.raises(InvalidFile) as caught:
        answered([b"file", b"\x1b[31m" + b"A" * 100_000 + b"\n\n", b"", b""])
    check_sentence(str(caught.value))


def test_a_genuine_answer_is_taken() -> None:
    geometry, points = answered(answer_of(GEOMETRY, POINTS))
    assert np.array_equal(geometry.vertices, GEOMETRY.vertices)
    assert np.array_equal(points.points, POINTS.points)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("chair.OFF", "chair.off"),
        ("../../etc/<b>my shape</b>.off", "b.off"),
        ("C:\\temp\\x y.ply", "x-y.ply"),
        ("*bold*_[link](x).obj", "bold-_-link-x.obj"),
        ("x" * 500 + ".stl", "x" * 60 + ".stl"),
        ("\u202egnp.off", "gnp.off"),
        ("...", "upload"),
        ("", "upload"),
    ],
)
def test_names_are_cut_down_to_safe_letters(given: str, kept: str) -> None:
    assert safe_name(given) == kept
