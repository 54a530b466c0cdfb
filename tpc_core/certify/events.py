"""What a run reports while it works; the app and the progress bar draw from these."""

from __future__ import annotations

from dataclasses import dataclass

from tpc_core.certificate.schema import Certificate
from tpc_core.covers import Cell
from tpc_core.exact.cells import Array
from tpc_core.statistics import lower_confidence_bound

SHOWN_LIMIT = 2000
"""How many waiting cells a plan names; a map of more would be a blur."""


@dataclass(frozen=True)
class Predicted:
    """y_A was chosen: its name, None for part segmentation."""

    name: str | None
    samples: int


@dataclass(frozen=True)
class Planned:
    """The work ahead: how many cells are known, and about how many votes they will take."""

    cells: int
    estimated_samples: float
    waiting: tuple[Cell, ...] = ()
    """The cells that wait to be tested, unless they are too many to be shown."""


@dataclass(frozen=True)
class CellStarted:
    """Votes are about to be cast at a cell."""

    cell: Cell


@dataclass(frozen=True)
class VotesCounted:
    """The votes of a place so far."""

    cell: Cell | None
    n: int
    n_a: int
    level: float
    samples: int

    @property
    def lower_bound(self) -> float:
        """What these votes prove p_A to exceed."""
        return lower_confidence_bound(self.n_a, self.n, self.level) if self.n else 0.0


@dataclass(frozen=True)
class CellDecided:
    """A cell passed, or was given up for this run."""

    cell: Cell
    passed: bool
    n: int
    n_a: int
    level: float
    covered: float
    """The fraction of the region's volume that passed so far."""

    @property
    def lower_bound(self) -> float:
        """What its votes prove p_A to exceed."""
        return lower_confidence_bound(self.n_a, self.n, self.level) if self.n else 0.0


@dataclass(frozen=True)
class CellRefined:
    """A cell was split; its children stand in for it."""

    cell: Cell
    children: tuple[Cell, ...]


@dataclass(frozen=True)
class MarginsFound:
    """A certain proof: these boxes of parameters were bounded. A margin above zero proves its box."""

    low: Array
    """(M, d), in internal units, like high."""
    high: Array
    margins: Array
    """(M,): no rival comes nearer anywhere in the box; a box with a margin below zero is split."""
    bounded: int
    """Boxes so far."""
    covered: float
    """The fraction of the region that is proved so far; where the largest radius is sought, the factor of it."""


@dataclass(frozen=True)
class Done:
    """The work is over."""

    certificate: Certificate


Event = Predicted | Planned | CellStarted | VotesCounted | CellDecided | CellRefined | MarginsFound | Done
