"""Forged proofs about balls and about parts are refused, each by name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.certificate.made import changed
from tests.certificate.test_certain import Content, genuine, model_of
from tpc_core import replay, verify
from tpc_core.certificate.certain import BallRecord, PartsRecord
from tpc_core.certificate.sentence import certain_points_sentence, certain_sentence
from tpc_core.errors import InvalidCertificate
from tpc_core.transforms import parse_transform

Change = Callable[[Content], None]
TWIST = parse_transform("z-twist")


def put(*path: str | int, to: object) -> Change:
    """Change one entry of the evidence."""

    def change(content: Content) -> None:
        place = content["certain"]
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = to

    return change


def all_of(*changes: Change) -> Change:
    def change(content: Content) -> None:
        for one in changes:
            one(content)

    return change


def said(verdict: str, sentence: str) -> Change:
    """The verdict and the sentence that a careful forger would put beside the numbers."""

    def change(content: Content) -> None:
        content["verdict"], content["sentence"], content["stopped"] = verdict, sentence, "settled"

    return change


def asked(radius: float) -> Change:
    def change(content: Content) -> None:
        (name,) = content["radius"]
        content["radius"] = content["question"]["radius"] = {name: radius}
        within = parse_transform(content["question"]["transform"]).radii[0].describe(radius)
        content["sentence"] = content["sentence"].replace("2e-05", within)

    return change


BALL_SAYS = certain_sentence(parse_transform("linf"), "0.2", "chair")
BALLS: dict[str, tuple[str, Change]] = {
    "no ball at all": ("ball", put("proved", to=None)),
    "a smaller ball than was asked for": ("ball", put("proved", "part", to=0.5)),
    "a ball larger than the whole": ("ball", put("proved", "part", to=1.5)),
    "a ball of no size": ("ball", put("proved", "part", to=0.0)),
    "a margin of zero": ("ball", put("proved", "margin", to=0.0)),
    "an infinite margin": ("ball", put("proved", "margin", to=1e999)),
    "a counterexample in a proved ball": (
        "ball",
        put("counterexample", to={"parameter": [1e-5] * 144, "rival": 0, "margin": -1.0}),
    ),
    "a counterexample of too few numbers": ("refuted ball", put("counterexample", "parameter", to=[0.1] * 3)),
    "a counterexample outside of the ball": (
        "refuted ball",
        put("counterexample", "parameter", to=[0.21] * 144),
    ),
    "a counterexample that names its own class": ("refuted ball", put("counterexample", "rival", to=8)),
    "a counterexample that helps": ("refuted ball", put("counterexample", "margin", to=0.5)),
    "a refuted ball that is called certified": ("refuted ball", said("certified", BALL_SAYS)),
    "an open ball that is called certified": (
        "open ball",
        said("certified", certain_sentence(parse_transform("linf"), "0.01", "chair")),
    ),
    "a larger radius than the ball has": (
        "largest ball",
        lambda content: content["radius"].update(linf=content["radius"]["linf"] * 1.01),
    ),
    "cells for a ball": (
        "ball",
        lambda content: content.update(
            certain={
                **{name: content["certain"][name] for name in ("network", "arithmetic", "bounded")},
                "kind": "cells",
                "levels": [[]],
                "indices": [[]],
                "margins": [1.0],
                "counterexample": None,
            }
        ),
    ),
}


@pytest.mark.parametrize("name", BALLS)
def test_a_forged_ball_is_refused_without_the_network(name: str) -> None:
    kind, forge = BALLS[name]
    with pytest.raises(InvalidCertificate):
        verify(changed(genuine(kind), forge))


def test_the_classes_of_the_forgeries_are_those_of_the_model() -> None:
    assert genuine("refuted ball").model.classes[8] == "chair"


RAISED_BALLS: dict[str, Change] = {
    "a margin raised by a hundredth": lambda content: put(
        "proved", "margin", to=content["certain"]["proved"]["margin"] * 1.01
    )(content),
    "a larger radius": asked(3e-5),
    "a ball called proved that is not": asked(0.01),
}


@pytest.mark.parametrize("name", RAISED_BALLS)
def test_a_forged_margin_of_a_ball_is_refused_with_the_network(name: str) -> None:
    forged = changed(genuine("ball"), RAISED_BALLS[name])
    assert verify(forged).on_trust
    with pytest.raises(InvalidCertificate, match="can be proved"):
        replay(forged, model_of("ball"))


def test_a_harmless_displacement_is_no_counterexample() -> None:
    forged = changed(
        genuine("refuted ball"),
        all_of(
            put("counterexample", "parameter", to=[1e-9] * 144),
            lambda content: content.update(
                sentence=content["sentence"].replace(
                    content["sentence"].split("(")[1].split(")")[0], "linf 1e-09"
                )
            ),
        ),
    )
    verify(forged)
    with pytest.raises(InvalidCertificate, match="keeps its class"):
        replay(forged, model_of("ball"))


# -- parts -------------------------------------------------------------------------------------------------------


def _without_a_cell(content: Content) -> None:
    for name in ("levels", "indices", "margins"):
        content["certain"][name].pop()


def _without_a_margin(content: Content) -> None:
    row = content["certain"]["margins"][0]
    row[next(n for n, margin in enumerate(row) if margin is not None)] = None


def _without_counterexamples(content: Content) -> None:
    content["certain"]["counterexamples"] = []


def _all_pass(content: Content) -> None:
    count = len(content["certain"]["labels"])
    words = certain_points_sentence(TWIST, "6°", count, 0, 0, "")
    said("certified", words)(content)


def _twice(content: Content) -> None:
    content["certain"]["counterexamples"].append(content["certain"]["counterexamples"][0])


def _own_part(content: Content) -> None:
    found = content["certain"]["counterexamples"][0]
    found["rival"] = content["certain"]["labels"][found["point"]]


def _of_a_proved_point(content: Content) -> None:
    proved = set(range(len(content["certain"]["labels"]))) - {
        found["point"] for found in content["certain"]["counterexamples"]
    }
    content["certain"]["counterexamples"][0]["point"] = min(proved)


def _short_row(content: Content) -> None:
    content["certain"]["margins"][0].pop()


PARTS: dict[str, tuple[str, Change]] = {
    "a cell left out": ("parts", _without_a_cell),
    "a point left out of a cell": ("parts", _without_a_margin),
    "a margin of zero for a point": ("parts", put("margins", 0, 0, to=0.0)),
    "too few margins in a cell": ("parts", _short_row),
    "a part that the model has not": ("parts", put("labels", 0, to=50)),
    "too few parts": ("parts", lambda content: content["certain"]["labels"].pop()),
    "a class of the whole object": ("parts", lambda content: content.update(prediction="part 12")),
    "counterexamples left out": ("parts, some refuted", _without_counterexamples),
    "every point said to be proved": ("parts, some refuted", _all_pass),
    "two counterexamples of a point": ("parts, some refuted", _twice),
    "a counterexample that names its own part": ("parts, some refuted", _own_part),
    "a counterexample of a proved point": ("parts, some refuted", _of_a_proved_point),
    "a counterexample outside of the region": (
        "parts, some refuted",
        put("counterexamples", 0, "parameter", to=[1.0]),
    ),
    "a counterexample of no point": ("parts, some refuted", put("counterexamples", 0, "point", to=48)),
    "a task that has no parts": (
        "parts",
        lambda content: content["model"].update(task="classification"),
    ),
    "the largest radius": (
        "parts",
        lambda content: content["question"]["options"].update(largest=True),
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_forged_proof_of_parts_is_refused_without_the_network(name: str) -> None:
    kind, forge = PARTS[name]
    with pytest.raises(InvalidCertificate):
        verify(changed(genuine(kind), forge))


def _raised(content: Content) -> None:
    row = content["certain"]["margins"][0]
    point = next(n for n, margin in enumerate(row) if margin is not None)
    row[point] *= 1.01


def _other_parts(content: Content) -> None:
    labels = content["certain"]["labels"]
    labels[0] = (labels[0] + 1) % 50


def _moved_counterexample(content: Content) -> None:
    content["certain"]["counterexamples"][0]["margin"] *= 1.01


def _wider(content: Content) -> None:
    content["radius"] = content["question"]["radius"] = {"twist": 5.0}
    content["sentence"] = content["sentence"].replace("1°", "5°")


WITH_THE_NETWORK: dict[str, tuple[str, Change]] = {
    "a margin raised by a hundredth": ("parts", _raised),
    "other parts": ("parts", _other_parts),
    "a larger radius for the same cells": ("parts", _wider),
    "a counterexample that is clearer than it is": ("parts, some refuted", _moved_counterexample),
}


@pytest.mark.parametrize("name", WITH_THE_NETWORK)
def test_a_forged_proof_of_parts_is_refused_with_the_network(name: str) -> None:
    kind, forge = WITH_THE_NETWORK[name]
    forged = changed(genuine(kind), forge)
    assert verify(forged).on_trust
    with pytest.raises(InvalidCertificate):
        replay(forged, model_of(kind))


# -- what genuine ones say ---------------------------------------------------------------------------------------


def test_a_ball_is_proved_in_one_pass_and_the_largest_from_both_sides() -> None:
    ball, largest = genuine("ball").certain, genuine("largest ball").certain
    assert isinstance(ball, BallRecord)
    assert isinstance(largest, BallRecord)
    assert ball.bounded == 1
    assert largest.proved is not None
    assert largest.counterexample is not None
    attacked = max(map(abs, largest.counterexample.parameter))
    assert 0 < genuine("largest ball").radius["linf"] < attacked <= 0.2
    assert "turns it into" in genuine("largest ball").sentence


def test_parts_are_counted_in_the_sentence() -> None:
    assert genuine("parts").sentence == (
        "Every point keeps its part under every z-twist within 1°. Proved: no probability of error."
    )
    some = genuine("parts, some refuted").certain
    assert isinstance(some, PartsRecord)
    kept, lost = 48 - len(some.counterexamples), len(some.counterexamples)
    assert f"{kept} of 48 points keep their part" in genuine("parts, some refuted").sentence
    assert f"; {lost} lose" in genuine("parts, some refuted").sentence
    assert "undecided: the budget ended after" in genuine("parts, some open").sentence
