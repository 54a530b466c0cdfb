"""What a certifier reports while it works; the app and the progress bar draw from these."""

from __future__ import annotations

from dataclasses import dataclass

from tpc_core.certificate.schema import Certificate, Prediction
from tpc_core.covers import Cell

SHOWN_LIMIT = 2000
"""How many waiting cells a plan names; a map of more would be a blur."""


@dataclass(frozen=True)
class Predicted:
    """y_A was chosen."""

    prediction: Prediction
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
    """The votes of a cell so far; `lower_bound` is None until a bound may be read."""

    cell: Cell | None
    n: int
    n_a: int
    lower_bound: float | None
    samples: int


@dataclass(frozen=True)
class CellDecided:
    """A cell passed, or failed for good."""

    cell: Cell
    passed: bool
    n: int
    n_a: int
    lower_bound: float
    covered: float
    """The fraction of the region's volume that passed so far."""


@dataclass(frozen=True)
class CellRefined:
    """A cell was split; its children stand in for it."""

    cell: Cell
    children: tuple[Cell, ...]


@dataclass(frozen=True)
class Done:
    """The work is over."""

    certificate: Certificate


Event = Predicted | Planned | CellStarted | VotesCounted | CellDecided | CellRefined | Done
