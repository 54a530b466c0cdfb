"""The wrong ways (docs/theory.md, "One ledger of votes") are caught by the simulation that the right ones pass."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy import special

from tests.certify.test_soundness import ALPHA, FALSE_CLAIMS, FEW, RUNS, SMALL
from tests.classifiers import DrawnVotes, broken_at, exceeds, simulated_votes
from tpc_core.certify import Options, certify
from tpc_core.statistics import log_e, lower_bound, needed_log_e
from tpc_core.transforms import Taper

CELLS = 8


def _taper_line() -> tuple[np.ndarray, float, float, np.ndarray]:
    """Eight tested tapers up to 0.9, the displacement of a unit taper, sigma, and the true p_A at each."""
    sigma = 0.25
    model = broken_at(SMALL, "z-taper", [0.9], sigma)  # noqa: F841
    length = float(
        Taper().reach(SMALL.points.double().numpy())(
            *(np.full((1, 1), v) for v in (0.0, 0.0, 1.0)), np.ones(1)
        )[0]
    )
    tested = 0.9 * (np.arange(CELLS) + 0.5) / CELLS
    return tested, length, sigma, special.ndtr((0.9 - tested) * length / sigma - 1e-6)


def test_balls_of_neighbours_are_caught() -> None:
    """Any tested point whose ball happens to reach the failure is let vouch for it."""
    tested, length, sigma, truth = _taper_line()
    rng, wrong = np.random.default_rng(0), 0
    for _ in range(RUNS):
        counts = rng.binomial(1_000, truth)
        bounds = np.array([lower_bound(int(k), 1_000, ALPHA) for k in counts])
        balls = sigma * special.ndtri(np.maximum(bounds, 0.5)) / length
        wrong += bool(np.any(tested + balls > 0.9))
    assert exceeds(wrong, RUNS, ALPHA)


def test_a_cell_that_vouches_for_its_own_points_only_is_right() -> None:
    """The same tests, with the failure left to its own cell: no more than alpha."""
    _, _, _, truth = _taper_line()
    rng = np.random.default_rng(0)
    half = 0.9 / CELLS / 2
    _, length, sigma, _ = _taper_line()
    needed = float(special.ndtr(half * length / sigma))
    wrong = sum(lower_bound(int(rng.binomial(1_000, truth[-1])), 1_000, ALPHA) > needed for _ in range(RUNS))
    assert not exceeds(wrong, RUNS, ALPHA)


def test_the_part_that_passed_as_the_region_is_caught() -> None:
    """A shear in a square: four cells, each with a failure at its own side; the claim is whatever passed."""
    side, reach = 8.0, 1.0  # in sigmas
    centre = side - reach
    truth = float(special.ndtr(reach - 1e-6) - special.ndtr(-centre - side))
    needed = float(special.ndtr(reach))
    rng, wrong = np.random.default_rng(1), 0
    for _ in range(RUNS):
        passed = [lower_bound(int(rng.binomial(1_000, truth)), 1_000, ALPHA) > needed for _ in range(4)]
        wrong += any(passed)
    assert exceeds(wrong, RUNS, ALPHA)


def test_radii_tried_downwards_are_caught() -> None:
    """Ten radii, all a hair too large, each with a run of its own; the first that passes is claimed."""
    case = FALSE_CLAIMS["parameter z-rotation"]()
    radii = [20 * (1 + 1e-6 * k) for k in range(10, 0, -1)]
    runs, wrong = 300, 0
    with simulated_votes():
        for run in range(runs):
            for k, radius in enumerate(radii):
                options = Options(alpha=ALPHA, seed=1_000 * run + k, protocol="paper")
                if certify(case.model, case.cloud, "z-rotation", radius, options).verdict == "certified":
                    wrong += 1
                    break
    assert exceeds(wrong, runs, ALPHA)


def test_peeking_at_the_same_level_is_caught() -> None:
    """A bound at level alpha after every batch of 64 votes, until one passes."""
    truth = 0.9
    rng, wrong = np.random.default_rng(2), 0
    for _ in range(RUNS):
        counts = np.cumsum(rng.binomial(64, truth - 1e-9, size=40))
        wrong += any(lower_bound(int(k), 64 * (i + 1), ALPHA) > truth for i, k in enumerate(counts))
    assert exceeds(wrong, RUNS, ALPHA)
    # The test that the library uses bears being read after every block, on the very same question.
    counts = np.cumsum(rng.binomial(32, truth, size=(RUNS, 128)), axis=1)
    evidence = log_e(counts, 32 * np.arange(1, 129), truth)
    right = int(np.sum(evidence.max(axis=1) >= needed_log_e(ALPHA)))
    assert not exceeds(right, RUNS, ALPHA)
    assert right > 0.005 * RUNS  # and it works near its level


def test_a_class_chosen_on_the_votes_that_prove_it_is_caught() -> None:
    """q = 1/2 for both classes: no radius holds for either. One sample chooses, and the same one proves."""
    case = FALSE_CLAIMS["parameter z-rotation"]()
    model = replace(case.model, threshold=0.0)
    voter = DrawnVotes(model, model.smoothing, seed=4, device=None)  # type: ignore[arg-type]
    needed = float(special.ndtr(math.radians(0.01) / math.radians(15)))
    same, own = 0, 0
    for run in range(RUNS):
        proof = voter.count(case.cloud.points, f"same|{run}", 0, 1_024)
        choice = voter.count(case.cloud.points, f"own|{run}", 0, 128)
        same += lower_bound(int(proof.max()), 1_024, ALPHA) > needed
        own += lower_bound(int(proof[np.argmax(choice)]), 1_024, ALPHA) > needed
    assert exceeds(same, RUNS, ALPHA)
    assert not exceeds(own, RUNS, ALPHA)


def test_another_seed_after_a_failure_is_caught() -> None:
    """The same question again with a new seed until it passes: twelve chances instead of one."""
    case = FALSE_CLAIMS["parameter z-rotation"]()
    case = replace(case, options=Options(alpha=ALPHA, budget=FEW))
    runs, wrong = 100, 0
    with simulated_votes():
        for run in range(runs):
            wrong += any(case.run(20 * run + again).verdict == "certified" for again in range(12))
    assert exceeds(wrong, runs, ALPHA)
