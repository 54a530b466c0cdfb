"""What a ledger proves: one file for each kind of proof, each a pure function of the votes and the claim."""

from __future__ import annotations

from tpc_core.errors import UnsupportedRequest
from tpc_core.proofs.base import CellStanding, Claim, PointStanding, Proof, Standing
from tpc_core.proofs.cover import CoverProof
from tpc_core.proofs.judgement import is_proven
from tpc_core.proofs.paper_grid import GridProof, PaperSampleProof
from tpc_core.proofs.points import PointProof
from tpc_core.proofs.whole import OneProbabilityProof, TopClassProof
from tpc_core.smoothing import Cover, TopClass


def proof_of(claim: Claim) -> Proof:
    """The proof that answers a claim: by its task, its protocol and the rule of its smoothing."""
    rule = claim.rule
    if claim.task == "segmentation":
        if isinstance(rule, Cover):
            raise UnsupportedRequest(
                "part segmentation is certified by parameter, group or l2 smoothing, not by covers; "
                f"take a segmentation model smoothed by {claim.transform.name}"
            )
        return PointProof(claim)
    if isinstance(rule, Cover):
        return GridProof(claim) if claim.protocol == "paper" else CoverProof(claim)
    if claim.protocol == "paper":
        return PaperSampleProof(claim)
    return TopClassProof(claim) if isinstance(rule, TopClass) else OneProbabilityProof(claim)


__all__ = [
    "CellStanding",
    "Claim",
    "CoverProof",
    "GridProof",
    "OneProbabilityProof",
    "PaperSampleProof",
    "PointProof",
    "PointStanding",
    "Proof",
    "Standing",
    "TopClassProof",
    "is_proven",
    "proof_of",
]
