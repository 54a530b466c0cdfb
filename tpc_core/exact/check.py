"""What a verifier recomputes: that cells cover the region, that their margins hold, that a counterexample is one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from tpc_core.errors import InvalidCertificate
from tpc_core.exact.ball import BallProblem
from tpc_core.exact.cells import Array, Cells, covers
from tpc_core.exact.parts import PartsProblem
from tpc_core.exact.problem import CLEAR, Counterexample, Problem
from tpc_core.transforms import Region

AGREEMENT = 1e-6
"""How far above the recomputed bound a stated margin may lie, relative: machines sum up in other orders."""


def check(
    problem: Problem, leaves: Cells, margins: Array, claim: Region | None = None, batch: int = 64
) -> None:
    """Recompute a proof: an InvalidCertificate says what does not hold, and where.

    `claim` is the smaller region of a robust radius; by default the whole region is claimed.
    """
    if not covers(leaves, problem.region, claim):
        raise InvalidCertificate("the cells leave a part of the region out, or overlap")
    check_margins(problem, leaves, margins, batch=batch)


def check_margins(
    problem: Problem,
    leaves: Cells,
    margins: Array,
    *,
    batch: int = 64,
    on_progress: Callable[[int, int], None] | None = None,
) -> None:
    """Bound every cell again; an InvalidCertificate names the first whose margin cannot be proved."""
    if len(leaves) != len(margins):
        raise InvalidCertificate(f"{len(leaves)} cells but {len(margins)} margins")
    for start in range(0, len(leaves), batch):
        part = slice(start, start + batch)
        found = problem.bound(leaves[part])[0].lower.numpy()
        stated = margins[part]
        wrong = ~((found > 0) & (stated > 0) & (stated <= found + AGREEMENT * (1 + np.abs(found))))
        if bool(wrong.any()):
            number = start + int(np.argmax(wrong))
            raise InvalidCertificate(
                f"cell {number} states a margin of {margins[number]:.6g}; {found[number - start]:.6g} can be proved"
            )
        if on_progress is not None:
            on_progress(min(start + batch, len(leaves)), len(leaves))


def check_ball(problem: BallProblem, part: float, margin: float) -> None:
    """Bound the ball again; an InvalidCertificate where its margin cannot be proved."""
    found = problem.again(part)
    if not found > 0 or margin > found + AGREEMENT * (1 + abs(found)):
        raise InvalidCertificate(f"the ball states a margin of {margin:.6g}; {found:.6g} can be proved")


def check_point_margins(
    problem: PartsProblem,
    leaves: Cells,
    margins: Array,
    *,
    batch: int = 16,
    on_progress: Callable[[int, int], None] | None = None,
) -> None:
    """Bound every cell again for the points (L, N) that have a margin there."""
    for start in range(0, len(leaves), batch):
        part = slice(start, start + batch)
        found, stated = problem.bound(leaves[part])[0].lower.numpy(), margins[part]
        holds = (found > 0) & (stated <= found + AGREEMENT * (1 + np.abs(found)))
        wrong = ~np.isnan(stated) & ~holds
        if bool(wrong.any()):
            cell, point = np.argwhere(wrong)[0]
            raise InvalidCertificate(
                f"cell {start + cell} states a margin of {stated[cell, point]:.6g} for point {point}; "
                f"{found[cell, point]:.6g} can be proved"
            )
        if on_progress is not None:
            on_progress(min(start + batch, len(leaves)), len(leaves))


def check_point_counterexample(problem: PartsProblem, point: int, found: Counterexample) -> None:
    """Evaluate the network at a stated counterexample of one point."""
    z = np.array([found.z])
    if not bool(problem.region.contains(z)[0]):
        raise InvalidCertificate(f"the counterexample {found.z} lies outside the region")
    again = problem.attack(z).get(point)
    if again is None:
        raise InvalidCertificate(f"point {point} keeps its part at the counterexample {found.z}")
    _compare(again, found)


def check_ball_counterexample(problem: BallProblem, found: Counterexample) -> None:
    """Evaluate the network on the cloud that a stated counterexample makes."""
    moved = torch.tensor(found.z, dtype=torch.float64).view(-1, 3)
    if moved.shape != problem.points.shape or float(moved.abs().max()) > problem.radius:
        raise InvalidCertificate("the counterexample lies outside of the ball")
    margin, rival = problem.at(moved)
    if margin >= -CLEAR:
        raise InvalidCertificate("the network keeps its class at the counterexample")
    _compare(Counterexample(found.z, rival, margin), found)


def check_counterexample(problem: Problem, found: Counterexample) -> None:
    """Evaluate the network at a stated counterexample; an InvalidCertificate says why it is none."""
    z = np.array([found.z])
    if z.shape[1] != problem.region.dim or not bool(problem.region.contains(z)[0]):
        raise InvalidCertificate(f"the counterexample {found.z} lies outside the region")
    again = problem.attack(z)
    if again is None:
        raise InvalidCertificate(f"the network keeps its class at the counterexample {found.z}")
    _compare(again, found)


def _compare(again: Counterexample, stated: Counterexample) -> None:
    if again.rival != stated.rival or abs(again.margin - stated.margin) > AGREEMENT * (
        1 + abs(stated.margin)
    ):
        raise InvalidCertificate(
            f"the counterexample states rival {stated.rival} by {stated.margin:.6g}; "
            f"it is {again.rival} by {again.margin:.6g}"
        )
