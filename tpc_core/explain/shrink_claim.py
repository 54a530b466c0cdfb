"""Claim less: the largest region that the votes at hand certify, as a certificate of its own, for no further vote.

Verdicts are functions of the ledger and the claim, and the scaled regions share one tree (or one probability), so the
same ledger read at a smaller radius holds at the same level (THEORY section 8).
"""

from __future__ import annotations

from tpc_core.case_view import CaseView
from tpc_core.certificate.schema import Certificate
from tpc_core.errors import UnsupportedRequest
from tpc_core.proofs import proof_of
from tpc_core.proofs.judgement import judge, resized


def can_shrink_claim(view: CaseView) -> bool:
    """Whether a part of the region is certified, and the whole is not."""
    return view.certificate.verdict != "certified" and 0 < view.certified_part < 1


def shrink_claim(view: CaseView) -> Certificate:
    """The certificate of that part; `verify` judges it like any other."""
    certificate = view.certificate
    if not can_shrink_claim(view):
        raise UnsupportedRequest("no part of this region is certified by the votes at hand")
    parts = zip(view.transform.radii, view.radii, strict=True)
    radius = {p.name: p.to_edge(view.certified_part * r) * (1 - 1e-12) for p, r in parts}
    question = certificate.question.with_radius(radius)
    judgement = judge(
        proof_of(resized(view.claim, radius)),
        view.ledger,
        asked=question.radius,
        largest=False,
        stopped="settled",
        classes=certificate.model.classes,
    )
    if judgement.verdict != "certified":
        raise UnsupportedRequest("no part of this region is certified by the votes at hand")
    changes = {
        "verdict": judgement.verdict,
        "sentence": judgement.sentence,
        "radius": judgement.radius,
        "stopped": "settled",
        "question": question,
    }
    return certificate.model_copy(update=changes).sealed()
