"""A file may name a model; it never makes us open what it names, and a model that is missing is not a success."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.certificate.made import genuine
from tpc_core.certificate import Certificate
from tpc_core.cli import main
from tpc_core.models import list_models, load_by_digest, load_model
from tpc_core.models.store import digest_of


def renamed(name: str, digest: str | None = None) -> Certificate:
    """A genuine certificate whose author calls the model something else, sealed anew."""
    made = genuine("cover")
    changed = {"name": name} | ({"digest": digest} if digest else {})
    question = replace(made.question, model=name)
    update = {"model": made.model.model_copy(update=changed), "question": question}
    return made.model_copy(update=update).sealed()


@pytest.mark.parametrize("command", [["verify", "--replay"], ["explain", "--attack"], ["explain", "--more"]])
def test_a_certificate_makes_nobody_open_a_path_that_it_names(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trap = tmp_path / "trap.safetensors"
    os.mkfifo(trap)  # whoever opens it waits for ever
    (tmp_path / "trap.json").write_text("{}")
    renamed(str(trap)).save(tmp_path / "certificate.json")
    assert main([command[0], str(tmp_path / "certificate.json"), *command[1:]]) == 2
    said = capsys.readouterr().err
    assert "no checkpoint here has the digest" in said
    assert said.count("\n") == 1


def test_a_model_is_found_by_its_digest_whatever_it_is_called() -> None:
    card = list_models()[0]
    found = load_by_digest(digest_of(card), "/etc/passwd")
    assert found.name == card.name
    assert found.digest == digest_of(card) == load_model(card.name).digest
    reduced = load_by_digest(digest_of(card, "bfloat16"), "x")
    assert reduced.name == f"{card.name}@bfloat16"


def test_a_plan_whose_models_are_missing_does_not_end_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('[[evaluate]]\nmodel = "pointnet16-not-trained"\nclaims = ["z-rotation:3"]\n')
    for extra in ([], ["--json"]):
        assert (
            main(["evaluate", "--plan", str(plan), "--out", str(tmp_path / "out"), "--workers", "1", *extra])
            == 2
        )
    assert "pointnet16-not-trained" in capsys.readouterr().out
