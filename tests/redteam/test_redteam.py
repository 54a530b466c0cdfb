"""The red team promises: sound certificates stand, false ones fall, and a run that was killed goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tpc_core.attacks import Attack
from tpc_core.certificate import Certificate
from tpc_core.certify import Budget, Options, certify
from tpc_core.cli import main
from tpc_core.data import load_object
from tpc_core.errors import InvalidFile, InvalidValue, TpcError
from tpc_core.models import load_model
from tpc_core.redteam import RedteamJournal, Trial, plan_questions, run, summarise
from tpc_core.redteam.journal import read_journal
from tpc_core.redteam.trial import break_certificate
from tpc_core.transforms import all_transforms

SMALL = {"transforms": ["z-rotation"], "limit": 2, "budget": 500, "tries": 2}


def test_by_default_every_transform_is_asked_by_every_theorem_that_has_a_model() -> None:
    plan = plan_questions()
    assert {pair.transform for pair in plan.pairs} == {transform.name for transform in all_transforms()}
    assert {pair.kind for pair in plan.pairs} == {"group", "single", "cover"}
    assert len(plan.questions) == len(set(plan.questions)) == 44 * len(plan.pairs)
    assert len({plan.seed_of(number) // 2 for number in range(2000)}) == 2000


def test_a_false_certificate_falls() -> None:
    """The radius of a genuine certificate, stretched until another class wins inside: the attack must find it."""
    model = load_model("pointnet64-z-rotation")
    cloud = load_object("gallery:chair-1", points=64)
    genuine = certify(model, cloud, "z-rotation", 5, Options(budget=Budget(samples=2000)))
    assert genuine.verdict == "certified"
    assert break_certificate(model, genuine, tries=4, level=1e-6, seed=3)[0] is None
    other = load_model("pointnet64-noise")
    turned = certify(other, cloud, "x-rotation", 1, Options(budget=Budget(samples=2000)))
    false = _stretched(turned, {"rotation": 180.0})  # no chair upside down was in its training
    record, closest, votes = break_certificate(other, false, tries=12, level=1e-6, seed=3)
    assert record is not None
    assert record.winner != "chair"
    assert record.samples >= 32
    assert abs(record.edge["rotation"]) <= 180
    assert closest is not None
    assert closest < 0
    assert votes > 0


def _stretched(certificate: Certificate, radius: dict[str, float]) -> Certificate:
    return certificate.model_copy(update={"radius": radius, "verdict": "certified"})


def test_a_run_writes_its_summary_and_goes_on_after_a_kill(tmp_path: Path) -> None:
    plan = plan_questions(**SMALL)
    first = run(plan, tmp_path, certificates=2)
    assert first.broken == []
    assert first.asked < first.planned
    with (tmp_path / "redteam.jsonl").open("ab") as journal:
        journal.write(b'{"number": 99, "obj')  # the line that was being written
    whole = run(plan, tmp_path, resume=True)
    assert whole.asked == whole.planned == len(plan.questions)
    assert json.loads((tmp_path / "redteam.json").read_text())["broken"] == []
    assert "none broke" in (tmp_path / "redteam.md").read_text()
    again = run(plan, tmp_path / "undisturbed")
    assert again.model_dump(exclude={"seconds"}) == whole.model_dump(exclude={"seconds"})


def test_another_plan_does_not_mix_with_a_journal(tmp_path: Path) -> None:
    plan = plan_questions(**SMALL)
    RedteamJournal(tmp_path, plan, resume=False).__exit__(None, None, None)
    with pytest.raises(InvalidValue, match="--resume"):
        RedteamJournal(tmp_path, plan, resume=False)
    with pytest.raises(InvalidValue, match="seed changed"):
        RedteamJournal(tmp_path, plan.model_copy(update={"seed": 5}), resume=True)
    held = RedteamJournal(tmp_path, plan, resume=True)
    with pytest.raises(InvalidValue, match="another red team"):
        RedteamJournal(tmp_path, plan, resume=True)
    held.__exit__(None, None, None)
    (tmp_path / "redteam.jsonl").write_bytes(b"[" * 100_000 + b"\n")
    with pytest.raises(InvalidFile, match="line 1"):
        read_journal(tmp_path / "redteam.jsonl")


def test_a_break_is_exit_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = plan_questions(**SMALL)
    run(plan, tmp_path)
    lines = (tmp_path / "redteam.jsonl").read_text().splitlines()
    trial = Trial.model_validate_json(lines[1])
    record = Attack("random", (0.1,), {"rotation": 5.0}, "a", 96)
    lines[1] = trial.model_copy(update={"broken": record, "verdict": "certified"}).model_dump_json()
    (tmp_path / "redteam.jsonl").write_text("\n".join(lines) + "\n")
    options = ["-t", "z-rotation", "--limit", "2", "--budget-samples", "500", "--tries", "2"]
    assert main(["redteam", "--out", str(tmp_path), "--resume", "--json", *options]) == 1
    assert json.loads(capsys.readouterr().out)["broken"] == [trial.number]


def test_the_odds_of_a_false_alarm_are_stated() -> None:
    plan = plan_questions(**SMALL)
    summary = summarise(plan, [])
    assert summary.chance == pytest.approx(plan.false_alarm)
    assert "attacked" in summary.sentence


@pytest.mark.parametrize(
    "bad", [["--every", "0"], ["--limit", "0"], ["--alpha", "2"], ["--tries", "0"], ["--budget-samples", "5"],
            ["--data", "nothing"], ["-t", "magic"], ["--certificates", "0"], ["--points", "17"]]
)  # fmt: skip
def test_bad_requests_are_refused(bad: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["redteam", "--out", str(tmp_path / "x"), *bad]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "x").exists()
    assert issubclass(InvalidValue, TpcError)
