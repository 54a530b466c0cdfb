"""The command line promises: the same words as the API, JSON on demand, and exit codes that scripts can trust."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from tests.certificate.made import changed
from tpc_core import Certificate, verify
from tpc_core.cli import main

TAPER = [
    "certify",
    "gallery:chair-1",
    "--transform",
    "z-taper",
    "--radius",
    "0.1",
    "--model",
    "pointnet64-noise",
]


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    out = tmp_path / "chair.json"
    assert main([*TAPER, "--out", str(out), "--json"]) == 0
    return out


def test_certify_prints_the_certificate_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    code = main([*TAPER, "--json"])
    captured = capsys.readouterr()
    certificate = Certificate.from_json(captured.out)
    assert code == 0
    assert certificate.verdict == "certified"
    assert certificate.prediction == "chair"
    assert captured.err == ""


def test_certify_says_the_verdict_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(TAPER) == 0
    assert (
        "Every z-taper within 0.1 keeps the class chair, with 99.9 % confidence." in capsys.readouterr().out
    )


def test_certainty_is_asked_for_by_one_word_and_trusts_nothing_silently(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "certain.json"
    assert main([*TAPER, "--proof", "certain", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "Every z-taper within 0.1 keeps the class chair. Proved: no probability of error." in said
    assert "no vote" in said
    assert main(["verify", str(out)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("holds together: ")
    assert "on trust: the margins" in said
    assert main(["verify", str(out), "--replay"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("valid: ")
    assert "proved again with the network" in said
    assert main(["verify", str(out), "--replay", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["on_trust"] == ""
    assert facts["replayed_margins"] > 0
    assert facts["replayed_votes"] is None


def test_not_certified_is_exit_one(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["certify", "gallery:chair-1", "-t", "l2", "-r", "5", "-m", "pointnet64-noise", "--json"])
    assert code == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "undecided"


def test_the_largest_radius_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "certify",
        "gallery:chair-1",
        "-t",
        "l2",
        "--max",
        "-m",
        "pointnet64-noise",
        "--budget-samples",
        "640",
    ]
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["radius"]["l2"] > 0.1


def test_composition_radii_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    named = ["-t", "z-taper+z-rotation", "-r", "rotation=0.5,taper=0.05", "-m", "pointnet64-noise", "--json"]
    main(["certify", "gallery:chair-1", *named])
    assert json.loads(capsys.readouterr().out)["radius"] == pytest.approx({"taper": 0.05, "rotation": 0.5})


def test_verify_accepts_and_replays_a_genuine_file(
    certificate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["verify", str(certificate), "--replay", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["valid"]
    assert facts["replayed_votes"] > 0


def test_votes_are_on_trust_until_they_are_cast_again(
    certificate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["verify", str(certificate)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("holds together: ")
    assert "votes; --replay" in said
    assert main(["verify", str(certificate), "--replay"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("valid: ")
    assert "on trust" not in said


@pytest.mark.parametrize("what", ["model", "object"])
def test_a_borrowed_name_is_said(certificate: Path, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The votes of one network, or about one chair, under the name of another: they come out again, and prove that."""

    def lie(content: dict[str, Any]) -> None:
        if what == "model":
            content["question"]["model"] = content["model"]["name"] = "pointnet64-cylinder"
        else:
            content["question"]["object"] = "gallery:chair-2"

    certificate.write_text(changed(Certificate.load(certificate), lie).to_json())
    capsys.readouterr()
    assert main(["verify", str(certificate), "--replay"]) == 0
    assert f"a name of something else: the {what} " in capsys.readouterr().out
    assert main(["verify", str(certificate), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["borrowed_names"]) == 1


def test_verify_rejects_a_file_that_was_changed(
    certificate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.loads(certificate.read_text())
    content["radius"]["taper"] = 0.5
    certificate.write_text(json.dumps(content))
    capsys.readouterr()
    assert main(["verify", str(certificate)]) == 2
    assert "changed after it was made" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-t", "z-taper", "-r", "0.1", "-m", "pointnet64-noise"], "passing cells of"),
        (["-t", "l2", "-r", "0.05", "-m", "pointnet64-noise"], "p_A above 0."),
        (["-t", "l2", "--max", "-m", "pointnet64-noise", "--budget-samples", "256"], "p_A above 0."),
        (["-t", "general-rotation", "-r", "9", "-m", "pointnet64-so3-group"], "for the strongest rival"),
        (
            ["-t", "z-rotation", "-r", "2", "-m", "segmentation64-z-rotation", "--budget-samples", "160"],
            "of 64 points",
        ),
        (
            ["-t", "z-taper", "-r", "0.9", "-m", "pointnet64-noise", "--budget-samples", "64"],
            "passing cells of",
        ),
        (["-t", "z-taper", "--max", "-m", "pointnet64-noise", "--budget-samples", "32"], "nothing certified"),
    ],
)
def test_the_evidence_of_every_kind_of_proof_is_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["certify", "gallery:airplane-1", *arguments]) in (0, 1)
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  evidence")]
    assert said in line


