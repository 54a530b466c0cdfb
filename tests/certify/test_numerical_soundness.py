"""What arithmetic promises: bounds are rounded to the safe side in float64; what float32 votes can and cannot hold.

docs/reliability.md, "Numerical soundness", says the same in words.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import Tensor

from tpc_core import Cloud, CoordinateSmoothing, Options, certify, load_model, load_object, normalise
from tpc_core.covers import Cell
from tpc_core.smoothing import NoiseStream, Smoothing
from tpc_core.smoothing.coordinate import FLOAT32_SLACK, NormBall
from tpc_core.smoothing.rules import GaussianShift
from tpc_core.statistics import lower_bound, tail, upper_bound
from tpc_core.transforms import CoordinateNoise, Transform, all_transforms

getcontext().prec = 60


def exact_tail(count: int, total: int, p: Fraction) -> Fraction:
    """P(Binomial(total, p) >= count), without any rounding."""
    return sum(
        (math.comb(total, i) * p**i * (1 - p) ** (total - i) for i in range(count, total + 1)), Fraction(0)
    )


def exact_phi(x: float) -> Decimal:
    """The normal cdf to 50 digits, by its series at 0."""
    value, term, total, k = Decimal(x), Decimal(x), Decimal(x), 1
    while abs(term) > Decimal(10) ** -55:
        k += 2
        term = term * value * value / k
        total += term
    pi = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
    return Decimal("0.5") + total * (-value * value / 2).exp() / (2 * pi).sqrt()


@pytest.mark.parametrize("alpha", [0.05, 0.001, 1e-6, 1e-12])
@pytest.mark.parametrize(
    ("count", "total"), [(1, 1), (1, 96), (60, 96), (95, 96), (96, 96), (150, 288), (287, 288)]
)
def test_a_lower_bound_is_never_rounded_up(count: int, total: int, alpha: float) -> None:
    bound = Fraction(lower_bound(count, total, alpha))
    assert exact_tail(count, total, bound) <= Fraction(alpha)
    # And little is given away: a hair above, the tail passes alpha.
    assert exact_tail(count, total, min(bound * (1 + Fraction(1, 10**9)), Fraction(1))) > Fraction(alpha) * (
        1 - Fraction(1, 10**6)
    )


@pytest.mark.parametrize(("count", "total"), [(0, 96), (1, 96), (60, 96), (95, 96)])
def test_an_upper_bound_is_never_rounded_down(count: int, total: int) -> None:
    bound = Fraction(upper_bound(count, total, 1e-4))
    assert exact_tail(total - count, total, 1 - bound) <= Fraction(1e-4)


@pytest.mark.parametrize(("first", "second"), [(10, 3), (60, 36), (200, 88), (288, 0)])
def test_the_p_value_of_the_top_class_is_exact_to_the_last_digits(first: int, second: int) -> None:
    exact = exact_tail(first, first + second, Fraction(1, 2))
    assert abs(Fraction(tail(first, first + second, 0.5)) - exact) <= exact / 10**12


@pytest.mark.parametrize("distance", [1e-9, 0.1, 0.5, 1.0, 1.4, 2.33, 3.0, 5.0, 7.0])
def test_the_needed_p_a_is_never_rounded_down(distance: float) -> None:
    exact = exact_phi(distance)
    cell = Cell("0:", (0.0,), (1.0,), (0.5,), reach=distance)
    for needed in (
        GaussianShift((1.0,)).needed((distance,)),
        NormBall(1.0, 1.0, 0.0).needed((distance,)),
        cell.threshold,
    ):
        assert Decimal(needed.q) >= exact
        assert Decimal(needed.complement) <= 1 - exact


@pytest.mark.parametrize("p_a", [0.50001, 0.6, 0.9, 0.99, 0.9931, 0.999999])
def test_the_largest_radius_is_one_that_its_own_p_a_certifies(p_a: float) -> None:
    for rule in (GaussianShift((0.3,)), NormBall(0.1, 13.9, 1e-6)):
        (radius,) = rule.largest(p_a, (1.0,))
        if radius > 0:
            assert rule.needed((radius,)).q < p_a


PLACED = [t for t in all_transforms() if not isinstance(t, CoordinateNoise)]


@pytest.mark.parametrize("transform", PLACED, ids=lambda t: t.name)
def test_rounding_the_tested_cloud_to_float32_stays_within_the_slack(transform: Transform) -> None:
    """The counter-measure of covers: every displacement is enlarged by 2^-20 of the cloud's norm."""
    rng = np.random.default_rng(5)
    points = normalise(torch.from_numpy(rng.normal(size=(256, 3)))).double()
    small = transform.region([p.to_internal(p.largest_radius) / 4 for p in transform.radii])
    for z in np.concatenate([small.extremes()[:8], small.sample(8, rng)]):
        moved = transform.apply(points, torch.from_numpy(z))
        lost = float((moved.float().double() - moved).norm())
        assert lost <= FLOAT32_SLACK * float(points.norm())


