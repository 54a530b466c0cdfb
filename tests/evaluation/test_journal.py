"""The promise of the journal: whatever happens, no finished object is lost and no two runs are mixed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tpc_core.errors import InvalidFile, InvalidValue
from tpc_core.evaluation import InlineEngine, Request, evaluate, prepare
from tpc_core.evaluation.journal import Journal, read_journal
from tpc_core.evaluation.sums import Sums

Ask = Callable[..., Request]
CLAIMS = ("x-rotation:5", "x-rotation:30")
COMMAND = [sys.executable, "-c", "from tpc_core.cli.evaluate import evaluate; evaluate()"]


class Interrupted(Exception):
    pass


def stop_after(count: int) -> Callable[..., None]:
    def progress(settings: object, sums: Sums) -> None:
        if sums.done == count:
            raise Interrupted

    return progress


def table(folder: Path) -> bytes:
    return (folder / "objects.csv").read_bytes()


@pytest.fixture
def whole(ask: Ask, tmp_path: Path) -> Path:
    """An evaluation that nothing disturbed."""
    evaluate(ask("tiny-rotation", *CLAIMS, limit=6, budget_samples=384), tmp_path / "whole", InlineEngine())
    return tmp_path / "whole"


def test_an_interrupted_run_resumes_to_the_identical_table(ask: Ask, tmp_path: Path, whole: Path) -> None:
    request, folder = ask("tiny-rotation", *CLAIMS, limit=6, budget_samples=384), tmp_path / "run"
    with pytest.raises(Interrupted):
        evaluate(request, folder, InlineEngine(), progress=stop_after(3))
    first = read_journal(folder)[1]
    assert len(first) == 3
    evaluate(request, folder, InlineEngine(), resume=True)
    assert table(folder) == table(whole)
    rows = read_journal(folder)[1]
    assert all(rows[index] == row for index, row in first.items()), "finished objects are not done again"


@pytest.mark.parametrize("torn", [b'{"index":3,"id":"lam', b"{", b"\x00\x00\x00"])
def test_a_torn_last_line_is_forgotten(ask: Ask, tmp_path: Path, whole: Path, torn: bytes) -> None:
    request, folder = ask("tiny-rotation", *CLAIMS, limit=6, budget_samples=384), tmp_path / "run"
    with pytest.raises(Interrupted):
        evaluate(request, folder, InlineEngine(), progress=stop_after(2))
    with (folder / "journal.jsonl").open("ab") as file:
        file.write(torn)
    assert len(read_journal(folder)[1]) == 2
    evaluate(request, folder, InlineEngine(), resume=True)
    assert table(folder) == table(whole)


def test_a_journal_cut_off_in_its_first_line_starts_again(ask: Ask, tmp_path: Path, whole: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "journal.jsonl").write_bytes(b'{"format": "tpc-jour')
    evaluate(ask("tiny-rotation", *CLAIMS, limit=6, budget_samples=384), folder, InlineEngine(), resume=True)
    assert table(folder) == table(whole)


def test_a_damaged_line_in_the_middle_is_an_error(ask: Ask, whole: Path) -> None:
    lines = (whole / "journal.jsonl").read_bytes().split(b"\n")
    lines[2] = lines[2][:20]
    (whole / "journal.jsonl").write_bytes(b"\n".join(lines))
    with pytest.raises(InvalidFile, match="line 3"):
        read_journal(whole)


@pytest.mark.parametrize(
    ("changed", "shown"),
    [
        ({"alpha": 0.01}, "alpha: 0.001 -> 0.01"),
        ({"seed": 7}, "seed: 0 -> 7"),
        ({"every": 2}, "every: 1 -> 2"),
        ({"limit": 9}, "limit: 6 -> 9"),
    ],
)
def test_a_changed_setting_is_refused_with_the_difference(
    ask: Ask, whole: Path, changed: dict[str, float], shown: str
) -> None:
    with pytest.raises(InvalidValue, match=shown):
        prepare(
            ask("tiny-rotation", *CLAIMS, **{"limit": 6, "budget_samples": 384, **changed}),
            whole,
            resume=True,
        )


def test_changed_claims_and_a_changed_model_are_refused(ask: Ask, whole: Path) -> None:
    with pytest.raises(InvalidValue, match=r"claims: .*x-rotation:40"):
        prepare(ask("tiny-rotation", "x-rotation:40", limit=6, budget_samples=384), whole, resume=True)
    with pytest.raises(InvalidValue, match="smoothing: "):
        prepare(ask("tiny-group", *CLAIMS, limit=6, budget_samples=384), whole, resume=True)


def test_a_second_run_into_the_same_folder_needs_resume(ask: Ask, whole: Path) -> None:
    with pytest.raises(InvalidValue, match="--resume"):
        prepare(ask("tiny-rotation", *CLAIMS, limit=6, budget_samples=384), whole)


def test_two_runs_cannot_write_one_journal(ask: Ask, whole: Path) -> None:
    settings = read_journal(whole)[0]
    with Journal(whole, settings, resume=True), pytest.raises(InvalidValue, match="another evaluation"):
        Journal(whole, settings, resume=True)


def test_kill_9_in_mid_run_then_resume_gives_the_identical_table(
    ask: Ask, tmp_path: Path, world: Path
) -> None:
    request, folder = ask("tiny-rotation", *CLAIMS, budget_samples=640, limit=30), tmp_path / "killed"
    flags = [
        "--model",
        request.model,
        "--budget-samples",
        "640",
        "--limit",
        "30",
        "--out",
        str(folder),
        "--workers",
        "2",
        "--json",
    ]
    for claim in CLAIMS:
        flags += ["--claim", claim]
    process = subprocess.Popen([*COMMAND, *flags], env={**os.environ, "OMP_NUM_THREADS": "1"})
    journal = folder / "journal.jsonl"
    deadline = time.monotonic() + 120
    while not journal.exists() or journal.read_bytes().count(b"\n") < 4:
        assert process.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = read_journal(folder)[1]
    assert 3 <= len(done) < 30
    evaluate(request, folder, InlineEngine(), resume=True)
    assert all(read_journal(folder)[1][index] == row for index, row in done.items())
    evaluate(request, tmp_path / "whole", InlineEngine())
    assert table(folder) == table(tmp_path / "whole")
