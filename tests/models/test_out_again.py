"""What leaves promises to be what was here: graphs answer as the network does, tables and scripts say the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from tpc_core.cli import main
from tpc_core.errors import InvalidFile, UnsupportedRequest
from tpc_core.models import load_model
from tpc_core.models.exchange import export_model
from tpc_core.models.hub import from_pretrained, hub_files
from tpc_core.shipped import shipped

RUN = shipped("results", "gallery")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TPC_MODELS", str(tmp_path / "models"))
    return tmp_path


def test_a_shipped_model_goes_out_as_onnx_and_comes_back_with_its_classes(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    path = home / "out.onnx"
    assert main(["export", "model", "pointnet64-noise", "--to", str(path)]) == 0
    assert "0 answers differ" in capsys.readouterr().out
    assert main(["models", "add", "back", "--from", str(path), "--points", "64"]) == 0
    before, after = load_model("pointnet64-noise"), load_model("back")
    assert after.classes == before.classes
    clouds = 0.5 * torch.randn(40, 64, 3, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(after.classifier()(clouds), before.classifier()(clouds), atol=1e-3, rtol=1e-3)


def test_a_shipped_model_goes_out_as_a_program(home: Path) -> None:
    made = export_model(load_model("pointnet64-noise"), home / "out.pt2")
    assert (made.changed, made.sizes) == (0, "any number of clouds, of any size")
    again = torch.export.load(home / "out.pt2").module()
    clouds = 0.5 * torch.randn(3, 48, 3)
    expected = load_model("pointnet64-noise").classifier()(clouds)
    torch.testing.assert_close(again(clouds), expected, atol=1e-3, rtol=1e-3)


def test_what_onnx_has_no_operation_for_is_said(home: Path) -> None:
    pytest.importorskip("onnxscript")
    with pytest.raises(UnsupportedRequest, match=r"write it as \.pt2 instead"):
        export_model(load_model("pointnet64-so3-group"), home / "out.onnx")


def test_certificates_become_one_table(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = home / "all.parquet"
    assert main(["export", "certificates", str(RUN / "certificates"), "--to", str(table), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    rows = parquet.read_table(table).to_pylist()
    assert len(rows) == said["certificates"] == len(list((RUN / "certificates").glob("*.json")))
    assert {row["verdict"] for row in rows} == {"certified", "refuted", "undecided"}
    assert all(row["valid"] for row in rows)
    assert all(row["on_trust"] for row in rows)
    bad = home / "bad"
    bad.mkdir()
    genuine = next((RUN / "certificates").glob("*.json")).read_text()
    (bad / "forged.json").write_text(
        genuine.replace('"alpha": 0.001', '"alpha": 0.0001').replace('"alpha":0.001', '"alpha":0.0001')
    )
    assert main(["export", "certificates", str(bad), "--to", str(home / "bad.csv")]) == 1
    assert "False" in (home / "bad.csv").read_text()


def test_a_run_becomes_a_script_that_makes_it_again(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = ["--data", "gallery", "--claim", "z-taper:0.1", "--limit", "2", "--workers", "1"]
    assert main(["evaluate", "--model", "pointnet64-noise", *small, "--out", str(home / "run")]) == 0
    assert main(["export", "run", str(home / "run"), "--to", str(home / "again.py")]) == 0
    done = subprocess.run([sys.executable, "again.py"], cwd=home, capture_output=True, text=True, check=True)
    assert "z-taper:0.1:" in done.stdout
    before = [json.loads(line) for line in (home / "run" / "journal.jsonl").read_text().splitlines()]
    after = [json.loads(line) for line in (home / "again" / "journal.jsonl").read_text().splitlines()]
    assert before[0]["settings"] == after[0]["settings"]
    for one, other in zip(before[1:], after[1:], strict=True):
        assert one["claims"] == other["claims"]


def test_a_card_in_the_format_of_the_hub(home: Path) -> None:
    assert main(["export", "card", "pointnet64-noise", "--to", str(home / "README.md")]) == 0
    _, head, page = (home / "README.md").read_text().split("---\n", 2)
    fields = {line.partition(": ")[0]: json.loads(line.partition(": ")[2]) for line in head.splitlines()}
    assert fields["library_name"] == "tpc-explorer"
    assert fields["model-index"][0]["results"][0]["metrics"][0]["type"] == "accuracy"
    assert page.strip().startswith("# pointnet64-noise")


def test_a_model_comes_back_from_the_files_of_the_hub(home: Path) -> None:
    folder = home / "repository"
    folder.mkdir()
    for name, content in hub_files("pointnet64-noise").items():
        (folder / name).write_bytes(content)
    assert from_pretrained(str(folder)).digest == load_model("pointnet64-noise").digest
    card = json.loads((folder / "tpc-card.json").read_text())
    evil = {"source": "os:getcwd", "format": "factory"}
    (folder / "tpc-card.json").write_text(json.dumps({**card, "architecture": "brought", "brought": evil}))
    with pytest.raises(InvalidFile, match="describes no network that is known here"):
        from_pretrained(str(folder))
    (folder / "tpc-card.json").write_text(json.dumps({**card, "brought": evil}))
    with pytest.raises(InvalidFile, match="cannot come from elsewhere"):
        from_pretrained(str(folder))


class Hub:
    """What the hub's package does, on the disk: the real one takes these same calls."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.private: bool | None = None
        self.CommitOperationAdd = SimpleNamespace

    def HfApi(self) -> Hub:
        return self

    def create_repo(self, repository: str, *, private: bool, exist_ok: bool) -> None:
        self.private = private
        (self.folder / repository).mkdir(parents=True, exist_ok=exist_ok)

    def create_commit(
        self, repository: str, operations: list[SimpleNamespace], *, commit_message: str
    ) -> object:
        for operation in operations:
            (self.folder / repository / operation.path_in_repo).write_bytes(operation.path_or_fileobj)
        return SimpleNamespace(commit_url=f"hub/{repository}", message=commit_message)

    def snapshot_download(self, repository: str, *, revision: str | None, allow_patterns: list[str]) -> str:
        kept = self.folder / "cache"
        kept.mkdir()
        for name in allow_patterns:
            (kept / name).write_bytes((self.folder / repository / name).read_bytes())
        return str(kept)


def test_a_model_that_was_pushed_comes_back(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hub = Hub(home / "hub")
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    assert main(["export", "push", "pointnet64-noise", "owner/net"]) == 0
    assert "hub/owner/net" in capsys.readouterr().out
    assert hub.private is True  # nothing is shown to the world unasked
    assert (home / "hub" / "owner" / "net" / "README.md").read_text().startswith("---\n")
    assert from_pretrained("owner/net").digest == load_model("pointnet64-noise").digest


def test_the_hub_that_cannot_be_reached_gets_one_sentence(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("huggingface_hub")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert main(["export", "push", "pointnet64-noise", "nobody/nothing"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: the hub did not take pointnet64-noise")
    assert said.count("\n") == 1
