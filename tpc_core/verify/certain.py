"""Check a certificate without probability: its cells without the network, their margins with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tpc_core.certificate.schema import Certificate
from tpc_core.certify.certain import problem_of
from tpc_core.cloud import Cloud
from tpc_core.errors import InvalidCertificate
from tpc_core.exact.cells import covers
from tpc_core.proofs.certain import CertainProof
from tpc_core.votes import BaseClassifier


@dataclass(frozen=True)
class CertainCase:
    """A certain certificate taken apart: everything checked but the margins, which need the network."""

    certificate: Certificate
    cloud: Cloud
    proof: CertainProof


def check_certain(certificate: Certificate) -> CertainCase:
    """Everything that can be checked without the network, or an InvalidCertificate with the reason."""
    question, model, record = certificate.question, certificate.model, certificate.certain
    assert record is not None
    cloud = certificate.cloud.cloud()
    if len(set(model.classes)) != len(model.classes):
        raise InvalidCertificate("the model has two classes of the same name")
    if question.points != len(cloud) or question.model != model.name:
        raise InvalidCertificate("the question is about another model or another object than the certificate")
    if question.options.proof == "smoothed":
        raise InvalidCertificate("the question asks for votes, and the certificate holds none")
    if model.task != "classification" or model.smoothing or certificate.samples or certificate.family != 1:
        raise InvalidCertificate("a certain proof is about the class of the plain network and casts no votes")
    if certificate.prediction not in model.classes:
        raise InvalidCertificate(f"the model has no class {certificate.prediction}")
    proof = CertainProof(question, record, model.classes.index(certificate.prediction), model.classes)
    proof.check()
    _check_said(certificate, proof)
    return CertainCase(certificate, cloud, proof)


def _check_said(certificate: Certificate, proof: CertainProof) -> None:
    judgement = proof.judge(certificate.stopped)
    if certificate.verdict != judgement.verdict:
        raise InvalidCertificate(
            f"the certificate says {certificate.verdict}, but its cells say {judgement.verdict}"
        )
    if certificate.radius != judgement.radius:
        raise InvalidCertificate("the radius is not the one that the cells cover")
    if certificate.sentence != judgement.sentence:
        raise InvalidCertificate("the sentence does not say what the certificate shows")
    settled = certificate.stopped == "settled"
    if certificate.stopped not in ("settled", "budget", "cancelled", "hopeless") or (
        settled != (certificate.verdict != "undecided") and not certificate.question.options.largest
    ):
        raise InvalidCertificate(f"a run that ended as {certificate.stopped!r} is not {certificate.verdict}")
    if certificate.verdict == "certified":
        leaves, _ = proof.leaves
        # However the radius was found, the claimed region itself must be covered.
        if not covers(leaves, proof.region, proof.claimed(certificate.radius)):
            raise InvalidCertificate("the cells leave a part of the claimed region out, or overlap")


def recompute(
    case: CertainCase, model: BaseClassifier, on_progress: Callable[[int, int], None] | None = None
) -> int:
    """Find every margin again with the network, and look at the counterexample; how many margins there are."""
    from tpc_core.exact import Counterexample, check_counterexample, check_margins

    certificate, proof = case.certificate, case.proof
    problem = problem_of(model, case.cloud, certificate.question)
    if problem.network.digest != proof.record.network:
        raise InvalidCertificate("the model has other folded weights than the certificate is about")
    if problem.label != proof.target:
        said = certificate.model.classes[problem.label]
        raise InvalidCertificate(f"the network calls the object {said}, not {certificate.prediction}")
    leaves, margins = proof.leaves
    check_margins(problem, leaves, margins, on_progress=on_progress)
    found = proof.record.counterexample
    if found is not None:
        check_counterexample(problem, Counterexample(tuple(found.parameter), found.rival, found.margin))
    return len(margins)
