"""Why a certificate failed, and what would settle it: causes with evidence, remedies with their cost."""

from tpc_core.explain.cell_causes import explain_cell, retrain, smaller_radius
from tpc_core.explain.compare import (
    DifferenceMap,
    Row,
    comparable,
    compare,
    difference_map,
    shared_half_widths,
)
from tpc_core.explain.continue_run import continue_run
from tpc_core.explain.critical_points import CriticalChange, critical_change
from tpc_core.explain.explanation import Explanation, explain_certificate, taken_apart
from tpc_core.explain.findings import CASTS_VOTES, Cause, Finding, Remedy
from tpc_core.explain.prediction_path import PATH_STEPS, PathStep, first_change, prediction_path
from tpc_core.explain.shrink_claim import can_shrink_claim, shrink_claim
from tpc_core.explain.smallest_attack import TRIES, AttackSearch, find_smallest_attack
from tpc_core.explain.words import count, percent, probability
from tpc_core.explain.work import MoreVotes, SmallestAttack, suspected

__all__ = [
    "CASTS_VOTES",
    "PATH_STEPS",
    "TRIES",
    "AttackSearch",
    "Cause",
    "CriticalChange",
    "DifferenceMap",
    "Explanation",
    "Finding",
    "MoreVotes",
    "PathStep",
    "Remedy",
    "Row",
    "SmallestAttack",
    "can_shrink_claim",
    "comparable",
    "compare",
    "continue_run",
    "count",
    "critical_change",
    "difference_map",
    "explain_cell",
    "explain_certificate",
    "find_smallest_attack",
    "first_change",
    "percent",
    "prediction_path",
    "probability",
    "retrain",
    "shared_half_widths",
    "shrink_claim",
    "smaller_radius",
    "suspected",
    "taken_apart",
]
