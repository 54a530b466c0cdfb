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
from pathlib import Path

import pytest

from app.jobs import JobBoard, Request, SavedRuns
from tests.certificate.made import QUESTIONS
from tests.faults.slow import slow_question
from tpc_core.certificate import Certificate
from tpc_core.certificate.schema import TreeEvidence
from tpc_core.certificate.verify import verify
from tpc_core.certify import Done, certify, certify_events
from tpc_core.certify.keeping import kept
from tpc_core.transforms import parse_transform

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
from pathlib import Path
from tests.faults.slow import slow_question
from tpc_core.certify import certify_events
from tpc_core.certify.keeping import kept
question = slow_question(sys.argv[2], pause=0.02)
path = Path(sys.argv[1])
for event in kept(certify_events(*question), lambda certificate: certificate.save(path), *question, every=0.05):
    pass
"""


def with_cells(path: Path) -> bool:
    return path.exists() and len(Certificate.load(path).evidence.cells) >= 1  # type: ignore[union-attr]


def test_a_killed_run_goes_on_from_its_last_cell(tmp_path: Path) -> None:
    kind, path = "tree of rotations", tmp_path / "certificate.partial.json"
    killed(KEPT, str(path), kind, when=lambda: with_cells(path))
    partial = Certificate.load(path)
    assert verify(partial).verdict == "undecided"
    question = slow_question(kind)
    whole = certify(*question)
    resumed = certify(*question, resume=partial)
    assert resumed.evidence == whole.evidence
    assert resumed.sentence == whole.sentence
    assert resumed.samples < whole.samples


SERVER = """
import sys
from pathlib import Path
from tpc_core.certify.keeping import kept
kept.__kwdefaults__["every"] = 0.05
from app.jobs import JobBoard, Request, SavedRuns
from tests.faults.slow import slow_request
board = JobBoard(saved=SavedRuns(Path(sys.argv[1])))
board.submit("a visitor", slow_request(Request, pause=0.02)).join()
"""


def test_the_server_is_killed_and_its_visitor_goes_on(tmp_path: Path) -> None:
    saved = SavedRuns(tmp_path)
    killed(SERVER, str(tmp_path), when=lambda: bool(saved.unfinished("a visitor")))
    assert saved.unfinished("somebody else") == []
    (run,) = saved.unfinished("a visitor")
    model, cloud, transform, radius, options = slow_question("tree of rotations")
    request = run.request(lambda name: model)  # type: ignore[arg-type,return-value]
    board = JobBoard(saved=saved)
    job = board.submit("a visitor", request, run.certificate)
    job.join(240)
    certificate = job.view().certificate
    assert certificate is not None
    whole = certify(model, cloud, transform, radius, options)
    assert certificate.evidence == whole.evidence
    assert certificate.verdict == "certified"


def test_what_was_uploaded_is_never_written_down(tmp_path: Path) -> None:
    model, cloud, transform, radius, options = slow_question("tree of rotations")
    request = Request("mine", "", model, cloud, parse_transform(transform), radius, options)  # type: ignore[arg-type]
    assert SavedRuns(tmp_path).place("me", request) is None


def test_damaged_saved_runs_are_cleared_away(tmp_path: Path) -> None:
    folder = tmp_path / "me"
    folder.mkdir()
    for number, content in enumerate([b"", b"{", b"[]", b'{"format": "tpc-saved-run/1"}', b"[" * 100_000]):
        (folder / f"{number}.json").write_bytes(content)
    assert SavedRuns(tmp_path).unfinished("me") == []
    assert list(folder.iterdir()) == []
    assert SavedRuns(tmp_path).unfinished("../me") == []


@pytest.mark.parametrize(
    "kind", ["tree", "tree anytime", "tree of rotations", "tree largest", "tree undecided", "grid"]
)
def test_every_certificate_so_far_is_genuine_and_claims_nothing(kind: str) -> None:
    question = QUESTIONS[kind]()
    so_far: list[Certificate] = []
    last = None
    for event in kept(certify_events(*question), so_far.append, *question, every=0.0):
        last = event
    assert isinstance(last, Done)
    assert so_far
    for certificate in so_far:
        assert verify(Certificate.from_json(certificate.to_json())).verdict == "undecided"
        if isinstance(certificate.evidence, TreeEvidence):
            assert certificate.evidence.factor == 0
