"""The joint check of scale and shift for linear maps: exact numbers, never below the truth."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from scipy import optimize, special, stats

from tpc_core.errors import InvalidValue
from tpc_core.models import list_models
from tpc_core.statistics.chi_square import ERROR, WeightedChiSquare
from tpc_core.statistics.linear_shift import BOXES, STEP, TABLE, computed_p_a, linear_radius, required_p_a


@pytest.mark.parametrize(
    ("sigma", "radius", "at_most", "theory"),
    [(0.2, 0.2, 0.950, 0.944), (0.2, 0.1, 0.780, 0.775), (0.15, 0.2, 0.979, 0.977)],
)
def test_the_figures_of_the_theory(sigma: float, radius: float, at_most: float, theory: float) -> None:
    needed = required_p_a(sigma, radius)
    assert theory - 5e-4 <= needed <= at_most


def _needed_at(s: np.ndarray, sigma: float, radius: float) -> float:
    """The exact p_A needed at one s, with an independent cdf (numerical convolution)."""
    slack = radius**2 - float(np.sum((s - 1) ** 2))
    shift = math.sqrt(float(np.sum(((s - 1) / s) ** 2)) + slack / float(s.min()) ** 2)
    target = float(special.ndtr(shift / sigma))
    clean, attacked = 1 - 1 / s**2, s**2 - 1
    if np.allclose(s, 1):
        return target
    threshold = optimize.brentq(lambda t: _cdf(attacked, t) - target, -60, 60, xtol=1e-9)
    return _cdf(clean, threshold)


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(96)


def _cdf(weights: np.ndarray, value: float) -> float:
    """P(sum w_j chi^2_3 <= value) by two nested quadratures over quantiles of the first two terms."""
    order = np.argsort(np.abs(weights))
    u = (_NODES + 1) / 2
    quantiles = stats.chi2.ppf(u, 3)
    first, second = weights[order[0]] * quantiles[:, None], weights[order[1]] * quantiles[None, :]
    rest = value - first - second
    w = weights[order[2]]
    inside = special.chdtr(3, np.maximum(rest / w, 0.0))
    values = inside if w > 0 else 1 - inside
    return float(_WEIGHTS @ values @ _WEIGHTS / 4)


@pytest.mark.parametrize(("sigma", "radius"), [(0.2, 0.2), (0.15, 0.2)])
def test_no_random_map_needs_more_than_the_required_p_a(sigma: float, radius: float) -> None:
    rng = np.random.default_rng(0)
    needed = required_p_a(sigma, radius)
    worst = 0.0
    for k in range(30):
        direction = rng.normal(size=3)
        length = radius * (1.0 if k % 2 else rng.uniform() ** (1 / 3))
        s = 1 + direction / np.linalg.norm(direction) * length
        worst = max(worst, _needed_at(s, sigma, radius))
    for s in (
        [1, 1, 1 - radius],
        [1, 1, 1 + radius],
        [1 - radius / math.sqrt(3)] * 3,
        [1 + radius / math.sqrt(3)] * 3,
    ):
        worst = max(worst, _needed_at(np.asarray(s) + 1e-7, sigma, radius))
    assert worst <= needed + 1e-4  # the quadrature of this test is good to 1e-4
    assert worst >= needed - 0.02


def test_no_simulated_linear_attack_beats_the_certificate() -> None:
    """Neyman-Pearson sets for concrete attacks A: if P_clean(S) is the required p_A, P_attacked(S) is above 1/2."""
    sigma, radius, draws = 0.2, 0.2, 60_000
    needed = required_p_a(sigma, radius)
    rng = np.random.default_rng(5)
    for _ in range(6):
        attack = rng.normal(size=(3, 3))
        attack *= radius / np.linalg.norm(attack)
        stretch = np.eye(3) + attack
        noise = rng.normal(size=(2, draws, 3, 3)) * sigma
        clean, attacked = noise[0], attack + noise[1] @ stretch

        def ratio(m: np.ndarray, stretch: np.ndarray = stretch, attack: np.ndarray = attack) -> np.ndarray:
            original = (m - attack) @ np.linalg.inv(stretch)
            return (np.sum(m**2, axis=(1, 2)) - np.sum(original**2, axis=(1, 2))) / (2 * sigma**2)

        border = np.quantile(ratio(clean), needed)
        assert np.mean(ratio(attacked) <= border) > 0.5 - 4 * 0.5 / math.sqrt(draws)


def test_a_larger_radius_needs_more_and_more_boxes_need_less() -> None:
    coarse = [computed_p_a(0.2, r, 40) for r in (0.05, 0.1, 0.2)]
    assert coarse == sorted(coarse)
    fine = [computed_p_a(0.2, 0.1, boxes) for boxes in (200, 0, 40, 200)]  # in any order
    assert fine[0] == fine[3] < fine[2] < fine[1]
    assert fine[0] > special.ndtr(0.1 / 0.2)


def test_the_table_holds_what_would_be_computed() -> None:
    """In full for some radii of each sigma; for all others, coarser boxes need no less."""
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    assert (table["boxes"], table["step"]) == (BOXES, STEP)
    assert table["needed"]
    for sigma, needed in table["needed"].items():
        assert all(0.5 <= low <= high <= 1.0 for low, high in itertools.pairwise(needed))
        assert needed[-1] == 1.0
        for radius in (0.033, 0.1, 0.2, STEP * (len(needed) - 1)):
            expected = computed_p_a(float(sigma), radius, BOXES)
            assert required_p_a(float(sigma), radius) == pytest.approx(expected, abs=1e-9)
        for steps in range(1, len(needed), 7):
            coarse = computed_p_a(float(sigma), STEP * steps, 8)
            assert special.ndtr(STEP * steps / float(sigma)) <= needed[steps - 1] <= coarse + 1e-9


def test_every_checkpoint_for_linear_maps_finds_its_sigma_in_the_table() -> None:
    known = json.loads(TABLE.read_text(encoding="utf-8"))["needed"]
    sigmas = [
        card.smoothing["sigma"][0] for card in list_models() if card.smoothing.get("transform") == "linear"
    ]
    assert {repr(float(sigma)) for sigma in sigmas} == set(known)


@pytest.mark.parametrize("sigma", [0.2, 0.17])
def test_the_largest_linear_radius_is_certified_by_its_own_p_a(sigma: float) -> None:
    """0.2 is in the table, 0.17 is computed."""
    radius = linear_radius(0.9, sigma)
    assert 0.1 < radius < 0.2
    assert required_p_a(sigma, radius) < 0.9 <= required_p_a(sigma, radius + STEP)
    assert required_p_a(sigma, radius * (1 - 1e-12)) < 0.9
    assert linear_radius(0.5, sigma) == 0.0


def test_radii_that_have_no_meaning_are_refused() -> None:
    bad = [(0.0, 0.1), (-1.0, 0.1), (float("nan"), 0.1), (0.1, 0.0), (0.1, 1.0), (0.1, -0.1), (0.2, 1.0)]
    for sigma, radius in bad:
        with pytest.raises(InvalidValue):
            required_p_a(sigma, radius)


@pytest.mark.parametrize(
    "weights",
    [
        (1.0, 1.0, 1.0),
        (0.5, 0.2, 0.1),
        (1.0, -0.5, 0.3),
        (-1.0, -0.2, -0.01),
        (1e-6, 1.0, 0.5),
        (0.3, 0.0, 0.0),
        (-0.3, 0, 0),
        (0.0, 0.4, -0.4),
    ],
)
def test_weighted_chi_square_against_monte_carlo(weights: tuple[float, ...]) -> None:
    rng = np.random.default_rng(7)
    draws = 200_000
    values = rng.chisquare(3, size=(draws, 3)) @ np.asarray(weights)
    cdf = WeightedChiSquare(weights)
    for level in (0.01, 0.2, 0.5, 0.9, 0.99):
        x = float(np.quantile(values, level))
        assert cdf.cdf(x) == pytest.approx(level, abs=5 * math.sqrt(level * (1 - level) / draws) + 1e-5)
    grid = [cdf.cdf(float(x)) for x in np.linspace(*cdf.bracket(), 200)]
    assert all(b >= a - 2 * ERROR for a, b in zip(grid, grid[1:], strict=False))  # noqa: RUF007


def test_weighted_chi_square_is_exact_to_its_stated_error() -> None:
    for weight in (0.01, 0.3, 1.0, 7.0):
        equal, one = WeightedChiSquare((weight,) * 3), WeightedChiSquare((weight, 0.0, 0.0))
        for x in (0.1, 1.0, 5.0, 9.0, 20.0, 40.0):
            assert equal.cdf(x * weight) == pytest.approx(special.chdtr(9, x), abs=ERROR)
            assert one.cdf(x * weight) == pytest.approx(special.chdtr(3, x), abs=ERROR)
            assert WeightedChiSquare((weight, weight, 0.0)).cdf(x * weight) == pytest.approx(
                special.chdtr(6, x), abs=ERROR
            )
            nearly = WeightedChiSquare((weight, weight * 1e-7, 0.0))
            assert nearly.cdf(x * weight) == pytest.approx(special.chdtr(3, x), abs=ERROR + 1e-6)
    assert WeightedChiSquare((0.0, 0.0, 0.0)).cdf(0.0) == 1.0
