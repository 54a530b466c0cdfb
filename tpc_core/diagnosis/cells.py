"""The cells of a certificate: what each showed, and what it needed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tpc_core import streams
from tpc_core.certificate.checks import Question
from tpc_core.certificate.schema import (
    CellRecord,
    CellState,
    GridEvidence,
    GroupEvidence,
    GrownEvidence,
    PointEvidence,
    Prediction,
    SingleEvidence,
    TreeEvidence,
)
from tpc_core.certificate.verify_cover import recorded_tree
from tpc_core.covers import Cell, PathLevels
from tpc_core.covers.paper import paper_grid
from tpc_core.errors import UnsupportedRequest
from tpc_core.smoothing import CoordinateSmoothing
from tpc_core.statistics import upper_bound

Array = NDArray[np.float64]
Kind = Literal["cell", "single", "group", "point", "attack"]

ATTACK = "attack"
"""The path under which a recorded attack is looked at, as if it were a cell."""

_SURE = 1e-3
"""Level at which a cell is said to be lost, or to be short of what it needs, beyond doubt."""


@dataclass(frozen=True)
class CellFacts:
    """What is known of one cell: a box of the cover, the one probability of a single run, or one point."""

    path: str
    kind: Kind
    state: CellState
    needed: float
    """What the lower bound of p_A must exceed."""
    n: int
    n_a: int
    lower_bound: float
    level: float
    """The error level of this cell's bound."""
    readings: tuple[tuple[int, int], ...] = ()
    """(n, n_A) at every stage at which a bound was read."""
    cell: Cell | None = None
    tested: tuple[float, ...] = ()
    """The tested parameter; empty where the cloud itself was tested."""

    @property
    def share(self) -> float:
        """The share of votes for the class; NaN before the first vote."""
        return self.n_a / self.n if self.n else math.nan

    @property
    def guess(self) -> float:
        """What p_A looks like, never quite 0 or 1."""
        return (self.n_a + 0.5) / (self.n + 1)

    @property
    def upper(self) -> float:
        """The other end of the interval: p_A lies above it with probability at most `level`."""
        return upper_bound(self.n_a, self.n, self.level) if self.n else 1.0

    @property
    def lost(self) -> bool:
        """Whether another class has most of the votes here, beyond doubt."""
        return self.n > 0 and upper_bound(self.n_a, self.n, _SURE) < 0.5

    @property
    def short(self) -> bool:
        """Whether p_A itself is too small for this cell, beyond doubt: more votes would not help."""
        return self.n > 0 and upper_bound(self.n_a, self.n, _SURE) <= self.needed

    @property
    def shortfall(self) -> float:
        """By how many sigmas p_A, as it looks, is short of what is needed; negative where it is beyond."""
        if not self.n:
            return math.nan
        return float(special.ndtri(min(self.needed, 1 - 1e-12)) - special.ndtri(self.guess))

    @property
    def z(self) -> Array:
        """The tested parameter as an array."""
        return np.array(self.tested, dtype=np.float64)

    @property
    def span(self) -> tuple[tuple[float, float], ...]:
        """The box, one pair (low, high) for each parameter."""
        return tuple(zip(self.cell.low, self.cell.high, strict=True)) if self.cell is not None else ()


def cells_of(question: Question) -> Iterator[CellFacts]:
    """The attack first, then the cells."""
    certificate = question.certificate
    evidence, prediction = certificate.evidence, certificate.prediction
    attack = certificate.attack
    if attack is not None and prediction is not None:
        n_a = attack.votes.get(prediction.name, 0)
        yield CellFacts(
            ATTACK, "attack", "failed", 0.5, attack.samples, n_a, 0.0, certificate.alpha,
            tested=tuple(attack.parameter),
        )  # fmt: skip
    if isinstance(evidence, GrownEvidence):
        raise UnsupportedRequest("this region was certified in steps; certify it in one run to look into it")
    if prediction is None and not isinstance(evidence, PointEvidence):
        return
    if isinstance(evidence, TreeEvidence):
        yield from _tree_cells(question, evidence)
    elif isinstance(evidence, GridEvidence):
        yield from _grid_cells(question, evidence)
    elif isinstance(evidence, PointEvidence):
        for point, passed in enumerate(evidence.certified):
            yield CellFacts(
                str(point), "point", "passed" if passed else "failed", evidence.needed, evidence.n,
                evidence.n_a[point], evidence.lower_bounds[point], certificate.alpha,
            )  # fmt: skip
    elif prediction is not None:
        yield _one_probability(question, evidence, prediction)


def _one_probability(
    question: Question, evidence: SingleEvidence | GroupEvidence, prediction: Prediction
) -> CellFacts:
    certificate = question.certificate
    passed = certificate.verdict == "certified"
    if isinstance(evidence, SingleEvidence):
        readings = tuple((r.n, r.n_a) for r in evidence.readings)
        needed, bound, kind = evidence.needed, evidence.lower_bound, "single"
    else:
        readings = tuple((sum(v.values()), v.get(prediction.name, 0)) for v in evidence.stages)
        needed, bound, kind = 0.5, 0.0, "group"
    n, n_a = readings[-1] if readings else (0, 0)
    state: CellState = "passed" if passed else "failed" if n else "waiting"
    level = question.monitor.level(max(len(readings) - 1, 0), certificate.alpha)
    return CellFacts(
        streams.SINGLE,
        "single" if kind == "single" else "group",
        state,
        needed,
        n,
        n_a,
        bound,
        level,
        readings,
    )


def _tree_cells(question: Question, evidence: TreeEvidence) -> Iterator[CellFacts]:
    """The recorded cells and, where the search did not come, the largest parts of the region without votes."""
    tree = recorded_tree(question, evidence)
    levels = PathLevels(tuple(evidence.path_shares))
    records = {record.path: record for record in evidence.cells}
    visited = {path[:depth] for path in records for depth in range(len(path) + 1)}
    stack = [tree.root()]
    while stack:
        cell = stack.pop()
        record = records.get(cell.path)
        opened = record.state == "refined" if record is not None else not cell.tested
        children = tree.children(cell) if opened and cell.path in visited else []
        if record is not None or not children:
            yield _box(
                question, cell, record, levels.level(cell.rank, question.certificate.alpha), cell.centre
            )
        stack.extend(reversed(children))


def _grid_cells(question: Question, evidence: GridEvidence) -> Iterator[CellFacts]:
    assert isinstance(question.smoothing, CoordinateSmoothing)
    points = question.cloud.points.double().numpy()
    grid = paper_grid(
        question.transform, question.radii, points, question.smoothing.sigma, evidence.resolution
    )
    records = {record.path: record for record in evidence.cells}
    level = question.certificate.alpha / len(grid.cells)
    for cell, tested in zip(grid.cells, grid.tested, strict=True):
        yield _box(question, cell, records.get(cell.path), level, np.array(tested))


def _box(question: Question, cell: Cell, record: CellRecord | None, level: float, tested: Array) -> CellFacts:
    place = tuple(float(v) for v in tested)
    if record is None:
        return CellFacts(cell.path, "cell", "waiting", cell.needed, 0, 0, 0.0, level, (), cell, place)
    readings = tuple((r.n, r.n_a) for r in record.readings)
    n, n_a = readings[-1] if readings else (0, 0)
    return CellFacts(
        cell.path, "cell", record.state, cell.needed, n, n_a, record.lower_bound, level, readings, cell, place
    )  # fmt: skip
