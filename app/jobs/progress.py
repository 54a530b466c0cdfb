"""What is known of a run so far: the events of a certifier, folded into cells, counts and totals."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field, replace

from app.jobs.views import CellStatus, CellView, Count
from tpc_core import Certificate
from tpc_core.certificate.schema import Prediction
from tpc_core.certify import (
    CellDecided,
    CellRefined,
    CellStarted,
    Done,
    Event,
    Planned,
    Predicted,
    VotesCounted,
)
from tpc_core.covers import Cell

RATE_WINDOW = 8.0
"""Seconds over which votes per second are averaged."""


@dataclass
class Progress:
    """The state that a stream of events has led to; `take` is its only way forward."""

    prediction: Prediction | None = None
    cells: dict[str, CellView] = field(default_factory=dict)
    counts: list[Count] = field(default_factory=list)
    planned_cells: int = 0
    planned_samples: float = 0.0
    covered: float = 0.0
    samples: int = 0
    certificate: Certificate | None = None
    _current: Cell | None = None
    _rates: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=512))

    def take(self, event: Event) -> None:
        """Learn from one event."""
        if isinstance(event, Predicted):
            self.prediction, self.samples = event.prediction, event.samples
        elif isinstance(event, Planned):
            self.planned_cells, self.planned_samples = event.cells, event.estimated_samples
            self.cells.update({cell.path: CellView(cell, "waiting") for cell in event.waiting})
        elif isinstance(event, CellStarted):
            self._current = event.cell
            self.cells[event.cell.path] = CellView(event.cell, "testing")
        elif isinstance(event, VotesCounted):
            self._count(event)
        elif isinstance(event, CellDecided):
            state: CellStatus = "passed" if event.passed else "failed"
            self.cells[event.cell.path] = CellView(event.cell, state, event.n, event.n_a, event.lower_bound)
            self.covered = event.covered
        elif isinstance(event, CellRefined):
            self.cells[event.cell.path] = replace(self.cells[event.cell.path], state="refined")
            self.cells.update({child.path: CellView(child, "refining") for child in event.children})
        elif isinstance(event, Done):
            self.certificate = event.certificate
            self.samples = event.certificate.samples

    def _count(self, event: VotesCounted) -> None:
        self.samples = event.samples
        self._rates.append((time.monotonic(), event.samples))
        cell = event.cell or self._current
        if cell is None:
            known = self.counts[-1].lower_bound if self.counts else None
            bound = event.lower_bound if event.lower_bound is not None else known
            self.counts.append(Count(event.n, event.n_a, bound))
            return
        before = self.cells.get(cell.path)
        bound = event.lower_bound if event.lower_bound is not None or before is None else before.lower_bound
        self.cells[cell.path] = CellView(cell, "testing", event.n, event.n_a, bound)

    def rate(self) -> float | None:
        """Votes per second of late; None where too little was seen."""
        recent = [entry for entry in self._rates if entry[0] > time.monotonic() - RATE_WINDOW]
        if len(recent) < 2 or recent[-1][0] - recent[0][0] <= 0.2:
            return None
        return (recent[-1][1] - recent[0][1]) / (recent[-1][0] - recent[0][0])

    def forget_rate(self) -> None:
        """A pause is no slowness."""
        self._rates.clear()
