"""`tpc train --from` promises to train a network that was brought, for a smoothing, on one's own data."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.data.test_own_data import meshes
from tests.models.test_own_models import CODE, script, strangers_network
from tests.models.test_public_layouts import Sequential
from tpc_core.cli import main
from tpc_core.models import load_card, load_model


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "strangers_net.py").write_text(CODE)
    monkeypatch.setenv("TPC_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("TPC_DATA_SETS", str(tmp_path / "sets"))
    monkeypatch.chdir(tmp_path)
    assert main(["data", "add", "mine", str(meshes(tmp_path / "objects", per_class=3))]) == 0
    yield tmp_path
    sys.modules.pop("strangers_net", None)


def test_a_brought_network_is_trained_for_a_smoothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["--classes", "lamps,bed,Chair,dragon"]
    assert main(["models", "add", "net", "--from", "strangers_net:make", *names]) == 0
    assert "tpc train --from net" in capsys.readouterr().out
    tune = [
        "train",
        "--from",
        "net",
        "--data",
        "mine",
        "--smoothing",
        "z-twist:20",
        "--epochs",
        "2",
        "--json",
    ]
    assert main(tune) == 0
    trained, before = load_model("net-z-twist"), load_model("net")
    assert trained.smoothing.to_json() == {"kind": "parameter", "transform": "z-twist", "sigma": [20.0]}
    assert trained.classes == before.classes
    assert trained.digest != before.digest
    assert trained.card.noise_trained
    assert not before.card.noise_trained
    points = torch.randn(2, 64, 3)
    assert not torch.allclose(trained.classifier()(points), before.classifier()(points))
    capsys.readouterr()
    out = home / "run"
    claim = ["--data", "mine", "--claim", "z-twist:5", "--workers", "1"]
    assert main(["evaluate", "--model", "net-z-twist", *claim, "--out", str(out), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)["evaluations"][0]
    assert figures["settings"]["data"] == "mine"
    rows = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()[1:]]
    assert {row["label"] for row in rows} == {"bed", "Chair", "lamps"}  # in the model's words


def test_a_public_layout_is_trained_for_boxes(home: Path) -> None:
    torch.save(Sequential().state_dict(), home / "w.pth")
    names = ["--classes", "chair,lamp,bed,car,sofa"]
    assert main(["models", "add", "public", "--from", "w.pth", *names]) == 0
    tune = [
        "train",
        "--from",
        "public",
        "--data",
        "mine",
        "--epochs",
        "1",
        "--interval",
        "0.001",
        "--name",
        "boxes",
    ]
    assert main([*tune, "--json"]) == 0
    assert load_card("boxes").recipe["interval"]["eps"] == 0.001


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_cannot_be_trained_gets_one_sentence(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script(strangers_network(home), home / "net.ts")
    assert main(["models", "add", "program", "--from", "net.ts", "--run-code"]) == 0
    assert main(["models", "add", "net", "--from", "strangers_net:make"]) == 0
    for arguments, complaint in (
        (["--from", "program", "--data", "mine"], "cannot be trained"),
        (["--from", "pointnet64-noise", "--data", "mine"], "is no model of yours"),
        (["--from", "net"], "on which data"),
        (["--from", "net", "--data", "mine"], "no object of mine is of a class of the model"),
        (["pointnet64-noise", "--epochs", "3"], "--epochs belongs to --from"),
        ([], "a recipe, or --from"),
    ):
        assert main(["train", *arguments]) == 2
        assert complaint in capsys.readouterr().err
