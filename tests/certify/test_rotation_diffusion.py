"""Rotation diffusion: the heat kernel is drawn faithfully, and no set of rotations loses more than the rule allows."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import integrate, special, stats

from tests.classifiers import Hemisphere, small_cloud
from tpc_core import RotationDiffusion, certify, parse_transform
from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.smoothing import TorchNoise, smoothing_from_json
from tpc_core.smoothing.diffusion import HeatFlow
from tpc_core.transforms import GeneralRotation, Transform

DEGREES = (5.0, 15.0, 25.0, 45.0)


def heat_kernel(angle: np.ndarray, sigma: float) -> np.ndarray:
    """The density against the uniform rotations, as the series of the characters of SO(3)."""
    degree = np.arange(200)[:, None]
    decay = (2 * degree + 1) * np.exp(-degree * (degree + 1) * sigma**2 / 2)
    return (decay * np.sin((degree + 0.5) * angle) / np.sin(angle / 2)).sum(axis=0)


def angle_density(angle: np.ndarray, sigma: float) -> np.ndarray:
    """The density of the angle of a diffused rotation; uniform rotations have (1 - cos) / pi."""
    return heat_kernel(angle, sigma) * (1 - np.cos(angle)) / math.pi


def angles_between(clouds: torch.Tensor) -> np.ndarray:
    """The angles of the rotations that the images (B, 3, 3) of the identity cloud show."""
    trace = clouds.diagonal(dim1=-2, dim2=-1).sum(dim=-1)
    return torch.arccos(((trace - 1) / 2).clamp(-1, 1)).numpy()


def least_share(p_a: float, turn: float, sigma: float) -> float:
    """What the worst set of rotations keeps of p_A under an attack by the angle `turn` (Neyman and Pearson).

    Rotations are laid out by their angle and by the cosine between their axis and the attack's; the likelihood ratio
    depends on nothing else.
    """
    count = 900
    angle = (np.arange(count) + 0.5) * math.pi / count
    cosine = -1 + (np.arange(count) + 0.5) * 2 / count
    r, c = np.meshgrid(angle, cosine, indexing="ij")
    mass = (1 - np.cos(r)) / math.pi * (math.pi / count) / count
    half = np.abs(np.cos(r / 2) * math.cos(turn / 2) + np.sin(r / 2) * math.sin(turn / 2) * c)
    turned = np.maximum(2 * np.arccos(np.minimum(half, 1)), 1e-9)
    before = (heat_kernel(angle, sigma)[:, None] * mass).ravel()
    grid = np.linspace(1e-6, math.pi, 20_001)
    after = (np.interp(turned, grid, heat_kernel(grid, sigma)) * mass).ravel()
    order = np.argsort(after / np.maximum(before, 1e-300))
    return float(np.interp(p_a, np.cumsum(before[order]), np.cumsum(after[order])))


@pytest.mark.parametrize("degrees", DEGREES)
def test_drawn_rotations_follow_the_heat_kernel(degrees: float) -> None:
    smoothing = RotationDiffusion(math.radians(degrees))
    noise = TorchNoise(torch.Generator().manual_seed(3))
    clouds = smoothing.perturb(torch.eye(3, dtype=torch.float64).expand(40_000, 3, 3), noise)
    grid = np.linspace(1e-5, math.pi, 8_001)
    shares = integrate.cumulative_trapezoid(angle_density(grid, smoothing.sigma), grid, initial=0)
    assert shares[-1] == pytest.approx(1, abs=1e-4)
    found = stats.kstest(angles_between(clouds), lambda angle: np.interp(angle, grid, shares))
    assert found.pvalue > 1e-3
    plain = smoothing.sigma * np.random.default_rng(0).standard_normal((400_000, 3))
    unweighted = stats.kstest(
        np.linalg.norm(plain, axis=1), lambda angle: np.interp(angle, grid, shares)
    )  # a Gaussian of rotation vectors without the weight is another law, and the test can tell
    assert degrees < 20 or unweighted.pvalue < 1e-6


@pytest.mark.parametrize("degrees", DEGREES)
def test_axes_of_drawn_rotations_are_uniform(degrees: float) -> None:
    smoothing = RotationDiffusion(math.radians(degrees))
    clouds = smoothing.perturb(
        torch.eye(3, dtype=torch.float64).expand(20_000, 3, 3), TorchNoise(torch.Generator().manual_seed(4))
    )
    skew = torch.stack(
        [
            clouds[:, 1, 2] - clouds[:, 2, 1],
            clouds[:, 2, 0] - clouds[:, 0, 2],
            clouds[:, 0, 1] - clouds[:, 1, 0],
        ],
        1,
    )
    heights = (skew / skew.norm(dim=1, keepdim=True)).numpy()
    for height in heights.T:  # Archimedes: the height of a uniform point of the sphere is uniform
        assert stats.kstest(height, stats.uniform(-1, 2).cdf).pvalue > 1e-3


@pytest.mark.parametrize("p_a", [0.55, 0.7, 0.9, 0.99, 0.999])
@pytest.mark.parametrize("turn", [3.0, 10.0, 30.0])
@pytest.mark.parametrize("degrees", [10.0, 20.0, 35.0, 45.0])
def test_no_set_of_rotations_loses_more_than_the_rule_allows(degrees: float, turn: float, p_a: float) -> None:
    smoothing = RotationDiffusion(math.radians(degrees))
    promised = float(special.ndtr(special.ndtri(p_a) - math.radians(turn) / smoothing.effective_sigma))
    exact = least_share(p_a, math.radians(turn), smoothing.sigma)
    assert exact >= promised - 2e-5  # the quadrature's own error
    assert exact <= promised + 0.005  # and the rule gives next to nothing away


def test_the_rule_would_fail_with_a_larger_sigma() -> None:
    sigma, turn = math.radians(20), math.radians(20)
    bold = float(special.ndtr(special.ndtri(0.9) - turn / (1.05 * sigma)))
    assert least_share(0.9, turn, sigma) < bold - 1e-3


@pytest.mark.parametrize("name", ["z-rotation", "x-rotation", "general-rotation", "zyx-rotation"])
@pytest.mark.parametrize("degrees", [2.0, 5.0, 40.0, 80.0])
def test_the_turning_angle_holds_the_whole_region(name: str, degrees: float) -> None:
    family = parse_transform(name)
    radii = family.parse_radius(degrees)
    angle = family.turning_angle(radii)
    assert angle is not None
    generator = np.random.default_rng(1)
    inside = generator.uniform(-1, 1, (20_000, family.dim)) * math.radians(degrees)
    corners = (
        math.radians(degrees) * np.array(np.meshgrid(*[[-1.0, 1.0]] * family.dim)).reshape(family.dim, -1).T
    )
    places = np.concatenate([inside, corners]) if name != "general-rotation" else inside
    places = places[family.region(radii).gauge(places) <= 1]
    clouds = family.apply(torch.eye(3, dtype=torch.float64), torch.from_numpy(places))
    largest = float(angles_between(clouds).max())
    assert largest <= angle + 1e-9
    assert largest >= 0.98 * angle


@pytest.mark.parametrize("degrees", [1e-9, 1e-4, 0.01, 0.0999, 0.1001, 1, 30, 89.999, 90, 120, 179, 180])
def test_the_turn_of_an_euler_box_is_never_too_small(degrees: float) -> None:
    """Tiny boxes do not cancel to nothing, and from a quarter turn on the box holds half turns."""
    family, phi = parse_transform("zyx-rotation"), math.radians(degrees)
    angle = family.turning_angle((phi,))
    corner = family.apply(
        torch.eye(3, dtype=torch.float64), torch.tensor([phi, -phi, phi], dtype=torch.float64)
    )
    # |R - 1|_F = sqrt(8) sin(angle / 2): exact for small angles, where the arccosine of the trace is not.
    gap = float((corner - torch.eye(3, dtype=torch.float64)).norm())
    assert angle is not None
    assert angle >= 2 * math.asin(min(gap / math.sqrt(8), 1.0)) * (1 - 1e-9)
    assert angle == math.pi if degrees >= 90 else angle < math.pi


def test_five_degrees_of_zyx_are_less_than_nine_degrees_of_turn() -> None:
    angle = parse_transform("zyx-rotation").turning_angle((math.radians(5),))
    assert math.degrees(angle or 0.0) == pytest.approx(8.78, abs=0.005)


@pytest.mark.parametrize("name", ["general-rotation", "zyx-rotation", "y-rotation"])
@pytest.mark.parametrize("p_a", [0.5, 0.6, 0.9, 0.999])
def test_the_largest_radius_needs_just_the_given_p_a(name: str, p_a: float) -> None:
    rule = HeatFlow(RotationDiffusion(math.radians(20)), parse_transform(name))
    (largest,) = rule.largest(p_a, (0.1,))
    if p_a == 0.5:
        assert largest == 0
        return
    assert rule.needed((largest,)).q < p_a < rule.needed((largest * 1.0001,)).q


def test_what_is_not_a_rotation_is_refused() -> None:
    with pytest.raises(UnsupportedRequest, match="cannot certify z-taper"):
        certify(Hemisphere(RotationDiffusion(0.3)), small_cloud(), "z-taper", 0.1)


@pytest.mark.parametrize("sigma", [0.0, -3.0, 50.0, math.nan])
def test_a_sigma_that_cannot_be_drawn_is_refused(sigma: float) -> None:
    with pytest.raises(InvalidValue, match="45"):
        smoothing_from_json({"kind": "diffusion", "sigma": sigma})


def test_sampling_errs_by_less_than_any_bound_can_show() -> None:
    assert max(RotationDiffusion(math.radians(d)).sampling_error for d in (1, 10, 30, 45)) < 1e-8


def test_every_rotation_knows_its_angle_and_nothing_else_has_one() -> None:
    from tpc_core import all_transforms

    def turns(transform: Transform) -> bool:
        return transform.turning_angle((0.1,) * len(transform.radii)) is not None

    named = {transform.name for transform in all_transforms() if turns(transform)}
    assert named == {"x-rotation", "y-rotation", "z-rotation", GeneralRotation().name, "zyx-rotation"}
