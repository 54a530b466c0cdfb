"""However one goes on, a false claim is certified in at most a fraction alpha of all runs.

Continue, enlarge, shrink and enlarge again, more votes in chosen cells, another alpha, stop and start: all read and
lengthen one ledger. The model fails by a hair; whoever tries may stop as soon as it looks good.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.certify.test_soundness import ALPHA, FALSE_CLAIMS, SMALL
from tests.classifiers import at_most, broken_at, exceeds, simulated_votes
from tpc_core.certificate import Certificate
from tpc_core.certify import Budget, Focus, Options, certify
from tpc_core.verify import case_of

TAPER = broken_at(SMALL, "z-taper", [0.3], 0.12)
"""Fails at a taper of 0.3, by a hair."""

BREAKS = 0.3
RUNS = 120


def ask(
    radius: float, options: Options, resume: Certificate | None = None, focus: Focus | None = None
) -> Certificate:
    return certify(TAPER, SMALL, "z-taper", radius, options, resume=resume, focus=focus)


def is_false(certificate: Certificate) -> bool:
    """Whether it certifies a region in which the model fails."""
    return certificate.verdict == "certified" and certificate.radius["taper"] >= BREAKS


def votes(samples: int, seed: int, **more: object) -> Options:
    return Options(alpha=ALPHA, seed=seed, budget=Budget(samples=samples), **more)  # type: ignore[arg-type]


def continuing(seed: int) -> bool:
    """A little more budget, again and again, until it passes."""
    made = None
    for samples in range(256, 4_096, 320):
        made = ask(BREAKS, votes(samples, seed), made)
        if is_false(made):
            return True
    return False


def enlarging(seed: int) -> bool:
    """Twelve times a little farther, whatever the verdict before."""
    made = None
    for step in range(12):
        made = ask(0.2 + 0.012 * step, votes(512 + 256 * step, seed), made)
        if is_false(made):
            return True
    return False


def shrinking_and_enlarging(seed: int) -> bool:
    """Back to a radius that holds, and out again with more votes."""
    made = None
    for step in range(8):
        made = ask(0.15 if step % 2 else BREAKS + 0.01, votes(512 + 400 * step, seed), made)
        if is_false(made):
            return True
    return False


def choosing_cells(seed: int) -> bool:
    """More votes where it looks best, halves where it looks bad."""
    rng = random.Random(seed)
    made = ask(BREAKS, votes(512, seed))
    for step in range(10):
        if is_false(made):
            return True
        case = case_of(made)
        still = [cell for cell in case.proof.standing(case.ledger).leaves if cell.state != "passed"]
        if not still:
            return False
        best = max(still, key=lambda cell: cell.guess - cell.needed)
        chosen = best if rng.random() < 0.7 else rng.choice(still)
        focus = Focus((chosen.path,), until=chosen.n + 128, refine=rng.random() < 0.3)
        made = ask(BREAKS, votes(1_024 + 512 * step, seed), made, focus)
    return is_false(made)


def other_levels(seed: int) -> bool:
    """Alpha is chosen after looking: a claim at a stated level u is false with probability at most u."""
    made = ask(BREAKS, votes(2_048, seed))
    return any(
        is_false(ask(BREAKS, replace(votes(2_048, seed), alpha=alpha), made))
        for alpha in (0.001, 0.01, ALPHA)
    )


def the_largest(seed: int) -> bool:
    """The largest radius, read off again and again while votes come in."""
    made = None
    for samples in (512, 1_024, 2_048, 3_072):
        made = ask(0.6, votes(samples, seed, largest=True), made)
        if is_false(made):
            return True
    return False


WAYS: dict[str, Callable[[int], bool]] = {
    "continue": continuing,
    "enlarge": enlarging,
    "shrink and enlarge": shrinking_and_enlarging,
    "more votes in chosen cells": choosing_cells,
    "another level afterwards": other_levels,
    "the largest, again and again": the_largest,
}


@pytest.mark.parametrize("way", WAYS)
def test_no_way_of_going_on_exceeds_alpha(way: str) -> None:
    with simulated_votes():
        assert at_most(sum(WAYS[way](seed) for seed in range(RUNS)), RUNS, ALPHA)


def test_a_budget_is_the_same_in_pieces_and_at_once() -> None:
    """Stop and start: the ledger of a run in pieces is that of a run without a pause, where both vote alike."""
    whole = ask(0.2, votes(100_000, 5))
    made = None
    for samples in range(64, whole.samples + 64, 64):
        made = ask(0.2, votes(samples, 5), made)
    made = ask(0.2, votes(100_000, 5), made)
    assert made.verdict == whole.verdict == "certified"
    for place, tally in whole.votes().tallies.items():
        mine = made.votes().tally(place).blocks
        common = min(len(mine), tally.size)
        assert (mine[:common] == tally.blocks[:common]).all()


def test_fresh_noise_for_every_enlargement_is_caught() -> None:
    """What the ledger rules out: another seed for each step is one more chance each time."""
    case = FALSE_CLAIMS["parameter z-rotation"]()
    fresh = same = 0
    with simulated_votes():
        for run in range(RUNS):
            radii = [20 * (1 + 1e-6 * step) for step in range(12)]
            made = [
                certify(case.model, case.cloud, "z-rotation", radius, votes(3_000, 1_000 * run + step))
                for step, radius in enumerate(radii)
            ]
            fresh += any(certificate.verdict == "certified" for certificate in made)
            again = [
                certify(
                    case.model,
                    case.cloud,
                    "z-rotation",
                    radius,
                    votes(3_000, 1_000 * run),
                    resume=made[0].votes(),
                )
                if step
                else made[0]
                for step, radius in enumerate(radii)
            ]
            same += any(certificate.verdict == "certified" for certificate in again)
    assert exceeds(fresh, RUNS, ALPHA)
    assert at_most(same, RUNS, ALPHA)


def test_a_second_y_a_is_another_question() -> None:
    """The class is chosen once, and a ledger keeps it: going on cannot change it."""
    made = ask(0.2, votes(600, 3))
    more = ask(0.25, votes(2_000, 3), made)
    assert more.prediction == made.prediction
    assert more.ledger.places["select"] == made.ledger.places["select"]


def test_other_proportions_have_levels_of_their_own() -> None:
    """The second shape of region spends .05 alpha, on noise of its own; the third half of that."""
    claim = FALSE_CLAIMS["cover z-taper and z-rotation"]()
    options = Options(alpha=ALPHA, seed=1, budget=Budget(samples=3_000))
    made = None
    for number, rotation in enumerate((1.0, 2.0, 4.0, 1.0), start=1):
        made = certify(
            claim.model,
            claim.cloud,
            "z-taper+z-rotation",
            f"taper=0.05,rotation={rotation}",
            options,
            resume=made,
        )
        assert made.family == (1 if number == 4 else number)
        assert len(made.ledger.families) == min(number, 3)
        assert case_of(made).proof.alpha == pytest.approx(ALPHA * (0.9, 0.05, 0.025)[made.family - 1])  # type: ignore[attr-defined]
