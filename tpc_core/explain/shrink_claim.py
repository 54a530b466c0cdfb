"""Claim less: the largest region that the votes at hand certify, as a certificate of its own, for no further vote.

Verdicts are functions of the ledger and the claim, and the scaled regions share one tree (or one probability), so the
same ledger read at a smaller radius holds at the same level (docs/theory.md, "One ledger of votes").
"""

from __future__ import annotations

from tpc_core.case_view import CaseView
from tpc_core.certificate.schema import Certificate
from tpc_core.errors import UnsupportedRequest
from tpc_core.proofs import proof_of
from tpc_core.proofs.judgement import judge, resized

_SLACKS = (1e-12, 1e-3, 1e-2)
"""How much less is claimed where rounding stands in the way: what linear maps need is computed to a few digits."""


def can_shrink_claim(view: CaseView) -> bool:
    """Whether a part of the region is certified, and the whole is not."""
    return view.certificate.verdict != "certified" and 0 < view.certified_part < 1


def shrink_claim(view: CaseView) -> Certificate:
    """The certificate of that part; `verify` judges it like any other."""
    if can_shrink_claim(view):
        for slack in _SLACKS:
            smaller = _read_at(view, view.certified_part * (1 - slack))
            if smaller.verdict == "certified":
                return smaller
    raise UnsupportedRequest("the votes so far certify no part of this region")


def _read_at(view: CaseView, part: float) -> Certificate:
    """What the ledger says of a part of the region."""
    certificate = view.certificate
    parameters = zip(view.transform.radii, view.radii, strict=True)
    radius = {p.name: p.to_edge(part * r) for p, r in parameters}
    question = certificate.question.with_radius(radius)
    judgement = judge(
        proof_of(resized(view.claim, radius)),
        view.ledger,
        asked=question.radius,
        largest=False,
        stopped="settled",
        classes=certificate.model.classes,
    )
    changes = {
        "verdict": judgement.verdict,
        "sentence": judgement.sentence,
        "radius": judgement.radius,
        "stopped": "settled",
        "question": question,
    }
    return certificate.model_copy(update=changes).sealed()
