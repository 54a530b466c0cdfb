"""When to stop: budgets and the cancel signal, checked before every batch of votes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tpc_core.certificate.schema import Reason
from tpc_core.errors import InvalidValue


@dataclass(frozen=True)
class Budget:
    """The most that a run may spend; None means no limit."""

    samples: int | None = None
    seconds: float | None = None
    cells: int | None = 200_000

    def __post_init__(self) -> None:
        for name, limit in (("samples", self.samples), ("seconds", self.seconds), ("cells", self.cells)):
            if limit is not None and not limit > 0:
                raise InvalidValue(f"a budget of {limit} {name} allows nothing; give a positive number")


@dataclass
class Control:
    """The clock, the meter and the stop button of one run."""

    budget: Budget
    cancelled: Callable[[], bool] = lambda: False
    samples: int = 0
    cells: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def stop_reason(self) -> Reason | None:
        """Why no further batch may start, if so."""
        if self.cancelled():
            return Reason(code="cancelled", message="the run was cancelled; continue it to get a verdict")
        budget = self.budget
        spent = None
        if budget.samples is not None and self.samples >= budget.samples:
            spent = f"{budget.samples:,} samples"
        elif budget.seconds is not None and self.seconds >= budget.seconds:
            spent = f"{budget.seconds:g} seconds"
        elif budget.cells is not None and self.cells > budget.cells:
            spent = f"{budget.cells:,} cells"
        if spent is None:
            return None
        return Reason(code="budget", message=f"the budget of {spent} ended; continue with a larger one")
