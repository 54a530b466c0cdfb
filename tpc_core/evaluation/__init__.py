"""Evaluation: certified accuracy over a data set, with a journal that survives anything, and its report."""

from __future__ import annotations

from tpc_core.engines import Engine, InlineEngine, LocalEngine
from tpc_core.evaluation.claims import ClaimSpec
from tpc_core.evaluation.document import STYLE
from tpc_core.evaluation.intervals import Share
from tpc_core.evaluation.paper import PaperTable, paper
from tpc_core.evaluation.plan import load_plan
from tpc_core.evaluation.report import objects_of, run_name, spoken_radius
from tpc_core.evaluation.run import Prepared, evaluate, load_figures, prepare, run
from tpc_core.evaluation.run_objects import OpenedRun, Reason, RunObject, find_runs, open_run, reason_of
from tpc_core.evaluation.settings import Request, Settings
from tpc_core.evaluation.standing import Standing, load_summaries, standings
from tpc_core.evaluation.summary import Figures

__all__ = [
    "STYLE",
    "ClaimSpec",
    "Engine",
    "Figures",
    "InlineEngine",
    "LocalEngine",
    "OpenedRun",
    "PaperTable",
    "Prepared",
    "Reason",
    "Request",
    "RunObject",
    "Settings",
    "Share",
    "Standing",
    "evaluate",
    "find_runs",
    "load_figures",
    "load_plan",
    "load_summaries",
    "objects_of",
    "open_run",
    "paper",
    "prepare",
    "reason_of",
    "run",
    "run_name",
    "spoken_radius",
    "standings",
]
