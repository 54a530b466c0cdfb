"""Bounds hold, at the level they claim, and are not wider than they need to be."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from tests.classifiers import at_most, exceeds
from tpc_core.statistics import (
    AnytimeMonitor,
    BetaPrior,
    StagedMonitor,
    anytime_lower_bound,
    geometric_stages,
    lower_bound,
    samples_to_reach,
    saturation,
    tail,
    top_class_p_value,
    upper_bound,
)
from tpc_core.statistics.top_class import anytime_top_class_p_value

counts = st.integers(1, 5_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
alphas = st.floats(1e-6, 0.4)


@given(counts, alphas)
@settings(max_examples=150, deadline=None)
def test_clopper_pearson_is_that_of_scipy_and_never_above(votes: tuple[int, int], alpha: float) -> None:
    count, total = votes
    theirs = stats.binomtest(count, total, alternative="greater").proportion_ci(1 - alpha, method="exact").low
    ours = lower_bound(count, total, alpha)
    assert ours == pytest.approx(theirs, abs=1e-9)
    assert ours == 0 or tail(count, total, ours) <= alpha
    above = stats.binomtest(count, total, alternative="less").proportion_ci(1 - alpha, method="exact").high
    assert upper_bound(count, total, alpha) == pytest.approx(above, abs=1e-9)
    assert lower_bound(count, total, alpha) <= count / total <= upper_bound(count, total, alpha)


@given(st.integers(1, 40), st.floats(0.01, 0.99), st.floats(0.001, 0.3))
@settings(max_examples=150, deadline=None)
def test_the_lower_bound_misses_with_probability_at_most_alpha(total: int, p: float, alpha: float) -> None:
    """Exactly, by summing over all outcomes."""
    missed = sum(stats.binom.pmf(k, total, p) for k in range(total + 1) if lower_bound(k, total, alpha) > p)
    assert missed <= alpha * (1 + 1e-9)


@given(st.integers(1, 100_000), st.floats(1e-9, 0.5))
@settings(max_examples=100, deadline=None)
def test_saturation_is_alpha_to_the_one_over_n(total: int, alpha: float) -> None:
    assert saturation(total, alpha) == pytest.approx(alpha ** (1 / total), rel=1e-9)
    assert saturation(total, alpha) <= alpha ** (1 / total) * (1 + 1e-15)


def test_a_thousand_votes_reach_2_46_sigma_at_most() -> None:
    assert special.ndtri(saturation(1000, 0.001)) == pytest.approx(2.46, abs=0.005)


@given(counts, alphas)
@settings(max_examples=100, deadline=None)
def test_the_anytime_bound_is_valid_and_below_the_fixed_one(votes: tuple[int, int], alpha: float) -> None:
    count, total = votes
    bound = anytime_lower_bound(count, total, alpha)
    assert 0 <= bound <= count / total
    assert bound <= lower_bound(count, total, alpha) + 1e-12
    if bound > 0:  # M_n(bound) >= 1 / alpha: any p below is refuted
        log_m = special.betaln(0.5 + count, 0.5 + total - count) - special.betaln(0.5, 0.5)
        log_m -= count * math.log(bound) + (total - count) * math.log1p(-bound)
        assert log_m >= -math.log(alpha) - 1e-7


@pytest.mark.parametrize("p", [0.55, 0.9, 0.99])
def test_watching_the_anytime_bound_after_every_vote_keeps_the_level(p: float) -> None:
    alpha, runs, votes = 0.1, 2_000, 400
    rng = np.random.default_rng(0)
    sums = np.cumsum(rng.random((runs, votes)) < p, axis=1)
    n = np.arange(1, votes + 1)
    # The bound exceeds p exactly where the martingale at p has passed 1 / alpha from above.
    log_m = special.betaln(0.5 + sums, 0.5 + n - sums) - special.betaln(0.5, 0.5)
    log_m -= sums * math.log(p) + (n - sums) * math.log1p(-p)
    suspects = np.argwhere((log_m >= -math.log(alpha)) & (sums > p * n))
    missed = {int(run) for run, i in suspects if anytime_lower_bound(int(sums[run, i]), int(n[i]), alpha) > p}
    assert at_most(len(missed), runs, alpha)
    fixed = sum(
        any(lower_bound(int(sums[run, i]), int(n[i]), alpha) > p for i in range(20, votes, 20))
        for run in range(400)
    )
    assert p == 0.99 or exceeds(fixed, 400, alpha)  # the fixed bound does not bear being watched


def test_the_sum_of_stage_levels_is_alpha() -> None:
    for first, largest in ((64, 16_384), (128, 32_768), (10, 10), (10, 39)):
        monitor = geometric_stages(first, largest)
        assert sum(monitor.level(i, 0.02) for i in range(len(monitor.sizes))) == pytest.approx(0.02)
        assert monitor.sizes[-1] <= largest


def test_staged_bounds_miss_at_most_alpha_over_all_stages_together() -> None:
    monitor, p, alpha, runs = geometric_stages(32, 2_048), 0.8, 0.1, 2_000
    rng = np.random.default_rng(1)
    sums = np.cumsum(rng.binomial(np.diff((0, *monitor.sizes)), p, size=(runs, len(monitor.sizes))), axis=1)
    missed = sum(any(monitor.bound(int(k), stage, alpha) > p for stage, k in enumerate(row)) for row in sums)
    assert at_most(missed, runs, alpha)


def test_monitors_refuse_schedules_that_overspend() -> None:
    from tpc_core.errors import InvalidValue

    for sizes, shares in (
        ((10, 20), (0.6, 0.6)),
        ((20, 10), (0.5, 0.5)),
        ((), ()),
        ((10,), (0.0,)),
        ((10,), (1.0, 0.0)),
    ):
        with pytest.raises(InvalidValue):
            StagedMonitor(sizes, shares)
    with pytest.raises(InvalidValue):
        BetaPrior(0, 1)
    with pytest.raises(InvalidValue, match="not one of the stages"):
        AnytimeMonitor((10, 20)).stage_of(15)


@given(st.lists(st.integers(0, 60), min_size=2, max_size=5), st.integers(0, 4))
@settings(max_examples=150, deadline=None)
def test_the_top_class_test_is_binomial_against_the_runner_up(votes: list[int], claimed: int) -> None:
    claimed %= len(votes)
    rival = max(v for i, v in enumerate(votes) if i != claimed)
    total = votes[claimed] + rival
    expected = (
        1.0 if total == 0 else stats.binomtest(votes[claimed], total, 0.5, alternative="greater").pvalue
    )
    assert top_class_p_value(votes, claimed) == pytest.approx(expected, abs=1e-12)
    winner = votes.index(max(votes))
    assert top_class_p_value(votes) == pytest.approx(min(1.0, 2 * top_class_p_value(votes, winner)))
    assert anytime_top_class_p_value(votes, claimed) >= 0.0
    assert anytime_top_class_p_value(votes, claimed) <= 1.0


@pytest.mark.parametrize("shares", [(0.499, 0.501), (0.33, 0.34, 0.33), (0.2, 0.45, 0.35), (0.05, 0.1, 0.85)])
def test_a_class_that_is_not_on_top_is_rarely_called_so(shares: tuple[float, ...]) -> None:
    """Class 0 is not the top class; fixed sample, and watched after every vote."""
    alpha, runs, votes = 0.1, 1_000, 150
    rng = np.random.default_rng(3)
    fixed, watched = 0, 0
    for _ in range(runs):
        drawn = rng.choice(len(shares), size=votes, p=shares)
        table = np.cumsum(drawn[:, None] == np.arange(len(shares)), axis=0)
        fixed += top_class_p_value(table[-1].tolist(), 0) <= alpha
        leading = np.flatnonzero(table[:, 0] > table[:, 1:].max(axis=1))
        watched += any(anytime_top_class_p_value(table[i].tolist(), 0) <= alpha for i in leading)
    assert at_most(fixed, runs, alpha)
    assert at_most(watched, runs, alpha)


def test_the_winner_of_the_same_votes_takes_the_two_sided_test() -> None:
    alpha, runs = 0.1, 2_000
    rng = np.random.default_rng(4)
    table = rng.multinomial(200, [0.5, 0.5], size=runs)
    assert at_most(sum(top_class_p_value(row.tolist()) <= alpha for row in table), runs, alpha)
    one_sided = sum(top_class_p_value(row.tolist(), int(row.argmax())) <= alpha for row in table)
    assert exceeds(one_sided, runs, alpha)


@given(st.floats(0.5, 0.999), st.floats(0.001, 0.1))
@settings(max_examples=30, deadline=None)
def test_the_promised_number_of_samples_is_enough(threshold: float, alpha: float) -> None:
    p = min(threshold + 0.05, (1 + threshold) / 2)
    total = samples_to_reach(threshold, p, alpha)
    assert total is not None
    assert lower_bound(math.floor(p * total), total, alpha) > threshold
    assert samples_to_reach(threshold, threshold, alpha) is None
