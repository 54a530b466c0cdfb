"""When to stop: budgets and the cancel signal, checked before every batch of votes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tpc_core.certificate.schema import Stop
from tpc_core.question import Budget


@dataclass
class Control:
    """The clock and the stop button of one run."""

    budget: Budget
    cancelled: Callable[[], bool] = lambda: False
    cells: int = 0
    """Cells looked at in this run."""
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def stop(self, samples: int) -> Stop | None:
        """Why no further batch may start, if so; `samples` is what the ledger holds."""
        if self.cancelled():
            return "cancelled"
        budget = self.budget
        spent = (
            (budget.samples is not None and samples >= budget.samples)
            or (budget.seconds is not None and self.seconds >= budget.seconds)
            or (budget.cells is not None and self.cells > budget.cells)
        )
        return "budget" if spent else None
