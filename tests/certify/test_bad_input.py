"""Bad input is refused with a typed error that says what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from tests.certificate.made import QUESTIONS, SMALL
from tests.classifiers import broken_at
from tpc_core.certify import Budget, Options, certify, certify_events
from tpc_core.cloud import Cloud, normalise
from tpc_core.errors import InvalidCloud, InvalidValue, TpcError, UnknownName, UnsupportedRequest
from tpc_core.smoothing import CoordinateSmoothing, GroupSmoothing, ParameterSmoothing, smoothing_from_json
from tpc_core.statistics import lower_bound, lower_confidence_bound
from tpc_core.transforms import Rotation, Taper, all_transforms, parse_transform

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("points", "advice"),
    [
        (torch.tensor([[0, 0, NAN], [0, 0, 1]]), "remove"),
        (torch.tensor([[0, 0, INF], [0, 0, 1]]), "remove"),
        (torch.zeros(3, 2), "shape"),
        (torch.zeros(3), "shape"),
        (torch.zeros(2, 3, 3), "shape"),
        (torch.zeros(0, 3), "at least two points"),
        (torch.zeros(1, 3), "at least two points"),
        (torch.tensor([[0, 0, 1.1], [0, 0, 0]]), "normalise"),
    ],
)
def test_bad_clouds(points: torch.Tensor, advice: str) -> None:
    with pytest.raises(InvalidCloud, match=advice):
        Cloud(points)


def test_normalise_refuses_what_it_cannot_scale() -> None:
    for points in (
        torch.zeros(4, 3),
        torch.full((4, 3), NAN),
        torch.zeros(0, 3),
        torch.zeros(4, 2),
        torch.ones(1, 3),
    ):
        with pytest.raises(InvalidCloud):
            normalise(points)
    Cloud(normalise(torch.randn(50, 3, generator=torch.Generator().manual_seed(0)) * 1e30))
    Cloud(normalise(torch.randn(50, 3, generator=torch.Generator().manual_seed(0)) * 1e-30))


@pytest.mark.parametrize("transform", all_transforms(), ids=str)
def test_radii_out_of_range(transform: Any) -> None:
    for bad in (0.0, -1.0, NAN, INF, 1e9):
        radius = {p.name: bad for p in transform.radii}
        with pytest.raises(InvalidValue, match=r"choose a value in \(0"):
            transform.parse_radius(radius)
    for junk in (
        "",
        "wide",
        "a=1",
        {"nonsense": 1.0},
        [],
        [1.0] * 9,
        "1,2,3,4,5",
        None,
        "rotation=1,rotation=2",
    ):
        with pytest.raises(InvalidValue, match="give"):
            transform.parse_radius(junk)


def test_unknown_names_list_what_is_known() -> None:
    for name in ("", "z-bend", "w-rotation", "z-taper+", "z-taper+z-bend"):
        with pytest.raises(UnknownName, match="choose one of: .*z-taper"):  # noqa: RUF043
            parse_transform(name)
    with pytest.raises(InvalidValue, match="different"):
        parse_transform("z-taper+z-taper")
    with pytest.raises(UnknownName, match="so3"):
        GroupSmoothing("so2")


@pytest.mark.parametrize("sigma", [0.0, -1.0, NAN, INF])
def test_bad_sigmas(sigma: float) -> None:
    with pytest.raises(InvalidValue, match="positive, finite"):
        CoordinateSmoothing(sigma)
    with pytest.raises(InvalidValue, match="positive, finite"):
        ParameterSmoothing(Rotation("z"), (sigma,))
    with pytest.raises(InvalidValue):
        certify(broken_at(SMALL, "z-taper", [0.3], 0.2), SMALL, "z-taper", 0.1, Options(sigma=(sigma,)))


@pytest.mark.parametrize(
    "description",
    [
        {}, {"kind": "none"}, {"kind": []}, {"kind": None}, {"kind": "coordinate"}, {"kind": "coordinate", "sigma": "x"},  # noqa: E501
        {"kind": "coordinate", "sigma": None}, {"kind": "coordinate", "sigma": [1]}, {"kind": "group", "group": 3},
        {"kind": "parameter", "transform": "z-rotation", "sigma": 3}, {"kind": "parameter", "transform": "z-taper", "sigma": [1]},  # noqa: E501
        {"kind": "parameter", "transform": "z-rotation", "sigma": []}, {"kind": "parameter", "transform": "l2", "sigma": [1]},  # noqa: E501
        {"kind": "parameter", "transform": "z-rotation", "sigma": ["x"]}, {"kind": "parameter", "transform": "z-rotation", "sigma": "5"},  # noqa: E501
    ],
)  # fmt: skip
def test_bad_descriptions_of_a_smoothing(description: dict[str, Any]) -> None:
    with pytest.raises(TpcError):
        smoothing_from_json(description)


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, 2.0, NAN])
def test_alpha_is_a_probability_of_error(alpha: float) -> None:
    with pytest.raises(InvalidValue, match="0.001 is usual"):  # noqa: RUF043
        Options(alpha=alpha)
    with pytest.raises(InvalidValue, match="0.001 is usual"):  # noqa: RUF043
        lower_bound(5, 10, alpha)


@pytest.mark.parametrize(
    "settings",
    [
        {"protocol": "magic"}, {"patience": 0}, {"alpha": 0.6}, {"alpha": 1e-20}, {"sigma": (0.0,)}, {"seed": -1},
        {"seed": 1 << 63},
    ],
)  # fmt: skip
def test_bad_options(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        Options(**settings)


@pytest.mark.parametrize(
    "limits", [{"samples": 0}, {"samples": -1}, {"seconds": 0.0}, {"seconds": NAN}, {"cells": 0}]
)
def test_budgets_are_positive(limits: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue, match="positive"):
        Budget(**limits)


def test_counts_that_cannot_be() -> None:
    for count, total in ((-1, 10), (11, 10), (0, 0)):
        with pytest.raises(InvalidValue, match="cannot be"):
            lower_bound(count, total, 0.01)
        if total:
            with pytest.raises(InvalidValue, match="cannot be"):
                lower_confidence_bound(count, total, 0.01)


def test_requests_that_no_theorem_joins_are_refused_at_once() -> None:
    """Before the first event: certify_events itself raises."""
    rotation = QUESTIONS["parameter"]()[0]
    noise = broken_at(SMALL, "z-taper", [0.3], 0.2)
    parts, arc, *_ = QUESTIONS["points"]()
    with pytest.raises(UnsupportedRequest, match="take a model"):
        certify_events(rotation, SMALL, "z-taper", 0.1)
    with pytest.raises(UnsupportedRequest, match="take a model"):
        certify_events(rotation, SMALL, "l2", 0.1)
    with pytest.raises(UnsupportedRequest, match="about one axis"):
        certify_events(noise, SMALL, "z-taper+x-rotation", "taper=0.1,rotation=1")
    with pytest.raises(UnsupportedRequest, match="adaptive"):
        Options(protocol="paper", largest=True)
    with pytest.raises(InvalidValue, match="direction"):
        certify_events(noise, SMALL, "z-taper+z-rotation", None, Options(largest=True))
    with pytest.raises(InvalidValue, match="give a radius"):
        certify_events(noise, SMALL, "z-taper")
    with pytest.raises(InvalidValue, match="sigma"):
        certify_events(noise, SMALL, "z-taper", 0.1, Options(sigma=(0.1, 0.2)))
    with pytest.raises(InvalidValue, match="uniform"):
        certify_events(QUESTIONS["group"]()[0], SMALL, "z-rotation", 10, Options(sigma=(0.1,)))
    with pytest.raises(TpcError):
        certify_events(noise, SMALL, "z-taper", 0.1, batch_size=0)
    with pytest.raises(UnsupportedRequest, match="adaptive"):
        certify_events(noise, SMALL, "z-shear", 0.1, Options(protocol="paper"))
    with pytest.raises(UnsupportedRequest, match="radius"):
        certify_events(parts, arc, "z-rotation", None, Options(largest=True))


def test_a_taper_that_turns_the_cloud_inside_out_is_refused() -> None:
    """The displacement bound holds only where no slice shrinks below zero."""
    tall = np.array([[0.1, 0.0, 1.0], [0.1, 0.0, -1.0]])
    reach = Taper().reach(tall * 2)
    with pytest.raises(InvalidValue, match="inside out"):
        reach(np.zeros((1, 1)), np.full((1, 1), -0.9), np.full((1, 1), 0.9), np.ones(1))
