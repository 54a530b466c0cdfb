"""What is known of a run so far: the events of a certifier, folded into cells, counts and totals."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field, replace

from app.server.jobs.views import BoxView, CellStatus, CellView, Count
from tpc_core import Certificate
from tpc_core.certify import (
    CellDecided,
    CellRefined,
    CellStarted,
    Done,
    Event,
    MarginsFound,
    Planned,
    Predicted,
    VotesCounted,
)
from tpc_core.runs import MOST_CELLS, Begun

RATE_WINDOW = 8.0
"""Seconds over which votes per second are averaged."""


@dataclass
class Progress:
    """The state that a stream of events has led to; after `begin`, `take` is its only way forward."""

    prediction: str | None = None
    cells: dict[str, CellView] = field(default_factory=dict)
    counts: list[Count] = field(default_factory=list)
    planned_cells: int = 0
    planned_samples: float = 0.0
    covered: float = 0.0
    samples: int = 0
    earlier: int = 0
    """Votes that the ledger held before this run."""
    boxes: list[BoxView] = field(default_factory=list)
    bounded: int = 0
    certificate: Certificate | None = None
    _rates: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=512))

    def begin(self, begun: Begun) -> None:
        """Learn what the votes of earlier runs show already; a run that was taken up again begins a second time."""
        self.samples = begun.samples
        self.earlier = self.earlier or begun.samples
        for known in begun.cells:
            state: CellStatus = known.state if known.state in ("passed", "refined") else "waiting"
            self.cells[known.cell.path] = CellView(known.cell, state, known.n, known.n_a, known.level)

    def take(self, event: Event) -> None:
        """Learn from one event."""
        if isinstance(event, Predicted):
            self.prediction, self.samples = event.name, event.samples
        elif isinstance(event, Planned):
            self.planned_cells, self.planned_samples = event.cells, event.estimated_samples
            for cell in event.waiting:
                self.cells.setdefault(cell.path, CellView(cell, "waiting"))
        elif isinstance(event, CellStarted):
            before = self.cells.get(event.cell.path, CellView(event.cell, "testing"))
            self.cells[event.cell.path] = replace(before, state="testing")
        elif isinstance(event, VotesCounted):
            self._count(event)
        elif isinstance(event, CellDecided):
            state: CellStatus = "passed" if event.passed else "failed"
            self.cells[event.cell.path] = CellView(event.cell, state, event.n, event.n_a, event.level)
            self.covered = event.covered
        elif isinstance(event, CellRefined):
            before = self.cells.get(event.cell.path, CellView(event.cell, "refined"))
            self.cells[event.cell.path] = replace(before, state="refined")
            for child in event.children:
                self.cells.setdefault(child.path, CellView(child, "refining"))
        elif isinstance(event, MarginsFound):
            self._prove(event)
        elif isinstance(event, Done):
            self.certificate = event.certificate
            self.samples = event.certificate.samples

    def _count(self, event: VotesCounted) -> None:
        self.samples = event.samples
        self._rates.append((time.monotonic(), event.samples))
        if event.cell is None:
            best = self.counts[-1].lower_bound if self.counts else 0.0
            self.counts.append(Count(event.n, event.n_a, max(best, event.lower_bound)))
        else:
            self.cells[event.cell.path] = CellView(event.cell, "testing", event.n, event.n_a, event.level)

    def _prove(self, event: MarginsFound) -> None:
        self.bounded, self.covered = event.bounded, event.covered
        if len(self.boxes) < MOST_CELLS:
            rows = zip(event.low.tolist(), event.high.tolist(), event.margins.tolist(), strict=True)
            self.boxes += [BoxView(tuple(a), tuple(b), margin) for a, b, margin in rows if margin > 0]

    def rate(self) -> float | None:
        """Votes per second of late; None where too little was seen."""
        recent = [entry for entry in self._rates if entry[0] > time.monotonic() - RATE_WINDOW]
        if len(recent) < 2 or recent[-1][0] - recent[0][0] <= 0.2:
            return None
        return (recent[-1][1] - recent[0][1]) / (recent[-1][0] - recent[0][0])

    def forget_rate(self) -> None:
        """A pause is no slowness."""
        self._rates.clear()
