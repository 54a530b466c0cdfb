"""Genuine certificates of every kind: they survive JSON, verification, replay and a second opinion."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.certificate.made import EXPECTED, QUESTIONS, changed, genuine, model_of
from tpc_core.certificate import Certificate
from tpc_core.certify import Budget, Options, certify
from tpc_core.errors import InvalidCertificate, InvalidFile, TpcError
from tpc_core.verify import replay, verify, verify_fresh

KINDS = list(QUESTIONS)
SURE = [kind for kind in KINDS if EXPECTED.get(kind, "certified") == "certified"]


@pytest.mark.parametrize("kind", KINDS)
def test_json_round_trip_loses_nothing(kind: str, tmp_path: Path) -> None:
    certificate = genuine(kind)
    assert Certificate.from_json(certificate.to_json()) == certificate
    certificate.save(tmp_path / "certificate.json")
    loaded = Certificate.load(tmp_path / "certificate.json")
    assert loaded == certificate
    assert loaded.content_digest == certificate.content_digest
    assert [path.name for path in tmp_path.iterdir()] == ["certificate.json"]


@pytest.mark.parametrize("kind", KINDS)
def test_verify_accepts_what_certify_made(kind: str) -> None:
    certificate = genuine(kind)
    assert certificate.verdict == EXPECTED.get(kind, "certified")
    assert verify(Certificate.from_json(certificate.to_json())).verdict == certificate.verdict


@pytest.mark.parametrize("kind", KINDS)
def test_replay_counts_the_same_votes(kind: str) -> None:
    seen: list[tuple[int, int]] = []
    votes = replay(genuine(kind), model_of(kind), on_progress=lambda done, total: seen.append((done, total)))
    assert votes == genuine(kind).samples
    assert not seen or seen[-1] == (votes, votes)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if genuine(kind).ledger.places])
def test_replay_catches_one_changed_vote(kind: str) -> None:
    """In every place: a vote moved from one class to another."""

    def lie(content: dict[str, Any]) -> None:
        place = list(content["ledger"]["places"])[-1]
        block = content["ledger"]["places"][place][-1]
        while isinstance(block[0], list):
            block = block[0]
        block[:] = [0, 31, 1, 1] if block == [0, 32] else [0, 32]

    with pytest.raises(InvalidCertificate):
        replay(changed(genuine(kind), lie), model_of(kind))


@pytest.mark.parametrize("kind", ["parameter", "cover", "group", "cover refuted"])
def test_replay_catches_renamed_classes(kind: str) -> None:
    """The counts come out again, but for classes of another name."""

    def lie(content: dict[str, Any]) -> None:
        before = list(content["model"]["classes"])
        after = [f"{name} no more" for name in before]
        content["model"]["classes"] = after
        for old, new in zip(before, after, strict=True):
            if content["prediction"] == old:
                content["prediction"] = new
            content["sentence"] = content["sentence"].replace(f" {old}", f" {new}")

    forged = changed(genuine(kind), lie)
    with pytest.raises(InvalidCertificate):
        replay(forged, model_of(kind))


def test_replay_refuses_another_model() -> None:
    other = replace(model_of("l2"), digest="another")
    with pytest.raises(InvalidCertificate, match="not with this"):
        replay(genuine("l2"), other)


@pytest.mark.parametrize(
    "kind", [kind for kind in SURE if kind not in ("grid", "parameter largest", "cover largest")]
)
def test_a_true_claim_stands_under_the_verifiers_own_seed(kind: str) -> None:
    fresh = verify_fresh(genuine(kind), model_of(kind), seed=2_024)
    assert fresh.stands
    assert fresh.certificate.ledger.seed == 2_024


def test_a_seed_that_was_searched_for_falls_under_the_verifiers_own() -> None:
    """A claim that is false by a hair, with the one seed in many that certifies it: replay says yes, fresh says no."""
    from tests.certify.test_soundness import ALPHA, FALSE_CLAIMS

    case = FALSE_CLAIMS["parameter z-rotation"]()
    few = Options(alpha=ALPHA, budget=Budget(samples=640))
    lucky = next(
        made
        for made in (
            certify(case.model, case.cloud, "z-rotation", 20, replace(few, seed=seed)) for seed in range(400)
        )
        if made.verdict == "certified"
    )
    assert replay(lucky, case.model) == lucky.samples
    stands = [verify_fresh(lucky, case.model, seed=10_000 + seed).stands for seed in range(10)]
    assert sum(stands) <= 5
    assert not lucky.ledger.own_seed  # and the certificate says that its seed was set by hand


def test_only_a_certified_claim_gets_a_second_opinion() -> None:
    with pytest.raises(InvalidCertificate, match="certified"):
        verify_fresh(genuine("cover refuted"), model_of("cover refuted"), seed=1)


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="cannot read"):
        Certificate.load(tmp_path / "absent.json")
    for text in ("", "{}", "[]", "not json", '{"schema_version": "tpc-certificate/2"}', "[" * 100_000):
        with pytest.raises(TpcError, match="certificate"):
            Certificate.from_json(text)


def test_a_certificate_of_the_first_version_is_refused_with_a_sentence() -> None:
    with pytest.raises(InvalidCertificate, match="earlier version"):
        Certificate.from_json(json.dumps({"schema_version": "tpc-certificate/1", "verdict": "certified"}))


def test_a_key_that_is_given_twice_is_refused() -> None:
    text = genuine("l2").to_json()
    twice = text.replace(' "verdict": "certified",', ' "verdict": "refuted",\n "verdict": "certified",')
    assert twice != text
    with pytest.raises(InvalidCertificate, match="twice"):
        Certificate.from_json(twice)


def test_a_certificate_holds_no_clock_in_its_digest() -> None:
    certificate = genuine("l2")
    later = certificate.model_copy(update={"seconds": certificate.seconds + 1})
    assert later.content_digest == certificate.content_digest


def test_a_sigma_that_is_no_round_number_of_degrees_verifies_too() -> None:
    """A sigma of exactly one radian is written in degrees of twelve digits; the votes are cast with what is written."""
    from tests.classifiers import marked_cloud, parameter_model
    from tpc_core.smoothing import ParameterSmoothing
    from tpc_core.transforms import Twist

    model = replace(
        parameter_model("z-twist", [60], [1.0], 3.0), smoothing=ParameterSmoothing(Twist("z"), (1.0,))
    )
    made = certify(model, marked_cloud("z-twist"), "z-twist", None, Options(largest=True))
    assert made.verdict == "certified"
    assert verify(Certificate.from_json(made.to_json())).verdict == "certified"
    assert replay(made, model) == made.samples
