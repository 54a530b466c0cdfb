"""`tpc explain` says why, in words and in JSON, and refuses what is not a certificate in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.certificate.made import genuine
from tpc_core import Certificate, load_model, load_object
from tpc_core.cli import main
from tpc_core.explain import critical_change


def saved(tmp_path: Path, kind: str) -> str:
    path = tmp_path / "certificate.json"
    genuine(kind).save(path)
    return str(path)


@pytest.mark.parametrize(
    ("kind", "code", "words"),
    [
        ("cover", 0, "CERTIFIED"),
        ("cover refuted", 1, "Another class wins"),
        ("cover undecided", 1, "UNDECIDED"),
        ("parameter undecided", 1, "Certified so far:"),
        ("nothing", 1, "before the class was known"),
    ],
)
def test_the_cause_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, code: int, words: str
) -> None:
    assert main(["explain", saved(tmp_path, kind)]) == code
    captured = capsys.readouterr()
    assert words in captured.out
    assert captured.err == ""


def test_json_holds_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", saved(tmp_path, "cover refuted"), "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert facts["verdict"] == "refuted"
    assert facts["findings"][0]["cause"] == "another-class"
    assert facts["worst"][0]["path"] == "attack"


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{" * 100_000, b'{"schema_version": "tpc-certificate/1"}', b"\xff"]
)
def test_what_is_no_certificate_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    path = tmp_path / "hostile.json"
    path.write_bytes(content)
    assert main(["explain", str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert len(captured.err.splitlines()) == 1


def test_more_settles_what_a_budget_left_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["gallery:airplane-1", "-t", "z-taper", "-r", "0.3", "-m", "pointnet64-noise"]
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    assert main(["certify", *asked, "--budget-samples", "100", "--out", str(first), "--json"]) == 1
    capsys.readouterr()
    assert main(["explain", str(first)]) == 1
    assert "To do: finish the whole run (about " in capsys.readouterr().out
    assert main(["explain", str(first), "--more", "--out", str(second)]) == 0
    assert "CERTIFIED" in capsys.readouterr().out
    assert Certificate.load(second).verdict == "certified"
    assert main(["verify", str(second), "--replay"]) == 0


def test_critical_points_of_a_real_network() -> None:
    model, cloud = load_model("pointnet64-noise"), load_object("gallery:chair-1", points=64)
    same = critical_change(model, cloud.points, cloud.points)
    assert same is not None
    assert not same.lost.any()
    assert not same.gained.any()
    assert same.moved == 0
    squashed = critical_change(model, cloud.points, cloud.points * 0.2)
    assert squashed is not None
    assert squashed.moved > 0
    assert squashed.lost.any() or squashed.gained.any() or squashed.kept.all()
