"""Cells over the tapers of one cloud: displacement to the tested point against the radius that votes certify."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import torch
from scipy import special

from tpc_core.cloud import Cloud
from tpc_core.covers.paper import theorem_of
from tpc_core.errors import InvalidValue
from tpc_core.ledger import look_stream
from tpc_core.smoothing.coordinate import FLOAT32_SLACK
from tpc_core.statistics import lower_bound
from tpc_core.transforms import Taper
from tpc_core.votes import Ballot, Voter


@dataclass(frozen=True)
class LessonCell:
    """One cell [low, high] of a uniform grid of tapers, tested at its centre.

    `displacement` bounds the distance from the tested cloud to any other cloud of the cell; n, n_a, p_a and
    `radius` = sigma Phi^-1(p_a) are filled in by the votes.
    """

    low: float
    high: float
    displacement: float
    n: int = 0
    n_a: int = 0
    p_a: float = 0.0
    radius: float = 0.0

    @property
    def centre(self) -> float:
        return (self.low + self.high) / 2

    @property
    def passed(self) -> bool:
        """Whether the tested cloud vouches for the whole cell; the inequality is strict."""
        return self.radius > self.displacement


def exact_taper_factor(cloud: Cloud) -> float:
    """sqrt(S_2): a change of the taper by d moves this cloud by exactly d times this (l2 over all points)."""
    reach = Taper().reach(cloud.points.double().numpy())
    unit = np.ones((1, 1))
    return float(reach(0 * unit, 0 * unit, 0.5 * unit, 0.5 * unit[0])[0]) / 0.5


def paper_taper_factor(cloud: Cloud) -> float:
    """The paper's factor for any cloud of this size in the unit ball: sqrt(N) / 2."""
    theorem = theorem_of(Taper(), (1.0,))
    return theorem.bound(1, cloud.points.double().numpy())


def taper_gap(cloud: Cloud, first: float, second: float) -> float:
    """How far "taper by first, then by second" is from "taper by the sum": zero for an additive transform."""
    taper, points = Taper(), cloud.points.double()
    one, two = torch.tensor([first], dtype=torch.float64), torch.tensor([second], dtype=torch.float64)
    in_a_row = taper.apply(taper.apply(points, one), two)
    return float((in_a_row - taper.apply(points, one + two)).norm())


def taper_cells(cloud: Cloud, radius: float, count: int, *, exact: bool = True) -> list[LessonCell]:
    """A uniform grid of cells over |taper| <= radius, with the exact displacement or the paper's bound."""
    if not (0 < radius < 1 and count >= 1):
        raise InvalidValue(f"need a radius in (0, 1) and at least one cell, not {radius} and {count}")
    factor = exact_taper_factor(cloud) if exact else paper_taper_factor(cloud)
    edges = np.linspace(-radius, radius, count + 1)
    slack = FLOAT32_SLACK * float(cloud.points.norm())
    distance = factor * (radius / count) * (1 + 1e-9) + slack
    return [LessonCell(float(low), float(high), distance) for low, high in itertools.pairwise(edges)]


def vote_on_cells(
    voter: Voter, cloud: Cloud, cells: list[LessonCell], target: int, sigma: float, votes: int, alpha: float
) -> list[LessonCell]:
    """The cells with their votes; each cell is tested at level alpha (a fixed grid needs no union bound)."""
    taper, points = Taper(), cloud.points.double()
    ballots = [
        Ballot(
            taper.apply(points, torch.tensor([cell.centre], dtype=torch.float64)).float(),
            look_stream(f"lesson cell {cell.centre:.12g}"),
            0,
            votes,
        )
        for cell in cells
    ]
    result = []
    for cell, blocks in zip(cells, voter.cast(ballots), strict=True):
        n_a = int(blocks[:, target].sum())
        p_a = lower_bound(n_a, votes, alpha)
        radius = sigma * float(special.ndtri(p_a)) if p_a > 0.5 else 0.0
        result.append(
            LessonCell(cell.low, cell.high, cell.displacement, votes, n_a, p_a, math.nextafter(radius, 0.0))
        )
    return result