def test_other_votes_under_the_verifiers_own_seed_say_the_same(
    certificate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["verify", str(certificate), "--fresh", "1234567", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["stands"]
    assert facts["fresh_votes"] > 0
    assert main(["verify", str(certificate), "--fresh", "-1"]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_a_model_is_found_by_its_digest_and_never_by_what_a_file_calls_it(
    certificate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = Certificate.load(certificate)
    trap = tmp_path / "trap.safetensors"
    question = dataclasses.replace(made.question, model=str(trap))
    model = made.model.model_copy(update={"name": str(trap)})
    named = made.model_copy(update={"question": question, "model": model}).sealed()
    named.save(certificate)
    capsys.readouterr()
    assert main(["verify", str(certificate), "--replay"]) == 0, "the name is no reason to open a file"
    unknown = made.model.model_copy(update={"digest": "0" * 64})
    by_hand = made.ledger.model_copy(update={"own_seed": False})
    made.model_copy(update={"model": unknown, "ledger": by_hand}).sealed().save(certificate)
    assert main(["verify", str(certificate)]) == 0
    assert main(["verify", str(certificate), "--replay"]) == 2
    assert "--model" in capsys.readouterr().err
    made.save(certificate)
    assert main(["verify", str(certificate), "--replay", "--model", "pointnet64-l2"]) == 2
    assert main(["verify", str(certificate), "--replay", "--model", "pointnet64-noise"]) == 0


def test_a_certificate_continues_where_its_budget_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short, whole = tmp_path / "short.json", tmp_path / "whole.json"
    taper = ["certify", "gallery:chair-1", "-t", "z-taper", "-r", "0.4", "-m", "pointnet64-noise", "--json"]
    assert main([*taper, "--budget-samples", "100", "--out", str(short)]) == 1
    code = main([*taper, "--resume", str(short), "--out", str(whole)])
    capsys.readouterr()
    assert main([*taper]) == code == 0
    uninterrupted = Certificate.from_json(capsys.readouterr().out)
    assert Certificate.load(whole).sentence == uninterrupted.sentence
    begun, ended = Certificate.load(short).ledger.places, Certificate.load(whole).ledger.places
    assert all(ended[place][: len(blocks)] == blocks for place, blocks in begun.items()), (
        "no vote is cast again"
    )


def test_the_same_votes_answer_another_radius_and_another_alpha(
    certificate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made, out = Certificate.load(certificate), tmp_path / "other.json"
    for change in (["-r", "0.2"], ["-r", "0.05"], ["--alpha", "1e-6"], ["--max", "-r", "0.3"]):
        assert main([*TAPER, *change, "--resume", str(certificate), "--out", str(out), "--json"]) == 0
        other = Certificate.load(out)
        verify(other)
        for place, blocks in made.ledger.places.items():
            assert other.ledger.places[place][: len(blocks)] == blocks
    capsys.readouterr()
    assert main([*TAPER, "--seed", "3", "--resume", str(certificate)]) == 2
    assert "seed" in capsys.readouterr().err


def test_attack_finds_what_no_certificate_forbids(capsys: pytest.CaptureFixture[str]) -> None:
    strong = [
        "attack",
        "gallery:chair-1",
        "-t",
        "l2",
        "-r",
        "6",
        "-m",
        "pointnet64-noise",
        "--against",
        "base",
    ]
    assert main([*strong, "--tries", "60", "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert facts["found"]
    assert facts["attack"]["winner"] != facts["prediction"]


def test_transforms_are_listed_with_units_and_limits(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["transforms", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert {"z-taper", "general-rotation", "zyx-rotation", "linear", "l2", "linf"} <= set(rows)
    assert rows["z-twist+z-taper+z-rotation"]["radii"][0] == {
        "name": "twist",
        "unit": "deg",
        "largest": 720.0,
    }


def test_models_say_why_they_do_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "list", "-t", "z-taper", "--json"]) == 0
    objections = {row["name"]: row["objection"] for row in json.loads(capsys.readouterr().out)}
    assert objections["pointnet64-noise"] is None
    assert any(why and "cannot certify z-taper" in why for why in objections.values())


BAD_INPUT = {
    "no object": (["certify"], "OBJECT"),
    "unknown command": (["certifi"], "certifi"),
    "unknown option": ([*TAPER, "--radios", "3"], "--radios"),
    "unknown transform": (["certify", "gallery:chair-1", "-t", "z-tapir", "-r", "1"], "choose one of"),
    "unknown gallery object": (["certify", "gallery:throne", "-t", "z-taper", "-r", "0.1"], "throne"),
    "missing file": (["certify", "/nowhere/chair.off", "-t", "z-taper", "-r", "0.1"], "/nowhere/chair.off"),
    "unknown model": ([*TAPER[:-1], "pointnet65"], "pointnet65"),
    "no radius": (["certify", "gallery:chair-1", "-t", "z-taper"], "radius"),
    "zero radius": (["certify", "gallery:chair-1", "-t", "z-taper", "-r", "0"], "(0, 0.95]"),
    "radius past the domain": (["certify", "gallery:chair-1", "-t", "z-taper", "-r", "1.5"], "(0, 0.95]"),
    "radius that is no number": (["certify", "gallery:chair-1", "-t", "z-taper", "-r", "wide"], "wide"),
    "radius nan": (["certify", "gallery:chair-1", "-t", "z-taper", "-r", "nan"], "out of range"),
    "radius of another transform": (
        ["certify", "gallery:chair-1", "-t", "z-taper", "-r", "twist=2"],
        "twist=2",
    ),
    "model that does not fit": ([*TAPER[:-1], "pointnet64-z-twist"], "coordinate noise"),
    "zero sigma": ([*TAPER, "--sigma", "0"], "sigma"),
    "alpha of one": ([*TAPER, "--alpha", "1"], "(0, 1)"),
    "negative budget": ([*TAPER, "--budget-samples", "-1"], "budget"),
    "negative seed": ([*TAPER, "--seed", "-1"], "seed"),
    "unknown device": ([*TAPER, "--device", "abacus"], "abacus"),
    "one point": ([*TAPER, "--points", "1"], "1"),
    "no folder for the result": ([*TAPER, "--out", "/nowhere/c.json"], "/nowhere"),
    "paper protocol with --max": ([*TAPER, "--protocol", "paper", "--max"], "adaptive"),
    "certificate that is not there": (["verify", "/nowhere/c.json"], "/nowhere/c.json"),
}


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_is_one_line_and_exit_two(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, hint = BAD_INPUT[name]
    code = main(arguments)
    captured = capsys.readouterr()
    assert code == 2
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert hint in captured.err


def test_a_file_that_is_no_certificate_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for content in (b"", b"{}", b"[1, 2", b"\xff\xfe\x00", b"[" * 100_000):
        file = tmp_path / "c.json"
        file.write_bytes(content)
        assert main(["verify", str(file)]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_nothing_half_written_is_left_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "folder"
    out.mkdir()
    assert main([*TAPER, "--out", str(out)]) == 2
    assert list(tmp_path.iterdir()) == [out]
    assert capsys.readouterr().err.startswith("error: ")
