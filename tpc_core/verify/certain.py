"""Check a certificate without probability: its evidence without the network, the margins with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tpc_core.certificate.certain import CounterexampleRecord
from tpc_core.certificate.schema import Certificate
from tpc_core.certify.certain_search import problem_of
from tpc_core.cloud import Cloud
from tpc_core.errors import InvalidCertificate
from tpc_core.proofs.certain import BallProof, CellsProof, CertainProof, PartsProof, certain_proof
from tpc_core.proofs.certain.base import ClassProof
from tpc_core.votes import BaseClassifier

if TYPE_CHECKING:
    from tpc_core.exact import BallProblem, Counterexample, PartsProblem, Problem


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
    if model.smoothing or certificate.samples or certificate.family != 1:
        raise InvalidCertificate("a certain proof is about the plain network and casts no votes")
    if (record.kind == "parts") != (model.task == "segmentation"):
        raise InvalidCertificate("a proof about parts is one of a model that labels points, and no other is")
    proof = certain_proof(question, record, certificate.prediction, model.classes)
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
    decided = certificate.verdict != "undecided"
    # A search for the largest radius, and one point by point, may know something and end before it knows all.
    partly = _is_open_ended(certificate)
    if certificate.stopped not in ("settled", "budget", "cancelled", "hopeless") or (
        settled != decided and not partly
    ):
        raise InvalidCertificate(f"a run that ended as {certificate.stopped!r} is not {certificate.verdict}")
    if certificate.verdict == "certified":
        proof.check_claimed(certificate.radius)


def _is_open_ended(certificate: Certificate) -> bool:
    """Whether more could be known after a verdict: a larger radius, or more points."""
    return certificate.question.options.largest or certificate.model.task == "segmentation"


def recompute(
    case: CertainCase, model: BaseClassifier, on_progress: Callable[[int, int], None] | None = None
) -> int:
    """Find every margin again with the network, and look at the counterexamples; how many margins there are."""
    from tpc_core.exact import BallProblem, PartsProblem

    certificate, record = case.certificate, case.certificate.certain
    assert record is not None
    problem = problem_of(model, case.cloud, certificate.question)
    if problem.network.digest != record.network:
        raise InvalidCertificate("the model has other folded weights than the certificate is about")
    if isinstance(problem, PartsProblem):
        assert isinstance(case.proof, PartsProof)
        return _parts_again(problem, case.proof, on_progress)
    assert isinstance(case.proof, ClassProof)
    if problem.label != case.proof.target:
        said = certificate.model.classes[problem.label]
        raise InvalidCertificate(f"the network calls the object {said}, not {certificate.prediction}")
    if isinstance(problem, BallProblem):
        assert isinstance(case.proof, BallProof)
        return _ball_again(problem, case.proof)
    assert isinstance(case.proof, CellsProof)
    return _cells_again(problem, case.proof, on_progress)


def _cells_again(problem: Problem, proof: CellsProof, on_progress: Callable[[int, int], None] | None) -> int:
    from tpc_core.exact import check_counterexample, check_margins

    leaves, margins = proof.leaves
    check_margins(problem, leaves, margins, on_progress=on_progress)
    if proof.record.counterexample is not None:
        check_counterexample(problem, _stated(proof.record.counterexample))
    return len(margins)


def _ball_again(problem: BallProblem, proof: BallProof) -> int:
    from tpc_core.exact import check_ball, check_ball_counterexample

    proved, found = proof.record.proved, proof.record.counterexample
    if proved is not None:
        check_ball(problem, proved.part, proved.margin)
    if found is not None:
        check_ball_counterexample(problem, _stated(found))
    return 0 if proved is None else 1


def _parts_again(
    problem: PartsProblem, proof: PartsProof, on_progress: Callable[[int, int], None] | None
) -> int:
    from tpc_core.exact import check_point_counterexample, check_point_margins

    if problem.labels.tolist() != proof.record.labels:
        raise InvalidCertificate("the network gives other parts to the points than the certificate says")
    leaves, margins = proof.leaves
    check_point_margins(problem, leaves, margins, on_progress=on_progress)
    for found in proof.record.counterexamples:
        check_point_counterexample(problem, found.point, _stated(found))
    return int((~np.isnan(margins)).sum())


def _stated(found: CounterexampleRecord) -> Counterexample:
    from tpc_core.exact import Counterexample

    return Counterexample(tuple(found.parameter), found.rival, found.margin)
