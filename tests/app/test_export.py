"""The report of a run: one file, nothing fetched, everything escaped, and its certificate inside."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from app.export import run_report
from tests.app.conftest import Rule
from tpc_core import (
    Budget,
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

TWISTING = ParameterSmoothing(parse_transform("z-twist"), (math.radians(60),))
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
    "one probability": (TWISTING, "z-twist", 20, Options()),
    "the largest": (TWISTING, "z-twist", None, Options(largest=True)),
    "noise": (CoordinateSmoothing(0.1), "l2", 0.05, Options()),
    "a group": (GroupSmoothing("so3"), "general-rotation", 30, Options()),
    "the largest cover": (CoordinateSmoothing(0.1), "z-taper", None, Options(largest=True)),
    "out of votes": (CoordinateSmoothing(0.1), "z-taper", 0.5, Options(budget=Budget(samples=96))),
    "hopeless": (CoordinateSmoothing(0.02), "l2", 0.5, Options()),
    "linear maps": (ParameterSmoothing(parse_transform("linear"), (0.2,)), "linear", 0.1, Options()),
}
WITHOUT_VOTES: dict[str, tuple[Any, str, Any, Options]] = {
    "no class yet": (CoordinateSmoothing(0.1), "z-taper", 0.5, Options(budget=Budget(samples=16))),
    "nothing but its class": (CoordinateSmoothing(0.1), "z-taper", 0.5, Options(budget=Budget(samples=32))),
    "too many cells": (CoordinateSmoothing(0.001), "general-rotation", 90, Options()),
}


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


@pytest.mark.parametrize("case", WITHOUT_VOTES)
def test_a_run_that_came_to_nothing_has_a_report_without_a_map(case: str, cloud: Cloud) -> None:
    smoothing, transform, radius, options = WITHOUT_VOTES[case]
    certificate = certify(Rule(smoothing), cloud, transform, radius, options)
    assert certificate.verdict == "undecided"
    report = run_report(certificate)
    assert "map" not in json.loads(stored(report, "figures"))
    assert "Why it is not certified" in report


@pytest.mark.parametrize(
    ("transform", "first", "second"),
    [
        ("z-taper", 0.2, 0.1),
        ("z-taper", 0.2, 0.5),
        ("z-taper+z-rotation", "taper=0.05,rotation=1", "taper=0.1,rotation=2"),
    ],
)
def test_another_radius_on_the_same_votes_has_a_report(
    transform: str, first: Any, second: Any, cloud: Cloud, sure: Rule
) -> None:
    before = certify(sure, cloud, transform, first)
    report = run_report(certify(sure, cloud, transform, second, resume=before))
    assert "map" in json.loads(stored(report, "figures"))


def test_another_shape_of_region_says_what_it_cost(cloud: Cloud, sure: Rule) -> None:
    before = certify(sure, cloud, "z-taper+z-rotation", "taper=0.1,rotation=2")
    after = certify(sure, cloud, "z-taper+z-rotation", "taper=0.1,rotation=4", resume=before)
    assert after.family == 2
    assert "shape of region number 2" in run_report(after)


def test_part_segmentation_has_one_too(cloud: Cloud) -> None:
    model = replace(Rule(TWISTING), task="segmentation")
    report = run_report(certify(model, cloud, "z-twist", 5))
    assert "points are certified one by one" in report


def test_the_certificate_inside_is_the_certificate_itself(cloud: Cloud, sure: Rule) -> None:
    certificate = certify(sure, cloud, "z-taper", 0.2)
    inside = Certificate.from_json(stored(run_report(certificate), "certificate"))
    assert inside == certificate
    assert verify(inside).verdict == "certified"


def test_an_attack_is_shown_where_there_is_one(cloud: Cloud) -> None:
    """Class b above a height: turning the cloud about a level axis lifts some point above it."""
    highest = float(cloud.points[:, 2].max())
    model = Rule(CoordinateSmoothing(0.02), height=highest + 0.1)
    certificate = certify(model, cloud, "x-rotation", 180, Options(alpha=0.05))
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