def test_the_votes_of_a_shipped_model_hardly_depend_on_the_precision() -> None:
    """What float32 does hold, in practice: the same noise in float64 gives the same votes, but for very few."""
    model, cloud = load_model("pointnet64-noise"), load_object("gallery:chair-1", points=64)
    sigma = model.smoothing.sigma  # type: ignore[attr-defined]
    single = model.classifier("cpu")
    exact = load_model("pointnet64-noise").module.double()
    differ = total = 0
    for block in range(8):
        noise = NoiseStream(1, "precision").block(block).normal(32, 64, 3)
        near = single(cloud.points + sigma * noise).argmax(dim=1)
        true = exact(cloud.points.double() + sigma * noise.double()).argmax(dim=1)
        differ, total = differ + int((near != true).sum()), total + len(near)
    assert differ <= 0.004 * total


@dataclass(frozen=True)
class LowBits:
    """A classifier made to cheat: it looks for digits that only a sum with an exact zero can have."""

    smoothing: Smoothing = field(default_factory=lambda: CoordinateSmoothing(0.1))
    name: str = "low bits"
    digest: str = "low bits"
    classes: tuple[str, ...] = ("untouched", "shifted")
    task: str = "classification"

    def classifier(self, device: torch.device | str = "cpu") -> Callable[[Tensor], Tensor]:
        def logits(clouds: Tensor) -> Tensor:
            height = clouds[..., 2].double()
            fine = (height.abs() < 2.0**-10) & (torch.remainder(height, 2.0**-32) != 0)
            untouched = fine.any(dim=1).double()
            return torch.stack([untouched, 1 - untouched], dim=1)

        return logits


def test_what_float32_cannot_guarantee_a_classifier_that_reads_the_last_digits() -> None:
    """The theorems are about exact sums. Rounded sums tell a cheat where they came from, however near two clouds are.

    A flat cloud, and the same cloud lifted by 1/256: well inside the certified radius, and yet every vote changes. No
    network reads such digits by accident, so certificates speak of the ideal smoothed classifier, and say so.
    """
    rng = np.random.default_rng(3)
    flat = np.column_stack([rng.uniform(-0.6, 0.6, size=(600, 2)), np.zeros(600)])
    cloud = Cloud(torch.from_numpy(flat.astype(np.float32)), "flat")
    lifted = cloud.points + torch.tensor([0.0, 0.0, 2.0**-8])
    radius = 0.12
    assert float((lifted - cloud.points).norm()) < radius
    certificate = certify(LowBits(), cloud, "l2", radius, Options())
    assert certificate.verdict == "certified"
    noise = NoiseStream(9, "attack").block(0)
    shaken = CoordinateSmoothing(0.1).perturb(lifted.expand(64, 600, 3), noise)
    votes = LowBits().classifier()(shaken).argmax(dim=1)
    assert int(votes.sum()) == 64
    # In float64 the lifted cloud has fine digits as well: the hole is one of precision, not of the theorem.
    exact = lifted.double() + 0.1 * torch.from_numpy(rng.normal(size=(64, 600, 3)))
    assert int(LowBits().classifier()(exact).argmax(dim=1).sum()) < 8
