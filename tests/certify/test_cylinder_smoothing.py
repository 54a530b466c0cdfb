"""Cylinder smoothing: an attack of turns and taper shifts one Gaussian, by just what the rule says."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.certificate.made import changed
from tests.classifiers import Turntable, small_cloud, turntable_cloud, turntable_smoothing
from tpc_core import CylinderSmoothing, certify, parse_transform
from tpc_core.certificate import Certificate
from tpc_core.certify import Options
from tpc_core.errors import InvalidCertificate, InvalidValue, UnsupportedRequest
from tpc_core.smoothing import Cover, OneProbability, rule_for, smoothing_from_json
from tpc_core.transforms import Composition, Rotation, Taper, Twist
from tpc_core.verify import case_of, replay, verify

SMOOTHING = CylinderSmoothing("z", 0.06, math.radians(30), math.radians(10))
ALL = "z-twist+z-taper+z-rotation"
POINTS = small_cloud().points.double().numpy()
TURNTABLE = Turntable(turntable_smoothing(math.radians(10)), threshold=4.0)


class GivenNoise:
    """Hands out the numbers that it was given, in their order."""

    def __init__(self, *draws: Tensor) -> None:
        self.draws: Iterator[Tensor] = iter(draws)

    def normal(self, *shape: int) -> Tensor:
        draw = next(self.draws)
        assert draw.shape == shape
        return draw

    def uniform(self, *shape: int) -> Tensor:
        raise AssertionError("no uniform number is needed")


def drawn(seed: int, clouds: int = 50) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """A cloud (N, 3), attacks (B, 3) as twist, taper and rotation, angles (B, 2) and noise (B, N, 3)."""
    generator = torch.Generator().manual_seed(seed)
    points = small_cloud(9).points.double()
    attacks = torch.randn(clouds, 3, generator=generator, dtype=torch.float64) * torch.tensor([1.0, 0.4, 1.0])
    angles = torch.randn(clouds, 2, generator=generator, dtype=torch.float64)
    noise = torch.randn(clouds, *points.shape, generator=generator, dtype=torch.float64)
    return points, attacks, angles, noise


@pytest.mark.parametrize("order", [ALL, "z-taper+z-rotation+z-twist", "z-rotation+z-twist+z-taper"])
def test_an_attack_shifts_the_angles_and_the_tapered_cloud(order: str) -> None:
    """perturb(attacked x; angles, n) = U(angles + attack) (tapered x + n seen from the turned frame)."""
    points, attacks, angles, noise = drawn(1)
    family = parse_transform(order)
    assert isinstance(family, Composition)
    columns = {"z-twist": 0, "z-taper": 1, "z-rotation": 2}
    attacked = family.apply(points, attacks[:, [columns[part.name] for part in family.parts]])
    seen = SMOOTHING.perturb(attacked, GivenNoise(angles, noise))

    total = (
        angles * (torch.tensor([SMOOTHING.twist, SMOOTHING.rotation], dtype=torch.float64))
        + attacks[:, [0, 2]]
    )
    angle = total[:, 1:] + total[:, :1] * points[:, 2]
    cos, sin, zero, one = angle.cos(), angle.sin(), torch.zeros_like(angle), torch.ones_like(angle)
    turn = torch.stack([cos, -sin, zero, sin, cos, zero, zero, zero, one], dim=-1).unflatten(-1, (3, 3))
    tapered = Taper().apply(points, attacks[:, 1:2])
    in_frame = tapered + SMOOTHING.sigma * (turn.mT @ noise.unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close(seen, (turn @ in_frame.unsqueeze(-1)).squeeze(-1), rtol=0, atol=1e-12)


def test_noise_before_the_twist_would_not_do() -> None:
    """Noise moves the heights that the twist goes by: the attacked law is then no shift of the first one."""
    points, attacks, angles, noise = drawn(2)
    twisted = Twist().apply(points, attacks[:, :1])
    early = Twist().apply(twisted + SMOOTHING.sigma * noise, angles[:, :1])
    shifted = Twist().apply(points + SMOOTHING.sigma * noise, angles[:, :1] + attacks[:, :1])
    assert (early.norm(dim=2) - shifted.norm(dim=2)).abs().max() > 1e-3


def test_the_reach_is_the_distance_in_the_joint_gaussian() -> None:
    points, attacks, _, _ = drawn(3)
    others = attacks.roll(1, dims=0)
    rule = SMOOTHING.rule(parse_transform(ALL), points.numpy())
    assert isinstance(rule, Cover)
    reach = rule.reach
    boxes = (attacks.numpy(), torch.minimum(attacks, others).numpy(), torch.maximum(attacks, others).numpy())
    moved = Taper().apply(points, attacks[:, 1:2]) - Taper().apply(points, others[:, 1:2])
    shift = torch.stack(
        [
            (attacks[:, 0] - others[:, 0]) / SMOOTHING.twist,
            moved.flatten(1).norm(dim=1) / SMOOTHING.sigma,
            (attacks[:, 2] - others[:, 2]) / SMOOTHING.rotation,
        ]
    )
    exact = shift.norm(dim=0).numpy()
    np.testing.assert_allclose(reach(*boxes, np.zeros(len(exact))) / SMOOTHING.sigma, exact, rtol=1e-12)


@pytest.mark.parametrize("name", ["z-twist", "z-rotation", "z-twist+z-rotation", "z-rotation+z-twist"])
def test_turns_alone_take_one_probability(name: str) -> None:
    rule = rule_for(parse_transform(name), SMOOTHING, POINTS)
    assert isinstance(rule, OneProbability)
    sigmas = {"z-twist": SMOOTHING.twist, "z-rotation": SMOOTHING.rotation}
    radii = tuple(sigmas[part] for part in name.split("+"))  # one sigma each
    from scipy import special

    assert rule.needed(radii).q == pytest.approx(float(special.ndtr(math.sqrt(len(radii)))), abs=1e-9)


@pytest.mark.parametrize(
    "name", ["l2", "linf", "z-shear", "general-rotation", "x-rotation", "x-taper", "linear"]
)
def test_what_does_not_turn_or_taper_about_the_axis_is_refused(name: str) -> None:
    with pytest.raises(UnsupportedRequest, match="cannot certify"):
        rule_for(parse_transform(name), SMOOTHING, POINTS)


def certified(**options: object) -> Certificate:
    return certify(
        TURNTABLE,
        turntable_cloud(),
        "z-taper+z-rotation",
        "taper=0.12,rotation=5",
        Options(**options),  # type: ignore[arg-type]
    )


def test_a_certificate_verifies_and_replays() -> None:
    certificate = certified(seed=5)
    assert certificate.verdict == "certified"
    assert verify(certificate).verdict == "certified"
    assert replay(certificate, TURNTABLE) > 0
    stored = Certificate.from_json(certificate.to_json())
    assert verify(stored).verdict == "certified"


def test_a_certificate_that_claims_more_noise_than_there_was_is_refused() -> None:
    def lie(file: dict[str, Any]) -> None:
        file["model"]["smoothing"]["rotation"] = 60.0

    with pytest.raises(InvalidCertificate, match="seed"):
        verify(changed(certified(), lie))


def test_cells_are_cut_for_the_taper_alone() -> None:
    """The angles fit into one first cell, and are left whole; only the taper is cut."""
    case = case_of(certified(seed=1))
    cells = [standing.cell for standing in case.proof.standing(case.ledger).leaves]
    assert {(cell.low[1], cell.high[1]) for cell in cells if cell} == {(-math.radians(5), math.radians(5))}
    assert len({cell.low[0] for cell in cells if cell}) >= 2


def test_the_grid_of_the_paper_is_refused() -> None:
    with pytest.raises(UnsupportedRequest, match="coordinate noise"):
        certified(protocol="paper")


def test_its_description_is_read_back() -> None:
    assert smoothing_from_json(SMOOTHING.to_json()) == SMOOTHING
    assert SMOOTHING.with_sigmas((0.06, 30.0, 10.0)) == SMOOTHING
    assert "30°" in SMOOTHING.describe()


@pytest.mark.parametrize(
    "wrong",
    [
        {"axis": "w"},
        {"axis": ["z"]},
        {"sigma": 0.0},
        {"twist": math.nan},
        {"rotation": -1},
        {"rotation": "ten"},
        {"sigma": True},
    ],
)
def test_a_bad_description_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidValue):
        smoothing_from_json({**SMOOTHING.to_json(), **wrong})


def test_a_sigma_too_few_is_refused() -> None:
    with pytest.raises(InvalidValue, match="3 sigmas"):
        SMOOTHING.with_sigmas((0.1, 2.0))


def test_rotation_is_a_part_of_it() -> None:
    assert isinstance(SMOOTHING.rule(Rotation(), POINTS), OneProbability)
    assert isinstance(SMOOTHING.rule(Taper(), POINTS), Cover)
    assert SMOOTHING.rule(Rotation("x"), POINTS) is None
