"""Genuine certificates of every kind: they survive JSON, verification and replay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.certificate.made import EXPECTED, QUESTIONS, changed, genuine, model_of
from tpc_core.certificate import Certificate
from tpc_core.certificate.replay import replay
from tpc_core.certificate.verify import verify
from tpc_core.errors import InvalidCertificate, InvalidFile, TpcError

KINDS = list(QUESTIONS)


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
    assert votes <= genuine(kind).samples
    assert not seen or seen[-1] == (votes, votes)


def _first_count_down(content: dict) -> None:
    evidence = content["evidence"]
    if evidence["kind"] == "points":
        evidence["n_a"][0] -= 1
    elif evidence["kind"] == "group":
        first = evidence["stages"][0]
        best = max(first, key=first.get)
        other = next(name for name in content["model"]["classes"] if name != best)
        first[best], first[other] = first[best] - 1, first.get(other, 0) + 1
    elif evidence["kind"] == "single":
        evidence["readings"][0]["n_a"] -= 1
    elif evidence["cells"]:
        evidence["cells"][0]["readings"][0]["n_a"] -= 1
    else:
        content["attack"]["votes"][content["attack"]["winner"]] -= 1


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "nothing"])
def test_replay_catches_one_changed_vote(kind: str) -> None:
    with pytest.raises(InvalidCertificate):
        replay(changed(genuine(kind), _first_count_down), model_of(kind))


def test_replay_catches_the_votes_that_chose_the_class() -> None:
    def lie(content: dict) -> None:
        content["prediction"]["votes"] = {content["prediction"]["name"]: content["prediction"]["samples"]}

    forged = changed(genuine("parameter undecided"), lie)
    verify(forged)  # nothing in the file betrays it
    with pytest.raises(InvalidCertificate, match="class"):
        replay(forged, model_of("parameter undecided"))


def test_replay_catches_renamed_classes() -> None:
    """The counts come out again, but for a class of another name."""

    def lie(content: dict) -> None:
        text = json.dumps(content["prediction"]).replace("inside", "other")
        content["prediction"] = json.loads(text)
        content["model"]["classes"] = ["other", "outside"]
        content["sentence"] = content["sentence"].replace("inside", "other")

    with pytest.raises(InvalidCertificate):
        replay(changed(genuine("parameter"), lie), model_of("parameter"))


@pytest.mark.parametrize("kind", ["points", "points of a group"])
@pytest.mark.parametrize("what", ["runner_up", "predictions"])
def test_replay_catches_changed_points(kind: str, what: str) -> None:
    def lie(content: dict) -> None:
        values = content["evidence"][what]
        values[-1] = values[-1] + 1 if values[-1] == 0 else values[-1] - 1

    with pytest.raises(InvalidCertificate):
        replay(changed(genuine(kind), lie), model_of(kind))


def test_replay_refuses_another_model() -> None:
    from dataclasses import replace

    other = replace(model_of("l2"), digest="another")
    with pytest.raises(InvalidCertificate, match="not with this"):
        replay(genuine("l2"), other)


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="cannot read"):
        Certificate.load(tmp_path / "absent.json")
    for text in ("", "{}", "[]", "not json", '{"schema_version": "tpc-certificate/2"}', "[" * 100_000):
        with pytest.raises(TpcError, match="certificate"):
            Certificate.from_json(text)


def test_a_certificate_holds_no_clock_in_its_digest() -> None:
    certificate = genuine("l2")
    later = certificate.model_copy(update={"seconds": certificate.seconds + 1})
    assert later.content_digest == certificate.content_digest
