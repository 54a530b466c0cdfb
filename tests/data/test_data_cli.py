"""`tpc data`: every command speaks JSON, and bad input is one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tpc_core.cli.data import data
from tpc_core.data.gallery.library import GALLERY_FOLDER
from tpc_core.errors import InvalidFile, TpcError


def run(*arguments: str) -> str:
    result = CliRunner().invoke(data, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def answer(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--json"))


@pytest.fixture(autouse=True)
def nothing_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TPC_DATA", str(tmp_path))


def test_list_says_what_is_here_and_what_is_not() -> None:
    listing = answer("list")
    assert [row["found"] for row in listing["data_sets"]] == [False] * 6
    assert len(listing["gallery"]) >= 24
    assert "tpc data fetch" in run("list")


def test_show_tells_an_object_in_numbers() -> None:
    facts = answer("show", "gallery:chair-1", "--points", "128")
    assert (facts["name"], facts["label"], facts["points"]) == ("chair-1", "chair", 128)
    assert facts["parts"] == [12, 13, 14]
    assert len(facts["extents"]) == 3
    assert "chair-1" in run("show", "gallery:chair-1")


def test_show_refuses_what_is_not_there() -> None:
    with pytest.raises(TpcError):
        run("show", "gallery:unicorn")


def test_gallery_build_writes_the_shipped_files(tmp_path: Path) -> None:
    facts = answer("gallery", "build", "--into", str(tmp_path / "made"))
    assert facts["objects"] >= 24
    assert (tmp_path / "made" / "index.json").read_bytes() == (GALLERY_FOLDER / "index.json").read_bytes()


def test_fetch_from_nowhere_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tpc_core.data.fetch.transfer.time.sleep", lambda _: None)
    with pytest.raises(InvalidFile) as caught:
        run("fetch", "modelnet40", "--url", "http://127.0.0.1:9/x.zip", "--json")
    assert "\n" not in str(caught.value)


def test_fetch_knows_its_data_sets() -> None:
    assert CliRunner().invoke(data, ["fetch", "imagenet"]).exit_code == 2
