"""A larger radius takes up what is certified already: fewer votes, the same guarantee."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.certificate.made import QUESTIONS, genuine
from tests.classifiers import Toy, at_most, broken_at, simulated_votes, small_cloud
from tpc_core import replay, streams, verify
from tpc_core.certificate import Certificate
from tpc_core.certificate.schema import GrownEvidence, SingleEvidence
from tpc_core.certify import Budget, Options, certify
from tpc_core.errors import InvalidCertificate, InvalidValue
from tpc_core.transforms import parse_transform

SMALL = small_cloud()
STEPS: dict[str, tuple[Toy, str, tuple[float | str, ...]]] = {
    "z-taper": (broken_at(SMALL, "z-taper", [0.9], 0.02), "z-taper", (0.3, 0.5, 0.7)),
    "rotation": (
        broken_at(SMALL, "general-rotation", [0.3, 0.1, 0.0], 0.06), "general-rotation", (5, 8)
    ),
    "composition": (
        broken_at(SMALL, "z-taper+z-rotation", [0.9, 0.0], 0.03), "z-taper+z-rotation",
        ("taper=0.3,rotation=3", "taper=0.3,rotation=6", "taper=0.4,rotation=8"),
    ),
}  # fmt: skip


def grown(kind: str, options: Options = Options()) -> list[Certificate]:
    """The certificates of ever larger radii, each taking up the one before."""
    model, transform, radii = STEPS[kind]
    certificates: list[Certificate] = []
    for radius in radii:
        earlier = certificates[-1] if certificates else None
        certificates.append(certify(model, SMALL, transform, radius, options, resume=earlier))
    return certificates


@pytest.mark.parametrize("kind", STEPS)
def test_a_region_that_grew_is_certified_for_less(kind: str) -> None:
    model, transform, radii = STEPS[kind]
    certificates = grown(kind)
    for number, certificate in enumerate(certificates):
        assert certificate.verdict == "certified"
        verify(certificate)
        verify(Certificate.from_json(certificate.to_json()))
        replay(certificate, model)
        if number == 0:
            continue
        assert isinstance(certificate.evidence, GrownEvidence)
        assert len(certificate.evidence.trees) == number + 1
        alone = certify(model, SMALL, transform, radii[number])
        assert certificate.samples < alone.samples
        core = parse_transform(transform).region(tuple(certificate.evidence.trees[-2].root_radius.values()))
        for cell in certificate.evidence.trees[-1].cells:
            corner = np.maximum(np.abs(cell.low), np.abs(cell.high))
            assert core.gauge(corner[None])[0] > 1, "what is vouched for is not tested again"


def test_a_region_that_grew_may_stop_and_go_on() -> None:
    model, transform, radii = STEPS["rotation"]
    first, whole = grown("rotation")
    short = certify(
        model, SMALL, transform, radii[1], Options(budget=Budget(samples=whole.samples // 2)), resume=first
    )
    assert short.verdict == "undecided"
    verify(short)
    resumed = certify(model, SMALL, transform, radii[1], resume=short)
    assert resumed.evidence == whole.evidence
    assert resumed.samples < whole.samples
    with pytest.raises(InvalidValue, match="cannot enlarge"):
        certify(model, SMALL, transform, 9, resume=short)


def test_only_the_same_question_grows() -> None:
    model, transform, _ = STEPS["z-taper"]
    first = certify(model, SMALL, transform, 0.3)
    for changed in (
        Options(seed=1),
        Options(alpha=0.01),
        Options(largest=True),
        Options(statistics="anytime"),
    ):
        with pytest.raises(InvalidValue, match="cannot continue"):
            certify(model, SMALL, transform, 0.5, changed, resume=first)
    with pytest.raises(InvalidValue, match="radius"):
        certify(model, SMALL, transform, 0.2, resume=first)
    composed = grown("composition")[0]
    with pytest.raises(InvalidValue, match="radius"):
        certify(model, SMALL, "z-taper+z-rotation", "taper=0.2,rotation=9", resume=composed)


def test_one_count_serves_every_radius() -> None:
    model, cloud, transform, radius, options = QUESTIONS["parameter"]()
    first = certify(model, cloud, transform, radius, options)
    for other in (5, 24):
        taken = certify(model, cloud, transform, other, options, resume=first)
        alone = certify(model, cloud, transform, other, options)
        assert taken.verdict == alone.verdict
        assert isinstance(taken.evidence, SingleEvidence)
        assert taken.evidence.readings[: len(first.evidence.readings)] == first.evidence.readings  # type: ignore[union-attr]
        assert taken.samples <= alone.samples
        verify(taken)
        replay(taken, model)


def test_a_top_class_test_goes_on_without_casting_a_vote_twice() -> None:
    model, cloud, transform, radius, options = QUESTIONS["group"]()
    whole = genuine("group")
    select = options.select_samples
    short = certify(model, cloud, transform, radius, replace(options, budget=Budget(samples=select + 128)))
    resumed = certify(model, cloud, transform, 20, options, resume=short)
    assert resumed.evidence == whole.evidence
    assert resumed.samples == whole.samples - 128
    verify(resumed)


def _changed(certificate: Certificate, change: Callable[[dict[str, Any]], object]) -> Certificate:
    content = copy.deepcopy(certificate.model_dump(mode="json"))
    change(content)
    return Certificate.model_validate(content).sealed()


def _shrink(content: dict[str, Any]) -> None:
    content["evidence"]["trees"][0]["root_radius"]["taper"] *= 0.9


def _stretch(content: dict[str, Any]) -> None:
    content["evidence"]["trees"][0]["root_radius"]["taper"] *= 1.1


TAMPERINGS: dict[str, Callable[[dict[str, Any]], object]] = {
    "a cell of the core is gone": lambda c: c["evidence"]["trees"][0]["cells"].pop(),
    "a cell around it is gone": lambda c: c["evidence"]["trees"][1]["cells"].pop(),
    "the core has no cells": lambda c: c["evidence"]["trees"][0].update(cells=[]),
    "a larger core": _stretch,
    "a smaller core": _shrink,
    "the trees change places": lambda c: c["evidence"]["trees"].reverse(),
    "the same tree twice": lambda c: c["evidence"]["trees"].insert(0, c["evidence"]["trees"][0]),
    "a larger claim": lambda c: c["claim"]["radius"].update(taper=0.6),
    "a larger share of alpha": lambda c: [
        t["path_shares"].__setitem__(0, 1.0) for t in c["evidence"]["trees"]
    ],
    "fewer votes for the class": lambda c: c["evidence"]["trees"][0]["cells"][0]["readings"][0].update(n_a=1),
    "the largest radius": lambda c: c["claim"].update(largest=True),
}


@pytest.mark.parametrize("what", TAMPERINGS)
def test_tampering_is_found(what: str) -> None:
    certificate = grown("z-taper")[1]
    with pytest.raises(InvalidCertificate):
        verify(_changed(certificate, TAMPERINGS[what]))


def test_a_core_that_was_not_certified_vouches_for_nothing() -> None:
    """The core's failing cell is recorded as it was; a grown region on top of it is refused."""
    certificate = grown("z-taper")[1]

    def lose(content: dict[str, Any]) -> None:
        tree = content["evidence"]["trees"][0]
        cell = tree["cells"][-1]
        for reading in cell["readings"]:
            reading["n_a"] = reading["n"] // 2
        cell.update(state="failed", lower_bound=0.0)

    with pytest.raises(InvalidCertificate):
        verify(_changed(certificate, lose))


def test_every_tree_has_noise_of_its_own() -> None:
    """Trees that shared their noise would be one more chance on the same votes."""
    names = {streams.cell(streams.shell(number, path)) for number in range(3) for path in ("", "0", "01")}
    assert len(names) == 9


ALPHA, RUNS = 0.1, 150


@pytest.mark.parametrize("breaks_at", [0.29, 0.45, 0.6])
def test_growing_as_far_as_it_goes_is_wrong_in_at_most_alpha_of_all_runs(breaks_at: float) -> None:
    """The model fails by a hair in the first region, in the second, or in the third; whoever is certified goes on."""
    model = broken_at(SMALL, "z-taper", [breaks_at], 0.05)
    wrong = 0
    with simulated_votes():
        for seed in range(RUNS):
            options = Options(alpha=ALPHA, seed=seed)
            certificate: Certificate | None = None
            for radius in (0.3, 0.47, 0.62):
                certificate = certify(model, SMALL, "z-taper", radius, options, resume=certificate)
                if certificate.verdict != "certified":
                    break
                if radius >= breaks_at:
                    wrong += 1
                    break
    assert at_most(wrong, RUNS, ALPHA)
