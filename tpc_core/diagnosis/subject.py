"""A certificate taken apart for a closer look: the question it answers, and its cells."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tpc_core import streams
from tpc_core.certificate.checks import Question
from tpc_core.certificate.schema import Certificate, GridEvidence, Prediction, TreeEvidence
from tpc_core.certificate.verify import question_of, verify
from tpc_core.certificate.verify_cover import recorded_tree
from tpc_core.certify.cover import planned_votes
from tpc_core.certify.strategy import Strategy, choose_strategy
from tpc_core.cloud import Cloud
from tpc_core.covers import CoverTree, PathLevels, PriceList
from tpc_core.covers.paper import tested_cloud
from tpc_core.diagnosis.cells import CellFacts, cells_of
from tpc_core.errors import InvalidValue
from tpc_core.smoothing import CoverSmoothing, Smoothing
from tpc_core.statistics import Monitor, geometric_stages
from tpc_core.transforms import CoordinateNoise, GeneralRotation, Region, Transform, ZYXRotation

Array = NDArray[np.float64]

PATIENCE = 300_000
"""Votes that one cell may be expected to cost before it is given up."""
_STAGES = geometric_stages(96, 24_000, factor=3)
_DEPTH = 14


@dataclass(frozen=True)
class Subject:
    """A verified certificate with everything that its cells were judged by."""

    question: Question
    strategy: Strategy
    cells: tuple[CellFacts, ...]
    """Every cell on record, and the parts of the region that no vote was cast in."""

    @staticmethod
    def of(certificate: Certificate) -> Subject:
        """Take a certificate apart; one that does not hold together raises InvalidCertificate."""
        verify(certificate)
        question = question_of(certificate)
        strategy = choose_strategy(question.transform, question.smoothing, question.cloud)
        return Subject(question, strategy, tuple(cells_of(question)))

    # -- the question -------------------------------------------------------------------------------------------

    @property
    def certificate(self) -> Certificate:
        return self.question.certificate

    @property
    def transform(self) -> Transform:
        return self.question.transform

    @property
    def cloud(self) -> Cloud:
        return self.question.cloud

    @property
    def smoothing(self) -> Smoothing:
        return self.question.smoothing

    @property
    def monitor(self) -> Monitor:
        return self.question.monitor

    @property
    def prediction(self) -> Prediction | None:
        return self.certificate.prediction

    @property
    def target(self) -> int:
        """The index of y_A."""
        if self.prediction is None:
            raise InvalidValue("the run ended before it knew its class; let it go on first")
        return self.prediction.index

    @cached_property
    def radii(self) -> tuple[float, ...]:
        """The region that was looked at, in internal units: the one asked for, or where the search ended."""
        evidence, parameters = self.certificate.evidence, self.transform.radii
        if isinstance(evidence, TreeEvidence):
            return tuple(evidence.root_radius[p.name] for p in parameters)
        pairs = zip(self.question.radii, parameters, strict=True)
        return tuple(r if r > 0 else p.to_internal(p.largest_radius) for r, p in pairs)

    @cached_property
    def region(self) -> Region | None:
        """The region as a set of parameters; None for coordinate noise, which has 3N of them."""
        return None if isinstance(self.transform, CoordinateNoise) else self.transform.region(self.radii)

    @property
    def is_cover(self) -> bool:
        return isinstance(self.certificate.evidence, TreeEvidence | GridEvidence)

    @property
    def is_polar(self) -> bool:
        """Whether cells are (polar, azimuth, angle): the paper's grid of rotations."""
        rotates = isinstance(self.transform, GeneralRotation | ZYXRotation)
        return rotates and isinstance(self.certificate.evidence, GridEvidence)

    @cached_property
    def tree(self) -> CoverTree | None:
        """The adaptive tree; None for other certificates."""
        evidence = self.certificate.evidence
        return recorded_tree(self.question, evidence) if isinstance(evidence, TreeEvidence) else None

    @cached_property
    def levels(self) -> PathLevels:
        evidence = self.certificate.evidence
        assert isinstance(evidence, TreeEvidence)
        return PathLevels(tuple(evidence.path_shares))

    @cached_property
    def prices(self) -> PriceList:
        """What cells of the tree cost; by the usual stages where the certificate has no tree: the paper's grid."""
        alpha = self.certificate.alpha
        if self.tree is not None:
            return PriceList(self.monitor, self.levels, alpha, self.tree.region.dim)
        assert self.region is not None
        return PriceList(_STAGES, PathLevels.falling(_DEPTH), alpha, self.region.dim)

    def planned_votes(self, smoothing: CoverSmoothing, guess: Callable[[Array], float]) -> float:
        """Votes that the adaptive protocol is expected to take for the whole region, if p_A is as guessed."""
        assert self.region is not None
        points = self.cloud.points.double().numpy()
        tree = CoverTree(
            region=self.region,
            reach=smoothing.reach(self.transform, points),
            sigma=smoothing.sigma,
            cloud_norm=float(np.linalg.norm(points)),
        )
        return planned_votes(tree, self.prices, guess)[1]

    @cached_property
    def adaptive_votes(self) -> float:
        """The same from the votes at hand; infinite where they are too few, or lie in other coordinates."""
        voted = [f for f in self.leaves if f.n and f.tested and f.kind == "cell"]
        if not voted or self.is_polar or not isinstance(self.smoothing, CoverSmoothing):
            return math.inf
        assert self.region is not None
        half = self.region.half_widths
        places = np.array([f.z for f in voted]) / half

        def guess(z: Array) -> float:
            return voted[int(np.argmin(np.sum((places - z / half) ** 2, axis=1)))].guess

        return self.planned_votes(self.smoothing, guess)

    # -- its cells ----------------------------------------------------------------------------------------------

    @cached_property
    def by_path(self) -> dict[str, CellFacts]:
        return {facts.path: facts for facts in self.cells}

    def cell(self, path: str) -> CellFacts:
        """The cell of a path."""
        if path not in self.by_path:
            raise InvalidValue(f"this certificate has no cell {path!r}")
        return self.by_path[path]

    @cached_property
    def leaves(self) -> tuple[CellFacts, ...]:
        """The cells that stand: refined ones are stood for by their parts."""
        return tuple(f for f in self.cells if f.state != "refined" and f.kind != "attack")

    @cached_property
    def failing(self) -> tuple[CellFacts, ...]:
        """What stands in the way of a certificate, worst first: an attack, then cells with votes that did not pass."""
        attack = [f for f in self.cells if f.kind == "attack"]
        open_cells = [f for f in self.leaves if f.state != "passed" and f.n]
        return (*attack, *sorted(open_cells, key=lambda f: (-f.shortfall, f.path)))

    @cached_property
    def untested(self) -> tuple[CellFacts, ...]:
        """The parts of the region that no vote was cast in."""
        return tuple(f for f in self.leaves if f.state != "passed" and not f.n)

    def neighbours(self, facts: CellFacts) -> tuple[CellFacts, ...]:
        """The standing cells that touch a cell."""
        others = [f for f in self.leaves if f.cell is not None and f.path != facts.path]
        if facts.cell is None or not others:
            return ()
        low = np.array([f.cell.low for f in others if f.cell is not None])
        high = np.array([f.cell.high for f in others if f.cell is not None])
        slack = 1e-9 * (1 + np.abs(high).max())
        touch = np.all(
            (low <= np.array(facts.cell.high) + slack) & (high >= np.array(facts.cell.low) - slack), axis=1
        )
        return tuple(other for other, near in zip(others, touch, strict=True) if near)

    def history(self, facts: CellFacts) -> tuple[CellFacts, ...]:
        """The cells on record above this one, the cell itself, and its parts: how the search came here."""
        if facts.kind != "cell" or isinstance(self.certificate.evidence, GridEvidence):
            return (facts,)
        above = [f for f in self.cells if f.kind == "cell" and facts.path.startswith(f.path) and f.n]
        below = [
            f
            for f in self.cells
            if f.kind == "cell" and f.path.startswith(facts.path) and f.path != facts.path
        ]
        return (*above, *([] if facts in above else [facts]), *below)

    def place(self, facts: CellFacts) -> str:
        """Where a cell is tested, in words."""
        if facts.kind == "point":
            return f"point {facts.path}"
        if not facts.tested:
            return "the object itself"
        if self.is_polar and facts.kind == "cell":
            return GeneralRotation().describe(
                facts.z
            )  # the paper covers Euler boxes by rotation vectors, too
        return self.describe(facts.z)

    def describe(self, z: Array) -> str:
        """A parameter in words; coordinate noise by its size."""
        if isinstance(self.transform, CoordinateNoise):
            return f"{self.transform.name} {self.size(z) * self.radii[0]:.3g}"
        return self.transform.describe(z)

    def radius_words(self, part: float = 1.0) -> str:
        """A part of the region in the transform's own units."""
        pairs = zip(self.transform.radii, self.radii, strict=True)
        values = [(p, float(f"{p.to_edge(part * r):.4g}")) for p, r in pairs]
        return ", ".join((f"{p.name} " if len(values) > 1 else "") + p.describe(value) for p, value in values)

    def points_of(self, facts: CellFacts) -> Tensor:
        """The cloud (N, 3) on which the votes of a cell were cast, to the bit."""
        if not facts.tested:
            return self.cloud.points
        if isinstance(self.certificate.evidence, GridEvidence) and facts.kind == "cell":
            return tested_cloud(self.transform, self.cloud.points.double(), facts.tested)
        return self.at(facts.z)

    def stream_of(self, facts: CellFacts) -> str:
        """The noise on which the votes of a cell were cast."""
        if facts.kind == "attack":
            return streams.attack(facts.tested)
        return streams.cell(facts.path if facts.kind == "cell" else streams.SINGLE)

    def at(self, z: Array) -> Tensor:
        """phi(x, z), computed in float64 and rounded once."""
        exact = torch.from_numpy(np.asarray(z, dtype=np.float64))
        return self.transform.apply(self.cloud.points.double(), exact).to(torch.float32)

    def size(self, z: Array) -> float:
        """How large an attack is: the factor by which the region would have to shrink to touch it."""
        if isinstance(self.transform, CoordinateNoise):
            flat = np.asarray(z, dtype=np.float64).ravel()
            norm = np.linalg.norm(flat) if self.transform.norm == "l2" else np.abs(flat).max(initial=0.0)
            return float(norm) / self.radii[0]
        assert self.region is not None
        return float(self.region.gauge(np.asarray(z, dtype=np.float64)[None])[0])
