"""Why a certificate failed, and what would settle it: causes with evidence, remedies with their cost."""

from tpc_core.diagnosis.causes import explain_cell
from tpc_core.diagnosis.cells import CellFacts
from tpc_core.diagnosis.chances import Stage, best_stage, stages_ahead
from tpc_core.diagnosis.compare import compare, difference_map
from tpc_core.diagnosis.critical import CriticalChange, critical_change
from tpc_core.diagnosis.findings import Finding, Remedy
from tpc_core.diagnosis.hunt import Quarry, hunt, refutation_of
from tpc_core.diagnosis.less import can_claim_less, claim_less
from tpc_core.diagnosis.more import continued, go_on
from tpc_core.diagnosis.overall import Diagnosis, diagnose
from tpc_core.diagnosis.path import PathStep, prediction_path
from tpc_core.diagnosis.subject import Subject
from tpc_core.diagnosis.sweep import SigmaLook, sweep
from tpc_core.diagnosis.take import Promise, certified_size, radius_by_votes

__all__ = [
    "CellFacts",
    "CriticalChange",
    "Diagnosis",
    "Finding",
    "PathStep",
    "Promise",
    "Quarry",
    "Remedy",
    "SigmaLook",
    "Stage",
    "Subject",
    "best_stage",
    "can_claim_less",
    "certified_size",
    "claim_less",
    "compare",
    "continued",
    "critical_change",
    "diagnose",
    "difference_map",
    "explain_cell",
    "go_on",
    "hunt",
    "prediction_path",
    "radius_by_votes",
    "refutation_of",
    "stages_ahead",
    "sweep",
]
