"""The report of a run: one file, nothing fetched, everything escaped, and its certificate inside."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from app.export import run_report
from tests.app.conftest import Rule
from tpc_core import (
    Certificate,
    Cloud,
    CoordinateSmoothing,
    GroupSmoothing,
    Options,
    ParameterSmoothing,
    certify,
    parse_transform,
    verify,
)

TWIST = parse_transform("z-twist")
CASES: dict[str, tuple[Any, str, Any, Options]] = {
    "one dimension": (CoordinateSmoothing(0.1), "z-taper", 0.2, Options()),
    "two dimensions": (CoordinateSmoothing(0.1), "z-taper+z-rotation", "taper=0.1,rotation=2", Options()),
    "three dimensions": (CoordinateSmoothing(0.3), "general-rotation", 5, Options()),
    "the paper's grid": (CoordinateSmoothing(0.3), "z-taper", 0.1, Options(protocol="paper")),
    "the paper's rotations": (
        CoordinateSmoothing(0.9),
        "general-rotation",
        2,
        Options(protocol="paper", resolution=1),
    ),
    "one probability": (ParameterSmoothing(TWIST, (1.0,)), "z-twist", 20, Options()),
    "the largest": (ParameterSmoothing(TWIST, (1.0,)), "z-twist", None, Options(largest=True)),
    "noise": (CoordinateSmoothing(0.1), "l2", 0.05, Options()),
    "a group": (GroupSmoothing("so3"), "general-rotation", 30, Options()),
}


@pytest.mark.parametrize(("transform", "small", "large"), [
    ("z-taper", 0.1, 0.2),
    ("z-taper+z-rotation", "taper=0.05,rotation=1", "taper=0.1,rotation=2"),
])  # fmt: skip
def test_a_region_that_was_certified_in_steps_has_a_report(
    transform: str, small: Any, large: Any, cloud: Cloud
) -> None:
    model = Rule(CoordinateSmoothing(0.1))
    grown = certify(model, cloud, transform, large, resume=certify(model, cloud, transform, small))
    assert grown.evidence.kind == "grown"
    assert "map" in json.loads(stored(run_report(grown), "figures"))


def stored(report: str, name: str) -> str:
    """What the page keeps under a name."""
    match = re.search(rf'<script type="text/plain" id="{name}">([^<]*)</script>', report)
    assert match is not None
    return gzip.decompress(base64.b64decode(match[1])).decode()


@pytest.mark.parametrize("case", CASES)
def test_every_kind_of_certificate_has_a_report(case: str, cloud: Cloud) -> None:
    smoothing, transform, radius, options = CASES[case]
    certificate = certify(Rule(smoothing), cloud, transform, radius, options)
    report = run_report(certificate)
    figures = json.loads(stored(report, "figures"))
    assert figures["cloud"]["data"][-1]["type"] == "scatter3d"
    assert len(figures["cloud"]["layout"]["sliders"][0]["steps"]) == 21
    assert ("map" in figures) == (case != "the paper's rotations")
    assert certificate.sentence in report
    assert len(report) < 6_000_000


def test_part_segmentation_has_one_too(cloud: Cloud) -> None:
    model = replace(Rule(ParameterSmoothing(TWIST, (1.0,))), task="segmentation")
    report = run_report(certify(model, cloud, "z-twist", 5))
    assert "points certified one by one" in report


def test_the_certificate_inside_is_the_certificate_itself(cloud: Cloud, sure: Rule) -> None:
    certificate = certify(sure, cloud, "z-taper", 0.2)
    inside = Certificate.from_json(stored(run_report(certificate), "certificate"))
    assert inside == certificate
    assert verify(inside).verdict == "certified"


def test_an_attack_is_shown_where_there_is_one(cloud: Cloud) -> None:
    """Class b above a height: a large enough taper does not lift points, so the rule is turned by a shear."""
    highest = float(cloud.points[:, 2].max())
    model = Rule(CoordinateSmoothing(0.02), height=highest + 0.1)
    certificate = certify(model, cloud, "general-rotation", 180, Options(alpha=0.05))
    assert certificate.verdict == "refuted"
    report = run_report(certificate)
    assert "the attack that makes it a b" in report
    assert "<h2>The attack</h2>" in report


def test_names_are_words_and_never_markup(cloud: Cloud, sure: Rule) -> None:
    nasty = "</script><img src=x onerror=alert(1)>"
    certificate = certify(sure, Cloud(cloud.points, nasty, nasty), "z-taper", 0.2)
    report = run_report(certificate, title=nasty)
    assert "<img" not in report
    tags: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.append(tag)
            assert not {"src", "href"} & {name for name, _ in attrs}

    Reader().feed(report)
    assert tags.count("script") == 4
    assert not {"img", "link", "iframe"} & set(tags)


def test_the_same_run_gives_the_same_file(cloud: Cloud, sure: Rule) -> None:
    certificate = certify(sure, cloud, "z-taper", 0.2)
    assert run_report(certificate) == run_report(certificate)
