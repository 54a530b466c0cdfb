"""Evaluation: certified accuracy over a data set, with a journal that survives anything, and its report."""

from __future__ import annotations

from tpc_core.engines import Engine, InlineEngine, LocalEngine
from tpc_core.evaluation.plan import load_plan
from tpc_core.evaluation.run import Prepared, evaluate, load_figures, prepare, run
from tpc_core.evaluation.settings import Request, Settings
from tpc_core.evaluation.summary import Figures

__all__ = [
    "Engine",
    "Figures",
    "InlineEngine",
    "LocalEngine",
    "Prepared",
    "Request",
    "Settings",
    "evaluate",
    "load_figures",
    "load_plan",
    "prepare",
    "run",
]
