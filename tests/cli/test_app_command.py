"""`tpc app` starts the explorer wherever it was installed, and says what is missing where it cannot."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import tpc_core.cli.app as command
from tpc_core.cli import main
from tpc_core.shipped import shipped


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shipped explorer of our own, and a cache of our own."""
    folder = tmp_path / "shipped" / "app"
    shutil.copytree(shipped("app"), folder, ignore=shutil.ignore_patterns("static", "__pycache__"))
    monkeypatch.setattr(command, "shipped", lambda *names: folder.parent.joinpath(*names))
    monkeypatch.setenv("TPC_CACHE", str(tmp_path / "cache"))
    return folder


def test_the_explorer_runs_where_it_lies(copied: Path) -> None:
    assert command.writable_explorer() == copied
    assert (copied / "static").is_dir()


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere, so nothing is refused"
)
def test_an_explorer_that_belongs_to_somebody_else_runs_from_a_copy(copied: Path, tmp_path: Path) -> None:
    copied.chmod(0o555)
    try:
        folder = command.writable_explorer()
        again = command.writable_explorer()
    finally:
        copied.chmod(0o755)
    assert folder == again == tmp_path / "cache" / "explorer" / "app"
    assert (folder / "static").is_dir()
    ours = {path.relative_to(folder) for path in folder.rglob("*") if path.name != "static"}
    assert ours == {path.relative_to(copied) for path in copied.rglob("*")}


def test_what_is_missing_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    assert main(["app"]) == 2
    assert "pip install 'tpc-explorer[app]'" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["0", "70000", "http"])
def test_a_port_that_cannot_be_is_refused(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["app", "--port", port]) == 2
    assert "--port" in capsys.readouterr().err
