"""Claim less: the largest region that the votes at hand certify, as a certificate of its own, for no further vote.

The scaled regions are nested and share one tree (or one probability), so the largest one that passed holds at the
same level (THEORY section 4, claim).
"""

from __future__ import annotations

from tpc_core.certificate.schema import Certificate, Claim, SingleEvidence, TreeEvidence
from tpc_core.certificate.sentence import verdict_sentence
from tpc_core.diagnosis.subject import Subject
from tpc_core.diagnosis.take import certified_size
from tpc_core.errors import UnsupportedRequest


def can_claim_less(subject: Subject) -> bool:
    """Whether a part of the region is certified, and the whole is not."""
    certificate = subject.certificate
    kinds = isinstance(certificate.evidence, TreeEvidence | SingleEvidence)
    return kinds and certificate.verdict != "certified" and 0 < certified_size(subject) < 1


def claim_less(subject: Subject) -> Certificate:
    """The certificate of that part; `verify` judges it like any other."""
    if not can_claim_less(subject):
        raise UnsupportedRequest("no part of this region is certified by the votes at hand")
    certificate, transform = subject.certificate, subject.transform
    part = certified_size(subject)
    evidence = certificate.evidence
    if isinstance(evidence, TreeEvidence):
        evidence = evidence.model_copy(update={"factor": part})
    radii = tuple(part * (1 - 1e-12) * r for r in subject.radii)
    radius = {p.name: p.to_edge(r) for p, r in zip(transform.radii, radii, strict=True)}
    sentence = verdict_sentence(
        transform, radii, certificate.alpha, "certified", certificate.prediction, evidence, [], None
    )
    changes = {
        "verdict": "certified",
        "sentence": sentence,
        "reasons": [],
        "claim": Claim(transform=transform.name, radius=radius, largest=True),
        "evidence": evidence,
        "attack": None,
    }
    return certificate.model_copy(update=changes).sealed()
