"""Answers without probability: branch and bound over cells of parameters (THEORY section 9)."""

from __future__ import annotations

from tpc_core.exact.cells import Cells, covers
from tpc_core.exact.problem import Counterexample, Problem
from tpc_core.exact.search import Batch, Budget, Settled, settle, settle_events

__all__ = [
    "Batch",
    "Budget",
    "Cells",
    "Counterexample",
    "Problem",
    "Settled",
    "covers",
    "settle",
    "settle_events",
]
