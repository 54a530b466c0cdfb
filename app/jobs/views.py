"""What pages read of a run: the question, its cells and counts, and how far it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tpc_core import Certificate, Cloud, Model, Options, Transform
from tpc_core.certificate.schema import Prediction
from tpc_core.covers import Cell
from tpc_core.landscape import Landscape
from tpc_core.transforms import RadiusInput

Status = Literal["queued", "running", "paused", "done", "cancelled", "failed"]
CellStatus = Literal["waiting", "refining", "testing", "refined", "failed", "passed"]
"""A refining cell is a half of a refined one, and has no votes yet."""
LIVE: tuple[Status, ...] = ("queued", "running", "paused")


@dataclass(frozen=True)
class Request:
    """One question, as the page asked it."""

    title: str
    spec: str
    """How the command line calls the object; empty for an upload."""
    model: Model = field(repr=False)
    cloud: Cloud = field(repr=False)
    transform: Transform
    radius: RadiusInput | None
    options: Options


@dataclass(frozen=True)
class CellView:
    """What is known of one cell of the cover."""

    cell: Cell
    state: CellStatus
    n: int = 0
    n_a: int = 0
    lower_bound: float | None = None

    @property
    def margin(self) -> float | None:
        """How far the bound is beyond what is needed."""
        return None if self.lower_bound is None else self.lower_bound - self.cell.needed


@dataclass(frozen=True)
class Count:
    """The votes of a single-probability run after one batch."""

    n: int
    n_a: int
    lower_bound: float | None


@dataclass(frozen=True)
class JobView:
    """A picture of a job at one moment, safe to read at leisure."""

    id: str
    request: Request
    status: Status
    message: str
    position: int
    prediction: Prediction | None
    cells: tuple[CellView, ...]
    counts: tuple[Count, ...]
    planned_cells: int
    planned_samples: float
    covered: float
    samples: int
    seconds: float
    rate: float
    certificate: Certificate | None
    landscape: Landscape | None
    mapping: bool
    revision: int

    @property
    def live(self) -> bool:
        return self.status in LIVE

    @property
    def changing(self) -> bool:
        """Whether there will be more to see: the run goes on, or its map is being drawn."""
        return self.live or self.mapping

    @property
    def leaves(self) -> tuple[CellView, ...]:
        """The cells that stand: refined ones are stood for by their halves."""
        return tuple(view for view in self.cells if view.state != "refined")

    @property
    def eta(self) -> float | None:
        """Seconds to go, if votes come as fast and cells cost as much as planned."""
        if self.rate <= 0 or not 0 < self.planned_samples < float("inf"):
            return None
        if self.covered > 0.02:
            return self.samples * (1 / self.covered - 1) / self.rate
        return max(0.0, self.planned_samples - self.samples) / self.rate
