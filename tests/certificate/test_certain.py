"""Certificates without probability: genuine ones hold, and every forgery is refused, by name."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.certificate.made import changed
from tpc_core import (
    Certificate,
    Model,
    Options,
    certify,
    load_model,
    load_object,
    replay,
    verify,
    verify_fresh,
)
from tpc_core.certificate.certain import BallRecord, CellsRecord, PartsRecord
from tpc_core.certificate.sentence import certain_sentence
from tpc_core.errors import InvalidCertificate, UnsupportedRequest
from tpc_core.question import Budget
from tpc_core.transforms import parse_transform
from tpc_core.verify import case_of

Content = dict[str, Any]
ASKED: dict[str, tuple[str, str, Options]] = {
    "certified": ("z-taper", "0.2", Options(proof="certain")),
    "of two": ("z-taper+z-rotation", "taper=0.05,rotation=0.5", Options(proof="certain")),
    "refuted": ("x-rotation", "90", Options(proof="certain")),
    "undecided": ("z-taper", "0.5", Options(proof="certain", budget=Budget(cells=3))),
    "largest": ("x-rotation", "60", Options(proof="certain", largest=True)),
    "ball": ("linf", "0.00002", Options(proof="certain")),
    "largest ball": ("linf", "0.2", Options(proof="certain", largest=True)),
    "refuted ball": ("linf", "0.2", Options(proof="certain")),
    "open ball": ("linf", "0.01", Options(proof="certain")),
    "parts": ("z-twist", "1", Options(proof="certain")),
    "parts, some refuted": ("z-twist", "6", Options(proof="certain")),
    "parts, some open": ("z-twist", "6", Options(proof="certain", budget=Budget(cells=20))),
}
VERDICTS = {
    "refuted": "refuted",
    "undecided": "undecided",
    "refuted ball": "refuted",
    "open ball": "undecided",
    "parts, some refuted": "refuted",
    "parts, some open": "refuted",
}


@functools.cache
def model() -> Model:
    return load_model("pointnet64-noise")


def model_of(kind: str) -> Model:
    return segmentation() if kind.startswith("parts") else model()


@functools.cache
def segmentation() -> Model:
    return load_model("segmentation64-z-twist")


@functools.cache
def genuine(kind: str) -> Certificate:
    transform, radius, options = ASKED[kind]
    return certify(model_of(kind), load_object("gallery:chair-1", points=48), transform, radius, options)


@pytest.mark.parametrize("kind", ASKED)
def test_a_genuine_certificate_holds_without_the_network_and_with_it(kind: str) -> None:
    certificate = genuine(kind)
    assert certificate.verdict == VERDICTS.get(kind, "certified")
    assert certificate.alpha == 0.0
    assert certificate.ledger is None
    again = Certificate.from_json(certificate.to_json())
    assert again == certificate
    assert verify(again).verdict == certificate.verdict
    assert replay(again, model_of(kind)) == margins_of(certificate)


def margins_of(certificate: Certificate) -> int:
    """How many margins the evidence states."""
    record = certificate.certain
    if isinstance(record, CellsRecord):
        return len(record.margins)
    if isinstance(record, BallRecord):
        return int(record.proved is not None)
    assert isinstance(record, PartsRecord)
    return sum(margin is not None for row in record.margins for margin in row)


def test_what_was_not_checked_is_said_to_be_trusted() -> None:
    assert "margins" in verify(genuine("certified")).on_trust
    assert "counterexample" in verify(genuine("refuted")).on_trust
    assert all(word in verify(genuine("largest")).on_trust for word in ("margins", "counterexample"))
    assert all(word in verify(genuine("largest ball")).on_trust for word in ("margin of", "counterexample"))
    assert "class" in verify(genuine("open ball")).on_trust


def test_the_sentence_says_what_was_proved() -> None:
    assert genuine("certified").sentence == (
        "Every z-taper within 0.2 keeps the class chair. Proved: no probability of error."
    )
    assert genuine("refuted").sentence.startswith("An attack by x-rotation")
    assert "budget ended after 3 cells" in genuine("undecided").sentence


def test_the_largest_radius_is_known_from_both_sides() -> None:
    certificate = genuine("largest")
    assert isinstance(certificate.certain, CellsRecord)
    found = certificate.certain.counterexample
    assert found is not None
    attacked = abs(parse_transform("x-rotation").radii[0].to_edge(found.parameter[0]))
    (certified,) = certificate.radius.values()
    assert 0 < certified < attacked <= certified * 1.02


# -- forgeries ---------------------------------------------------------------------------------------------------


def _say_again(content: Content) -> None:
    """The sentence that a careful forger would put beside the numbers."""
    transform = parse_transform(content["question"]["transform"])
    (radius,) = content["radius"].values()
    within = transform.radii[0].describe(radius)
    content["sentence"] = certain_sentence(transform, within, content["prediction"])


def _without_a_cell(content: Content) -> None:
    for name in ("levels", "indices", "margins"):
        del content["certain"][name][2]


def _moved_cell(content: Content) -> None:
    content["certain"]["indices"][0] = content["certain"]["indices"][1]


def _coarser_cell(content: Content) -> None:
    content["certain"]["levels"][0][0] -= 1
    content["certain"]["indices"][0][0] //= 2


def _cell_outside(content: Content) -> None:
    content["certain"]["indices"][0][0] += 1 << content["certain"]["levels"][0][0]


def _too_deep(content: Content) -> None:
    content["certain"]["levels"][0][0] = 41


def _negative_level(content: Content) -> None:
    content["certain"]["levels"][0][0] = -1


def _another_dimension(content: Content) -> None:
    content["certain"]["levels"][0].append(0)
    content["certain"]["indices"][0].append(0)


def _margin(value: float | None) -> Callable[[Content], None]:
    def change(content: Content) -> None:
        content["certain"]["margins"][0] = value

    return change


def _missing_margin(content: Content) -> None:
    content["certain"]["margins"].pop()


def _other_radius_in_words(content: Content) -> None:
    content["radius"]["taper"] = 0.3
    _say_again(content)


def _unknown_class(content: Content) -> None:
    content["prediction"] = "unicorn"
    _say_again(content)


def _other_sentence(content: Content) -> None:
    content["sentence"] = content["sentence"].replace("0.2", "0.9")


def _votes(content: Content) -> None:
    content["samples"] = 32


def _smoothed_question(content: Content) -> None:
    content["question"]["options"]["proof"] = "smoothed"


def _undecided(content: Content) -> None:
    content["verdict"], content["stopped"] = "undecided", "budget"


def _with_smoothing(content: Content) -> None:
    content["model"]["smoothing"] = {"kind": "coordinate", "sigma": 0.1}


def _neither(content: Content) -> None:
    content["certain"] = None


def _both(content: Content) -> None:
    content["ledger"] = {"seed": 0, "own_seed": True, "families": [], "places": {}, "refutations": []}


def _float32(content: Content) -> None:
    content["certain"]["arithmetic"] = "float32"


def _counterexample_in_a_proved_cell(content: Content) -> None:
    content["certain"]["counterexample"] = {"parameter": [0.1], "rival": 0, "margin": -1.0}


FORGED: dict[str, Callable[[Content], None]] = {
    "a cell left out": _without_a_cell,
    "a cell twice": _moved_cell,
    "a cell over its neighbour": _coarser_cell,
    "a cell outside of the box": _cell_outside,
    "a cell deeper than the deepest": _too_deep,
    "a cell above the root": _negative_level,
    "a cell of two sides": _another_dimension,
    "a margin of zero": _margin(0.0),
    "a negative margin": _margin(-1.0),
    "a margin that is none": _margin(None),
    "a margin left out": _missing_margin,
    "a larger radius than was asked for": _other_radius_in_words,
    "an unknown class": _unknown_class,
    "a sentence that says more": _other_sentence,
    "votes that nobody cast": _votes,
    "a question that asks for votes": _smoothed_question,
    "a verdict that says less": _undecided,
    "a smoothing": _with_smoothing,
    "no evidence": _neither,
    "two kinds of evidence": _both,
    "another arithmetic": _float32,
    "a counterexample where it is proved": _counterexample_in_a_proved_cell,
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forgery_is_refused_without_the_network(name: str) -> None:
    with pytest.raises(InvalidCertificate):
        verify(changed(genuine("certified"), FORGED[name]))


def _raised_margin(content: Content) -> None:
    content["certain"]["margins"][-1] *= 1.01


def _one_cell_for_all(content: Content) -> None:
    content["certain"] |= {"levels": [[0]], "indices": [[0]], "margins": [1.0]}


def _larger_radius(content: Content) -> None:
    """The same cells are fractions of a larger box now: they cover it, and their margins do not hold."""
    content["radius"]["taper"] = content["question"]["radius"]["taper"] = 0.9
    _say_again(content)


def _other_class(content: Content) -> None:
    content["prediction"] = "table"
    _say_again(content)


def _other_network(content: Content) -> None:
    content["certain"]["network"] = "0" * 64


WITH_THE_NETWORK: dict[str, Callable[[Content], None]] = {
    "a margin raised by a hundredth": _raised_margin,
    "one cell for the whole region": _one_cell_for_all,
    "another radius": _larger_radius,
    "another class": _other_class,
    "another network": _other_network,
}


@pytest.mark.parametrize("name", WITH_THE_NETWORK)
def test_what_only_the_network_can_tell_is_refused_with_it(name: str) -> None:
    forged = changed(genuine("certified"), WITH_THE_NETWORK[name])
    assert verify(forged).on_trust  # without the network nobody can know, and it is said
    with pytest.raises(InvalidCertificate):
        replay(forged, model())


def test_a_forged_counterexample_is_refused() -> None:
    def moved(to: list[float]) -> Callable[[Content], None]:
        def change(content: Content) -> None:
            content["certain"]["counterexample"]["parameter"] = to
            transform = parse_transform("x-rotation")
            old = content["sentence"]
            content["sentence"] = (
                old[: old.index("(") + 1] + transform.describe(torch.tensor(to)) + old[old.index(")") :]
            )

        return change

    import torch

    with pytest.raises(InvalidCertificate, match="outside"):
        verify(changed(genuine("refuted"), moved([4.0])))
    with pytest.raises(InvalidCertificate, match="keeps"):
        replay(changed(genuine("refuted"), moved([0.0])), model())

    def itself(content: Content) -> None:
        content["certain"]["counterexample"]["rival"] = content["model"]["classes"].index("chair")

    with pytest.raises(InvalidCertificate, match="no other class"):
        verify(changed(genuine("refuted"), itself))


def test_another_model_proves_nothing() -> None:
    with pytest.raises(InvalidCertificate, match="was made with model"):
        replay(genuine("certified"), load_model("pointnet64-cylinder"))


def test_votes_are_not_looked_for_where_there_are_none() -> None:
    with pytest.raises(UnsupportedRequest, match="no votes"):
        verify_fresh(genuine("certified"), model(), 1)
    with pytest.raises(UnsupportedRequest, match="no votes"):
        case_of(genuine("certified"))


def test_a_smoothed_certificate_does_not_pass_for_a_certain_one() -> None:
    cloud = load_object("gallery:chair-1", points=48)
    smoothed = certify(model(), cloud, "z-taper", 0.05)

    def ask_for_certainty(content: Content) -> None:
        content["question"]["options"]["proof"] = "certain"

    with pytest.raises(InvalidCertificate, match="holds votes"):
        verify(changed(smoothed, ask_for_certainty))


def test_the_file_has_every_number_and_nothing_twice() -> None:
    content = json.loads(genuine("certified").to_json())
    assert content["certain"]["arithmetic"] == "float64"
    assert len(content["certain"]["network"]) == 64
    assert content["samples"] == 0
    assert content["model"]["smoothing"] == {}
