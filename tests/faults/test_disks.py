"""A full or read-only disk promises: one sentence, nothing half-written, and the next start works."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.certificate.made import genuine
from tests.evaluation.conftest import *  # noqa: F403  (a tiny data set and a tiny model)
from tests.faults.disks import files, fill, mounted
from tpc_core.certificate import Certificate
from tpc_core.cli import main
from tpc_core.data import load_object
from tpc_core.errors import CannotWrite, TpcError
from tpc_core.evaluation import InlineEngine, evaluate
from tpc_core.evaluation.journal import read_journal
from tpc_core.machinery.atomic import write_atomically
from tpc_core.training.state import load_state, save_state
from tpc_core.verify import verify


def test_a_full_disk_is_one_sentence_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=64k") as disk:
        fill(disk, leave=8192)
        with pytest.raises(CannotWrite, match="No space left"):
            write_atomically(disk / "certificate.json", bytes(20_000))
        assert files(disk) == {"ballast"}


def test_the_old_file_stays_whole_when_the_new_one_does_not_fit(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=256k") as disk:
        path = disk / "certificate.json"
        genuine("cover").save(path)
        fill(disk)
        with pytest.raises(CannotWrite):
            write_atomically(path, bytes(200_000))
        assert verify(Certificate.load(path)).verdict == "certified"
        assert files(disk) == {"ballast", "certificate.json"}


def test_the_command_line_says_it_in_one_line_and_works_once_there_is_room(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["certify", "gallery:chair-1", "-t", "z-rotation", "-r", "5"]
    with mounted(tmp_path / "disk", "size=128k") as disk:
        ballast = fill(disk)
        out = disk / "certificate.json"
        assert main([*command, "--out", str(out)]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "No space left" in said
        assert files(disk) == {"ballast"}
        ballast.unlink()
        assert main([*command, "--out", str(out)]) in (0, 1)
        assert verify(Certificate.load(out))


def test_an_evaluation_on_a_full_disk_stops_and_can_be_resumed(ask, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    request = ask("tiny-rotation", "x-rotation:10", limit=20)
    with mounted(tmp_path / "disk", "size=64k") as disk:
        folder = disk / "run"
        folder.mkdir()
        ballast = fill(disk, leave=4096)
        with pytest.raises(TpcError, match="No space left"):
            evaluate(request, folder, InlineEngine())
        before = (folder / "journal.jsonl").read_bytes()
        ballast.unlink()
        evaluate(request, folder, InlineEngine(), resume=True)
        assert sorted(read_journal(folder)[1]) == list(range(20))
        assert (folder / "journal.jsonl").read_bytes().startswith(before[: before.rfind(b"\n") + 1])


def test_a_training_state_that_does_not_fit_leaves_the_last_one(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=128k") as disk:
        path = disk / "state.pt"
        save_state(path, {"epoch": 1, "weights": torch.zeros(100)})
        with pytest.raises(CannotWrite, match="No space left"):
            save_state(path, {"epoch": 2, "weights": torch.zeros(100_000)})
        assert load_state(path)["epoch"] == 1
        assert files(disk) == {"state.pt"}


@pytest.mark.parametrize("options", ["size=16k", "ro"])
def test_a_cache_that_is_full_or_read_only_costs_time_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    (tmp_path / "cloud.xyz").write_text("\n".join(f"{x} {x * x % 7} {x % 3}" for x in range(200)))
    with mounted(tmp_path / "disk", options) as disk:
        if options != "ro":
            fill(disk)
        monkeypatch.setenv("TPC_CACHE", str(disk / "cache"))
        first = load_object(str(tmp_path / "cloud.xyz"), points=64)
        assert load_object(str(tmp_path / "cloud.xyz"), points=64).digest == first.digest
        assert not {name for name in files(disk) if name != "ballast"}


def test_a_read_only_folder_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with mounted(tmp_path / "disk", "ro") as disk:
        with pytest.raises(CannotWrite, match="Read-only file system"):
            genuine("cover").save(disk / "certificate.json")
        assert main(["redteam", "--out", str(disk / "run"), "-t", "z-rotation", "--limit", "1"]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "Read-only file system" in said


def test_damaged_views_of_the_training_clouds_are_made_again(tmp_path: Path) -> None:
    from tpc_core.training.clouds import _remembered

    path, shape = tmp_path / "views.npy", (4, 2, 8)
    np.save(path, np.zeros(shape, dtype=np.int16))
    assert _remembered(path, shape, 16) is not None
    whole = path.read_bytes()
    for damage in (whole[:-5], whole[: len(whole) // 2], b"", b"nonsense"):
        path.write_bytes(damage)
        assert _remembered(path, shape, 16) is None
    np.save(path, np.full(shape, 99, dtype=np.int16))
    assert _remembered(path, shape, 16) is None
