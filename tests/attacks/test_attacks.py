"""Attacks promise: what they find is inside the region and proven by votes, and no certificate is ever broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
import torch
from torch import Tensor

from tpc_core import (
    Certificate,
    Cloud,
    CoordinateSmoothing,
    Options,
    certify,
    normalise,
    parse_transform,
    replay,
    verify,
)
from tpc_core.attacks import METHODS, attack
from tpc_core.attacks.space import attack_space
from tpc_core.errors import InvalidValue, TpcError, UnknownName, UnsupportedRequest
from tpc_core.smoothing import Smoothing

CLOUD = Cloud(normalise(torch.randn(24, 3, generator=torch.Generator().manual_seed(3))), "blob")


@dataclass(frozen=True)
class Plane:
    """A differentiable half-space: the class changes where a transform has moved the cloud by `margin`."""

    normal: Tensor
    offset: float
    smoothing: Smoothing = field(default_factory=lambda: CoordinateSmoothing(0.05))
    name: str = "plane"
    digest: str = "plane"
    classes: tuple[str, ...] = ("inside", "outside")
    task: str = "classification"

    def module(self, clouds: Tensor) -> Tensor:
        lead = 20 * (self.offset - clouds.flatten(1) @ self.normal.to(clouds))
        return torch.stack([lead, -lead], dim=1)

    def classifier(self, device: torch.device | str = "cpu") -> Callable[[Tensor], Tensor]:
        return self.module


def plane_beyond(transform: str, edge: list[float]) -> Plane:
    """The half-space whose boundary is reached exactly by one attack, in its own direction."""
    if transform in ("l2", "linf"):
        move = torch.full((3 * len(CLOUD),), 1.0)
        move *= edge[0] / (float(move.norm()) if transform == "l2" else 1.0)
    else:
        family = parse_transform(transform)
        points = CLOUD.points.double()
        move = (family.apply(points, family.from_edge(edge)) - points).flatten()
    normal = (move / move.norm()).float()
    return Plane(normal, float(CLOUD.points.flatten() @ normal) + float(move.norm()))


CASES = {
    "z-taper": ([0.3], 0.2, 0.6),
    "z-rotation": ([20.0], 12.0, 40.0),
    "general-rotation": ([30.0, 40.0, 20.0], 12.0, 40.0),
    "z-twist+z-taper+z-rotation": ([15.0, 0.1, 10.0], [9.0, 0.06, 6.0], [30.0, 0.2, 20.0]),
    "linear": ([0.1, 0.0, 0.05, 0.0, -0.1, 0.0, 0.05, 0.0, 0.1], 0.1, 0.4),
    "l2": ([0.5], 0.3, 1.0),
    "linf": ([0.1], 0.05, 0.2),
}


@pytest.mark.parametrize("transform", CASES)
@pytest.mark.parametrize("against", ["smoothed", "base"])
def test_an_attack_is_found_where_there_is_one(transform: str, against: str) -> None:
    edge, _, reachable = CASES[transform]
    model = plane_beyond(transform, edge)
    report = attack(model, CLOUD, transform, reachable, against=against, tries=300)  # type: ignore[arg-type]
    assert report.attack is not None, report.sentence
    assert report.attack.winner == "outside"


@pytest.mark.parametrize("transform", CASES)
def test_what_is_found_lies_inside_the_region(transform: str) -> None:
    edge, _, reachable = CASES[transform]
    report = attack(plane_beyond(transform, edge), CLOUD, transform, reachable, tries=300)
    assert report.attack is not None
    family = parse_transform(transform)
    space = attack_space(family, family.parse_radius(reachable), len(CLOUD))
    z = np.array([report.attack.parameter])
    np.testing.assert_allclose(space.project(z), z, atol=1e-9)


@pytest.mark.parametrize("transform", CASES)
def test_nothing_is_found_where_there_is_nothing(transform: str) -> None:
    edge, safe, _ = CASES[transform]
    if transform == "linear":
        pytest.skip("the safe radius of a linear map is not along one direction only")
    report = attack(plane_beyond(transform, edge), CLOUD, transform, safe, tries=200)
    assert report.attack is None
    assert report.closest.margin > 0


@pytest.mark.parametrize(
    ("transform", "safe"),
    [
        ("z-taper", 0.2),
        ("z-rotation", 12.0),
        ("z-twist+z-taper+z-rotation", [9.0, 0.06, 6.0]),
        ("l2", 0.12),
        ("linf", 0.014),
    ],
)
def test_no_attack_breaks_a_certificate(transform: str, safe: float | list[float]) -> None:
    edge, _, _ = CASES[transform]
    model = plane_beyond(transform, edge)
    certificate = certify(model, CLOUD, transform, safe)
    assert certificate.verdict == "certified", certificate.sentence
    for seed in range(3):
        assert attack(model, CLOUD, transform, safe, tries=200, search_seed=seed).attack is None


def test_a_proven_attack_turns_undecided_into_refuted_and_verifies() -> None:
    model = plane_beyond("l2", [0.1])
    undecided = certify(model, CLOUD, "l2", 0.3)
    assert undecided.verdict == "undecided"
    report = attack(model, CLOUD, "l2", 0.3, tries=200, resume=undecided)
    assert report.attack is not None
    assert report.certificate is not None
    broken = Certificate.from_json(report.certificate.to_json())
    assert verify(broken).verdict == "refuted"
    assert "outside" in broken.sentence
    assert replay(broken, model) == broken.samples == undecided.samples + report.attack.samples


def test_the_same_seed_finds_the_same_attack() -> None:
    model = plane_beyond("z-taper", [0.3])
    first, second = (attack(model, CLOUD, "z-taper", 0.6, tries=100, search_seed=5) for _ in range(2))
    assert first.attack == second.attack is not None
    assert first.evaluations == second.evaluations


def test_each_method_works_alone() -> None:
    model = plane_beyond("z-taper", [0.3])
    for name in METHODS:
        assert attack(model, CLOUD, "z-taper", 0.6, methods=[name], tries=100).attack is not None


def test_a_cancelled_attack_stops_before_its_next_step() -> None:
    calls = 0

    def cancelled() -> bool:
        nonlocal calls
        calls += 1
        return calls > 3

    report = attack(plane_beyond("z-taper", [0.3]), CLOUD, "z-taper", 0.2, tries=100_000, cancelled=cancelled)
    assert report.attack is None
    assert report.evaluations < 20_000


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"against": "nobody"}, InvalidValue),
        ({"tries": 0}, InvalidValue),
        ({"methods": ["magic"]}, UnknownName),
        ({"radius": -1}, InvalidValue),
    ],
)
def test_bad_requests_are_refused(change: dict[str, object], error: type[TpcError]) -> None:
    with pytest.raises(error):
        attack(plane_beyond("z-taper", [0.3]), CLOUD, "z-taper", **{"radius": 0.2, **change})  # type: ignore[arg-type]


def test_segmentation_models_have_no_class_to_attack() -> None:
    model = Plane(torch.zeros(72), 1.0, task="segmentation")
    with pytest.raises(UnsupportedRequest):
        attack(model, CLOUD, "z-taper", 0.2)


def test_options_reach_the_certificate() -> None:
    certificate = certify(plane_beyond("z-taper", [0.3]), CLOUD, "z-taper", 0.1, Options(alpha=0.01, seed=9))
    assert (certificate.alpha, certificate.ledger.seed, certificate.ledger.own_seed) == (0.01, 9, False)
