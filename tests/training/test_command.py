"""`tpc train` promises a checkpoint, JSON on request, and one line for a bad recipe."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import tpc_core.training.start
from tpc_core.cli.train import train
from tpc_core.errors import InvalidFile

from .conftest import Shapes

RECIPE = """
name = "small"
points = 16
epochs = 1
batch = 16
views = 2
votes = 2
smoothing = { kind = "group", group = "so3" }
"""


def test_a_recipe_becomes_a_checkpoint(
    tmp_path: Path, shapes: Shapes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tpc_core.training.start, "open_dataset", lambda name, split: shapes)
    (tmp_path / "small.toml").write_text(RECIPE)
    places = ["--runs", str(tmp_path / "runs"), "--checkpoints", str(tmp_path / "out")]
    result = CliRunner().invoke(train, [str(tmp_path / "small.toml"), "--json", *places])
    assert result.exit_code == 0, result.output
    values = json.loads(result.stdout)
    assert values["epochs"] == 1
    assert Path(values["weights"]).exists()
    assert (tmp_path / "runs" / "small" / "log.csv").read_text().startswith("epoch,loss,train,rate")
    again = CliRunner().invoke(train, [str(tmp_path / "small.toml"), "--resume", *places])
    assert again.exit_code == 0
    assert "after 1 epochs" in again.stdout


def test_a_missing_recipe_is_one_line(tmp_path: Path) -> None:
    result = CliRunner().invoke(train, [str(tmp_path / "absent.toml")])
    assert isinstance(result.exception, InvalidFile)
    assert "cannot read" in str(result.exception)


def test_another_seed_makes_another_network_under_its_own_name(
    tmp_path: Path, shapes: Shapes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tpc_core.training.start, "open_dataset", lambda name, split: shapes)
    (tmp_path / "small.toml").write_text(RECIPE)
    places = ["--runs", str(tmp_path / "runs"), "--checkpoints", str(tmp_path)]
    for flags in ([], ["--seed", "0"], ["--seed", "1"]):
        assert CliRunner().invoke(train, [str(tmp_path / "small.toml"), *flags, *places]).exit_code == 0
    own, same, other = (
        (tmp_path / f"{name}.safetensors").read_bytes() for name in ("small", "small-seed-0", "small-seed-1")
    )
    assert own == same, "the recipe's own seed is 0"
    assert other != own
    card = json.loads((tmp_path / "small-seed-1.json").read_text())
    assert (card["name"], card["seed"], card["recipe"]["seed"]) == ("small-seed-1", 1, 1)
