"""The joint check of scale and shift for linear maps: exact numbers, never below the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, special, stats

from tpc_core.errors import InvalidValue
from tpc_core.statistics import linear_shift
from tpc_core.statistics.chi_square import ERROR, WeightedChiSquare
from tpc_core.statistics.linear_shift import linear_radius, required_p_a


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
    coarse = [required_p_a(0.2, r, 40) for r in (0.05, 0.1, 0.2)]
    assert coarse == sorted(coarse)
    assert required_p_a(0.2, 0.1, 200) <= required_p_a(0.2, 0.1, 40)
    assert required_p_a(0.2, 0.1, 40) > special.ndtr(0.1 / 0.2)


def test_the_largest_linear_radius_is_certified_by_its_own_p_a(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear_shift, "_BOXES", 96)
    radius = linear_radius(0.9, 0.2, tolerance=0.01)
    assert 0.1 < radius < 0.2
    assert required_p_a(0.2, radius, 96) < 0.9
    assert linear_radius(0.5, 0.2) == 0.0


def test_radii_that_have_no_meaning_are_refused() -> None:
    for sigma, radius in ((0.0, 0.1), (-1.0, 0.1), (float("nan"), 0.1), (0.1, 0.0), (0.1, 1.0), (0.1, -0.1)):
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
