"""Killed with -9 in the middle: finished cells are kept, what is on disk is genuine, going on gives the same answer.

Trainings and evaluations have tests of their own beside them: tests/training/test_resume.py, tests/evaluation.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from app.server.jobs import JobBoard, Request, SavedRuns
from tests.certificate.made import QUESTIONS
from tests.engines.models import shared_engine
from tests.faults.disks import files, fill, mounted
from tests.faults.slow import slow_question, slow_request
from tpc_core.certificate import Certificate
from tpc_core.certify import Done, certify, certify_events
from tpc_core.question import Question
from tpc_core.verify import verify

ROOT = Path(__file__).resolve().parents[2]


def killed(code: str, *arguments: str, when: Callable[[], bool]) -> None:
    """Run Python code in a process of its own and kill it as soon as something is there."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen([sys.executable, "-c", code, *arguments], env=env)
    deadline = time.monotonic() + 240
    try:
        while not when():
            assert process.poll() is None, "it ended before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.005)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


KEPT = """
import sys
from importlib import import_module
from pathlib import Path
from tests.faults.disks import files, fill, mounted
from tests.faults.slow import slow_question, slow_request
from tpc_core.certify import certify_events
import_module("tpc_core.certify").SAVE_SECONDS = 0.05
path = Path(sys.argv[1])
for event in certify_events(*slow_question(sys.argv[2], pause=0.02), keep=lambda made: made.save(path)):
    pass
"""


def with_cells(path: Path) -> bool:
    return path.exists() and any(place.startswith("cell|") for place in Certificate.load(path).ledger.places)


def extends(after: Certificate, before: Certificate) -> bool:
    """Whether every vote of one ledger is in the other, at the same place and in the same order."""
    votes = after.votes().tallies
    return all(
        place in votes and np.array_equal(votes[place].blocks[: tally.size], tally.blocks)
        for place, tally in before.votes().tallies.items()
    )


def test_a_killed_run_goes_on_from_its_last_votes(tmp_path: Path) -> None:
    kind, path = "many cells of rotations", tmp_path / "certificate.partial.json"
    killed(KEPT, str(path), kind, when=lambda: with_cells(path))
    partial = Certificate.load(path)
    assert verify(partial).verdict == "undecided"
    question = slow_question(kind)
    whole = certify(*question)
    resumed = certify(*question, resume=partial)
    assert extends(resumed, partial)
    assert resumed.sentence == whole.sentence
    assert verify(resumed).verdict == "certified"


SERVER = """
import sys
from pathlib import Path
from app.server.jobs import JobBoard, Request, SavedRuns
from tests.faults.slow import slow_request
from tpc_core.engines import LocalEngine
board = JobBoard(LocalEngine(1), saved=SavedRuns(Path(sys.argv[1])))
board.submit("a visitor", slow_request(Request, pause=0.02)).join()
"""


def test_the_server_is_killed_and_its_visitor_goes_on(tmp_path: Path) -> None:
    saved = SavedRuns(tmp_path)
    killed(SERVER, str(tmp_path), when=lambda: bool(saved.unfinished("a visitor")))
    assert saved.unfinished("somebody else") == []
    (run,) = saved.unfinished("a visitor")
    model, *_ = slow_question("many cells of rotations")
    request = run.request(lambda name: model)  # type: ignore[arg-type,return-value]
    board = JobBoard(shared_engine(), saved=saved)
    job = board.submit("a visitor", request, run.certificate, run.path)
    job.join(240)
    certificate = job.view().certificate
    assert certificate is not None
    assert extends(certificate, run.certificate)
    assert certificate.verdict == "certified"
    assert saved.unfinished("a visitor") == []


def test_a_full_disk_for_saved_runs_costs_no_run_and_leaves_nothing_half_written(tmp_path: Path) -> None:
    with mounted(tmp_path / "runs", "size=64k") as disk:
        ballast = fill(disk)
        saved = SavedRuns(disk)
        job = JobBoard(shared_engine(), saved=saved).submit("a visitor", slow_request(Request, pause=0.0))
        assert job.join(240)
        certificate = job.view().certificate
        assert certificate is not None
        assert certificate.verdict == "certified"
        assert files(disk) == {"ballast"}
        ballast.unlink()
        assert saved.unfinished("a visitor") == []


def test_what_was_uploaded_is_never_written_down(tmp_path: Path) -> None:
    model, cloud, transform, radius, options = slow_question("many cells of rotations")
    asked = Question.of(model.name, "mine", len(cloud), transform, radius, options)
    request = Request("mine", asked, model, cloud, private=True)
    assert SavedRuns(tmp_path).place("me", request) is None


def test_damaged_saved_runs_are_cleared_away(tmp_path: Path) -> None:
    folder = tmp_path / "me"
    folder.mkdir()
    for number, content in enumerate([b"", b"{", b"[]", b'{"format": "tpc-saved-run/2"}', b"[" * 100_000]):
        (folder / f"{number}.json").write_bytes(content)
    assert SavedRuns(tmp_path).unfinished("me") == []
    assert list(folder.iterdir()) == []
    assert SavedRuns(tmp_path).unfinished("../me") == []


@pytest.mark.parametrize(
    "kind", ["cover", "cover of rotations", "cover largest", "cover undecided", "grid", "parameter", "points"]
)
def test_every_certificate_so_far_is_genuine_and_claims_no_more_than_its_votes(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("tpc_core.certify"), "SAVE_SECONDS", 0.0)
    monkeypatch.setattr(import_module("tpc_core.certify"), "_SHARE_OF_TIME", 1.0)
    so_far: list[Certificate] = []
    *_, last = certify_events(*QUESTIONS[kind](), keep=so_far.append)
    assert isinstance(last, Done)
    assert so_far
    for certificate in so_far[-8:]:
        assert certificate.stopped == "cut-off"
        read = Certificate.from_json(certificate.to_json())
        assert verify(read).verdict == certificate.verdict
        assert extends(last.certificate, read)
