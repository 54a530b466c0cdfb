"""docs/your-own.md promises a walk from nothing to a debugged failure: its commands are run here, as they stand."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tpc_core.cli import main
from tpc_core.data import gallery
from tpc_core.data.gallery.library import GALLERY_FOLDER

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "your-own.md").read_text(encoding="utf-8")
CLASSES = ("airplane", "bed", "bottle", "car", "chair", "guitar", "lamp", "monitor", "sofa", "table")


def commands() -> list[list[str]]:
    """Every `$ tpc ...` of the page, in order."""
    return [shlex.split(line)[1:] for line in re.findall(r"^\$ (tpc .+)$", PAGE, flags=re.MULTILINE)]


def network() -> str:
    """The module that the page shows."""
    return re.findall(r"```python\n(import torch.+?)```", PAGE, flags=re.DOTALL)[0]


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with ten classes of meshes and somebody's package, and nothing added yet."""
    for entry in gallery():
        if entry.category in CLASSES:
            place = tmp_path / "objects" / entry.category
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy(GALLERY_FOLDER / f"{entry.name}.ply", place)
    (tmp_path / "stranger").mkdir()
    (tmp_path / "stranger" / "__init__.py").write_text("")
    (tmp_path / "stranger" / "nets.py").write_text(network())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TPC_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("TPC_DATA_SETS", str(tmp_path / "sets"))
    yield tmp_path
    for name in ("stranger", "stranger.nets"):
        sys.modules.pop(name, None)


def failed(folder: Path) -> str:
    """A certificate of the run that did not end well."""
    for path in sorted((folder / "runs" / "mine" / "certificates").glob("*.json")):
        if json.loads(path.read_text())["verdict"] != "certified":
            return str(path)
    raise AssertionError("no object of the walk failed, so there is nothing to debug")


@pytest.mark.slow
def test_the_walk_of_the_page_ends_with_a_failure_explained(
    stranger: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    walk = commands()
    assert len(walk) == 17
    for arguments in walk:
        if arguments[:2] == ["export", "model"] and find_spec("onnxscript") is None:
            continue
        words = [failed(stranger) if word == "FAILED" else word for word in arguments]
        code = main(words)
        out, err = capsys.readouterr()
        verdicts = arguments[0] in ("certify", "verify", "attack", "explain")
        assert code in ((0, 1) if verdicts else (0,)), (arguments, err)
        if arguments[0] == "explain":
            assert "To do:" in out
        if arguments[:2] == ["models", "check"]:
            assert "good" in out
    again = subprocess.run(
        [sys.executable, "-c", f"compile({(stranger / 'again.py').read_text()!r}, 'again.py', 'exec')"],
        check=False,
        timeout=60,
    )
    assert again.returncode == 0
    assert (stranger / "certificates.parquet").is_file()
    assert not list((stranger / "models").glob("stranger-turned*"))


def test_the_folder_of_the_walk_is_as_the_page_says(stranger: Path) -> None:
    assert sorted(path.name for path in (stranger / "objects").iterdir()) == list(CLASSES)
    assert f"--classes {','.join(CLASSES)}" in PAGE
