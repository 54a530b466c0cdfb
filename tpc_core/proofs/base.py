"""The claim, and where it stands by the votes of a ledger."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from tpc_core.cloud import Cloud
from tpc_core.covers.lattice import Cell
from tpc_core.errors import InvalidCertificate
from tpc_core.lazy_torch import torch
from tpc_core.ledger import Ledger
from tpc_core.smoothing import Cover, OneProbability, Points, Rule, Smoothing, Threshold, TopClass, rule_for
from tpc_core.statistics import best_lower_bound, upper_bound
from tpc_core.transforms import Transform

if TYPE_CHECKING:
    from torch import Tensor

State = Literal["passed", "refined", "open", "untested"]
"""Passed by its own votes; stood for by its parts; with votes that do not pass; without votes."""


@dataclass(frozen=True)
class Claim:
    """No attack of `transform` within `radii` (internal units) changes y_A, with error probability alpha."""

    cloud: Cloud
    transform: Transform
    smoothing: Smoothing
    radii: tuple[float, ...]
    alpha: float
    task: str = "classification"
    protocol: str = "adaptive"
    resolution: int | None = None
    family: int = 1
    """The number of this shape of region in its ledger; it counts for covers of several radii only."""

    @cached_property
    def points(self) -> Points:
        """The cloud (N, 3) in float64."""
        return np.asarray(self.cloud.array, dtype=np.float64)

    @cached_property
    def rule(self) -> Rule:
        """The rule by which the smoothing certifies the transform."""
        return rule_for(self.transform, self.smoothing, self.points)

    @property
    def has_families(self) -> bool:
        """Whether regions of other shapes might be asked for on the same cells: a cover with several radii."""
        return isinstance(self.rule, Cover) and len(self.radii) > 1 and self.protocol == "adaptive"

    @property
    def threshold(self) -> Threshold:
        """The p_A that one probability must exceed; one half for the top class of a group."""
        if isinstance(self.rule, OneProbability):
            return self.rule.needed(self.radii)
        assert isinstance(self.rule, TopClass)
        return Threshold(0.5, 0.5)

    def at(self, z: Sequence[float] | NDArray[np.float64]) -> Tensor:
        """phi(x, z), computed in float64 and rounded once."""
        exact = torch.from_numpy(np.asarray(z, dtype=np.float64))
        return self.transform.apply(self.cloud.points.double(), exact).to(torch.float32)


@dataclass(frozen=True)
class CellStanding:
    """What the votes at one place show: a cell, the cloud itself, or one of its points."""

    path: str
    kind: Literal["cell", "whole", "group", "point", "attack"]
    state: State
    threshold: Threshold
    level: float
    """The error level at which its votes are tested."""
    hits: NDArray[np.int64]
    """Votes for the class after every block."""
    totals: NDArray[np.int64]
    """All votes after every block."""
    cell: Cell | None = None
    tested: tuple[float, ...] = ()
    """The tested parameter; empty where the cloud itself was tested."""

    @property
    def n(self) -> int:
        return int(self.totals[-1]) if len(self.totals) else 0

    @property
    def n_a(self) -> int:
        return int(self.hits[-1]) if len(self.hits) else 0

    @property
    def needed(self) -> float:
        """What p_A must exceed."""
        return self.threshold.q

    @cached_property
    def lower_bound(self) -> float:
        """The largest p_A that the votes so far prove to be exceeded, at any time they may be read."""
        return best_lower_bound(self.hits, self.totals, self.level)

    @property
    def upper_bound(self) -> float:
        """p_A lies above it with probability at most `level`; for people to look at."""
        return upper_bound(self.n_a, self.n, self.level) if self.n else 1.0

    @property
    def share(self) -> float:
        """The share of votes for the class; NaN before the first vote."""
        return self.n_a / self.n if self.n else float("nan")

    @property
    def guess(self) -> float:
        """What p_A looks like, never quite 0 or 1."""
        return (self.n_a + 0.5) / (self.n + 1)

    @property
    def z(self) -> NDArray[np.float64]:
        """The tested parameter as an array."""
        return np.asarray(self.tested, dtype=np.float64)


@dataclass(frozen=True)
class PointStanding:
    """Part segmentation: which points keep their part, one by one at alpha, and jointly at alpha / N."""

    predictions: tuple[int, ...]
    certified: tuple[bool, ...]
    jointly: tuple[bool, ...]


@dataclass(frozen=True)
class Standing:
    """Where a claim stands by the votes so far."""

    certified: bool
    cells: tuple[CellStanding, ...]
    points: PointStanding | None = None

    @property
    def leaves(self) -> tuple[CellStanding, ...]:
        """The places that stand: refined cells are stood for by their parts."""
        return tuple(cell for cell in self.cells if cell.state != "refined")


class Proof(ABC):
    """A kind of proof: where votes are cast, and what they show."""

    kind: ClassVar[str]
    """One word for people and tables: cover, single, group, points, grid."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim

    @abstractmethod
    def check_place(self, place: str) -> None:
        """InvalidCertificate where the proof has no such place."""

    @abstractmethod
    def tested_cloud(self, place: str) -> Tensor:
        """The cloud (N, 3) on which the votes of a place are cast."""

    @abstractmethod
    def standing(self, ledger: Ledger) -> Standing:
        """Where the claim stands."""

    @abstractmethod
    def largest_part(self, ledger: Ledger) -> float:
        """The largest factor of the claim's region, at most 1, that the votes certify; 0 where none."""

    def check_tallies(self, ledger: Ledger) -> None:
        """InvalidCertificate where a tally cannot have been made by this proof's own protocol; most allow any."""
        return


def no_such_place(place: str) -> InvalidCertificate:
    """The refusal of a place that the proof does not have."""
    return InvalidCertificate(f"there is no place {place[:80]!r} in this proof")
