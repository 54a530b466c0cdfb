"""Bounds hold, at the level they claim, and are not wider than they need to be."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from tests.classifiers import at_most, exceeds
from tpc_core.ledger import Tally
from tpc_core.proofs.whole import is_top_class
from tpc_core.statistics import (
    best_lower_bound,
    expected_votes,
    fewest_votes,
    log_e,
    lower_bound,
    lower_confidence_bound,
    needed_log_e,
    rejects,
    samples_to_reach,
    saturation,
    tail,
    upper_bound,
)

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


@given(counts, st.floats(1e-6, 0.4))
@settings(max_examples=100, deadline=None)
def test_the_bound_is_the_largest_p_that_the_votes_reject(votes: tuple[int, int], alpha: float) -> None:
    count, total = votes
    bound = lower_confidence_bound(count, total, alpha)
    assert 0 <= bound <= count / total
    assert bound <= lower_bound(count, total, alpha) + 1e-9  # watching costs something, and never gains
    if bound > 0:
        assert rejects(count, total, bound, alpha)
        assert rejects(count, total, 0.9 * bound, alpha)  # the rejected set is an interval
        assert not rejects(count, total, min(bound * (1 + 1e-6) + 1e-9, 1.0), alpha)


@given(st.floats(0.05, 0.999), st.floats(0.0, 1.0))
@settings(max_examples=60, deadline=None)
def test_one_more_vote_never_gains_on_average(q: float, part: float) -> None:
    """E is a supermartingale wherever p <= q: its mean after a block, summed over all outcomes, is at most E."""
    p = part * q
    start_n, start_k = 32, round(32 * q)
    now = float(log_e(start_k, start_n, q))
    outcomes = np.arange(9)
    later = log_e(start_k + outcomes, start_n + 8, q)
    mean = float(special.logsumexp(later + stats.binom.logpmf(outcomes, 8, p)))
    assert mean <= now + 1e-7
    first = float(special.logsumexp(log_e(outcomes, 8, q) + stats.binom.logpmf(outcomes, 8, p)))
    assert first <= 1e-9  # it begins at 1


@pytest.mark.parametrize("p", [0.6, 0.9, 0.99])
def test_watching_the_test_after_every_block_keeps_the_level(p: float) -> None:
    alpha, runs, blocks = 0.1, 4_000, 64
    rng = np.random.default_rng(0)
    sums = np.cumsum(rng.binomial(32, p, size=(runs, blocks)), axis=1)
    n = 32 * np.arange(1, blocks + 1)
    passed = np.max(log_e(sums, n, p), axis=1) >= needed_log_e(alpha)
    assert at_most(int(passed.sum()), runs, alpha)
    fixed = sum(
        any(lower_bound(int(k), int(m), alpha) > p for k, m in zip(row[4:], n[4:], strict=True))
        for row in sums[:400]
    )
    assert exceeds(fixed, 400, alpha)  # a fixed bound does not bear being watched


@pytest.mark.parametrize(
    ("p", "q", "most"),
    [
        (0.99, 0.6, 40),
        (0.99, 0.77, 52),
        (0.99, 0.9, 160),
        (0.98, 0.95, 850),
        (0.998, 0.98, 680),
        (0.7, 0.6, 570),
    ],
)
def test_votes_come_near_walds_bound(p: float, q: float, most: float) -> None:
    """The mean number of votes until the test passes, read every 32, against no test of this power needing fewer."""
    rng = np.random.default_rng(1)
    sums = np.cumsum(rng.binomial(32, p, size=(400, 200)), axis=1)
    passed = log_e(sums, 32 * np.arange(1, 201), q) >= needed_log_e(0.001)
    assert passed.any(axis=1).mean() > 0.99
    mean = float(np.mean(32 * (1 + np.argmax(passed, axis=1))))
    assert mean <= most
    assert mean >= fewest_votes(p, q, 0.001) * 0.95
    assert expected_votes(p, q, 0.001, 32) == pytest.approx(mean, rel=0.6)


def test_the_running_maximum_takes_the_best_reading() -> None:
    hits = np.array([32, 64, 70, 90])
    totals = np.array([32, 64, 96, 128])
    alone = [lower_confidence_bound(int(k), int(n), 0.01) for k, n in zip(hits, totals, strict=True)]
    assert best_lower_bound(hits, totals, 0.01) == pytest.approx(max(alone), abs=1e-10)
    assert best_lower_bound(hits[:0], totals[:0], 0.01) == 0.0


def test_far_tails_underflow_to_nothing_rather_than_pass() -> None:
    assert not rejects(0, 1 << 20, 0.999999, 0.1)
    assert not rejects(10, 32, 1.0, 0.1)
    assert not rejects(32, 32, 1.0 - 1e-17, 0.1)
    assert float(log_e(0, 1 << 22, 0.9)) < 0


@pytest.mark.parametrize("shares", [(0.499, 0.501), (0.33, 0.34, 0.33), (0.2, 0.45, 0.35), (0.05, 0.1, 0.85)])
def test_a_class_that_is_not_on_top_is_rarely_called_so(shares: tuple[float, ...]) -> None:
    """Class 0 is not the top class; its votes are read after every block."""
    alpha, runs, blocks = 0.1, 1_000, 24
    rng = np.random.default_rng(3)
    wrong = 0
    for _ in range(runs):
        tally = Tally((len(shares),), rng.multinomial(32, shares, size=blocks))
        wrong += any(
            is_top_class(Tally((len(shares),), tally.blocks[:size]), 0, alpha) for size in (1, 6, 24)
        )
    assert at_most(wrong, runs, alpha)


def test_every_rival_must_fall() -> None:
    """A strong lead over the second class says nothing about the third."""
    ahead_of_one = Tally((3,), np.array([[20, 0, 12]] * 3))
    assert not is_top_class(ahead_of_one, 0, 0.001)
    assert is_top_class(Tally((3,), np.array([[28, 2, 2]] * 3)), 0, 0.001)
    assert not is_top_class(Tally((3,)), 0, 0.001)


@given(st.floats(0.5, 0.999), st.floats(0.001, 0.1))
@settings(max_examples=30, deadline=None)
def test_the_promised_number_of_samples_is_enough(threshold: float, alpha: float) -> None:
    p = min(threshold + 0.05, (1 + threshold) / 2)
    total = samples_to_reach(threshold, p, alpha)
    assert total is not None
    assert lower_bound(math.floor(p * total), total, alpha) > threshold
    assert samples_to_reach(threshold, threshold, alpha) is None
