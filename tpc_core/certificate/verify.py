"""Check a certificate: does its verdict follow from its own counts, and do the votes come out again?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tpc_core.certificate.checks import TOLERANCE, Question, agree, best_reading, check_ledger
from tpc_core.certificate.schema import (
    Certificate,
    GroupEvidence,
    PointEvidence,
    SingleEvidence,
)
from tpc_core.certificate.sentence import verdict_sentence
from tpc_core.certificate.verify_cover import check_cover
from tpc_core.certify.ledger import point_ledger, stage_ledger
from tpc_core.certify.points import evidence_from_counts
from tpc_core.certify.strategy import choose_strategy
from tpc_core.errors import InvalidCertificate, TpcError
from tpc_core.smoothing import smoothing_from_json
from tpc_core.statistics import (
    AnytimeMonitor,
    Monitor,
    StagedMonitor,
    top_class_p_value,
)
from tpc_core.transforms import CoordinateNoise, Transform, parse_transform


@dataclass(frozen=True)
class Verified:
    """What a check established."""

    verdict: str
    checks: tuple[str, ...]


def verify(certificate: Certificate) -> Verified:
    """Re-derive the verdict from the recorded counts alone, or raise InvalidCertificate with the reason.

    Statistics, displacement and cover are computed anew from the recorded cloud; nothing that was recorded
    as a result is trusted.
    """
    if certificate.checksum != certificate.content_digest:
        raise InvalidCertificate("the checksum does not match: the file was changed after it was made")
    try:
        question = question_of(certificate)
        checks = _check_evidence(question) + _check_refutation(question)
        _check_sentence(question)
    except InvalidCertificate:
        raise
    except (TpcError, ValueError, ArithmeticError, TypeError, LookupError, AssertionError) as error:
        raise InvalidCertificate(f"the certificate is not consistent: {error}") from error
    return Verified(certificate.verdict, ("checksum", "cloud digest", *checks))


def question_of(certificate: Certificate) -> Question:
    """The question that a certificate answers, parsed and checked; its evidence is not looked at yet."""
    transform = parse_transform(certificate.claim.transform)
    names = [p.name for p in transform.radii]
    if set(certificate.claim.radius) != set(names):
        raise InvalidCertificate(
            f"the radius of {transform.name} names {names}, not {list(certificate.claim.radius)}"
        )
    edge = [certificate.claim.radius[name] for name in names]
    radii = tuple(p.to_internal(value) for p, value in zip(transform.radii, edge, strict=True))
    if certificate.verdict == "certified" and min(radii) <= 0:
        raise InvalidCertificate("a certified radius must be positive")
    statistics = certificate.statistics
    sizes = tuple(statistics.sizes)
    monitor: Monitor = (
        StagedMonitor(sizes, tuple(statistics.shares))
        if statistics.kind == "staged"
        else AnytimeMonitor(sizes)
    )
    prediction = certificate.prediction
    classes = certificate.model.classes
    if len(set(classes)) != len(classes):
        raise InvalidCertificate("the model has two classes of the same name")
    if prediction is not None:
        if not 0 <= prediction.index < len(classes) or classes[prediction.index] != prediction.name:
            raise InvalidCertificate(f"class {prediction.index} of the model is not {prediction.name!r}")
        if sum(prediction.votes.values()) != prediction.samples:
            raise InvalidCertificate("the votes that chose the class do not add up to their number")
        if max(prediction.votes.values(), default=0) != prediction.votes.get(prediction.name, 0):
            raise InvalidCertificate(f"the votes that chose the class do not favour {prediction.name}")
    smoothing = smoothing_from_json(certificate.model.smoothing)
    return Question(certificate, certificate.cloud.cloud(), transform, radii, smoothing, monitor)


def _check_sentence(question: Question) -> None:
    certificate = question.certificate
    said = verdict_sentence(
        question.transform,
        question.radii,
        certificate.alpha,
        certificate.verdict,
        certificate.prediction,
        certificate.evidence,
        certificate.reasons,
        certificate.attack,
    )
    if certificate.sentence != said:
        raise InvalidCertificate("the sentence does not say what the certificate shows")


def _check_evidence(question: Question) -> tuple[str, ...]:
    certificate = question.certificate
    evidence = certificate.evidence
    if certificate.prediction is None and not isinstance(evidence, PointEvidence):
        if certificate.verdict != "undecided":
            raise InvalidCertificate("without a predicted class nothing can be certified or refuted")
        return ("no class was predicted",)
    if isinstance(evidence, SingleEvidence):
        derived = _single(question, evidence)
    elif isinstance(evidence, GroupEvidence):
        derived = _group(question, evidence)
    elif isinstance(evidence, PointEvidence):
        derived = _points(question, evidence)
    else:
        derived = check_cover(question, evidence)
    if (certificate.verdict == "certified") != derived:
        said = "certified" if certificate.verdict == "certified" else "not certified"
        raise InvalidCertificate(f"the file says {said}, but its counts say otherwise")
    return (f"{evidence.kind} evidence",)


def _single(question: Question, evidence: SingleEvidence) -> bool:
    strategy = choose_strategy(question.transform, question.smoothing, question.cloud)
    if strategy.rule is None or strategy.rule.name != evidence.rule:
        raise InvalidCertificate(f"a {evidence.rule} certificate does not apply to {question.transform.name}")
    best = best_reading(question, evidence.readings, question.certificate.alpha, question.monitor.bound)
    agree("the lower bound of p_A", evidence.lower_bound, best)
    check_ledger(question, stage_ledger(question.monitor, len(evidence.readings), question.certificate.alpha))
    if question.certificate.claim.largest:
        largest = strategy.rule.largest(
            best, question.radii if min(question.radii) > 0 else (1.0,) * len(question.radii)
        )
        certified = all(r <= big * (1 + TOLERANCE) for r, big in zip(question.radii, largest, strict=True))
        return certified and min(question.radii) > 0
    needed = strategy.rule.needed(question.radii)
    agree("the needed p_A", evidence.needed, needed)
    return best > needed


def _group(question: Question, evidence: GroupEvidence) -> bool:
    strategy = choose_strategy(question.transform, question.smoothing, question.cloud)
    if strategy.kind != "group":
        raise InvalidCertificate(f"a group certificate does not apply to {question.transform.name}")
    classes, prediction = question.certificate.model.classes, question.certificate.prediction
    assert prediction is not None
    previous = dict.fromkeys(classes, 0)
    certified, p_value, level = False, 1.0, 0.0
    for stage, votes in enumerate(evidence.stages):
        if stage >= len(question.monitor.sizes) or sum(votes.values()) != question.monitor.sizes[stage]:
            raise InvalidCertificate(f"stage {stage + 1} does not hold the number of votes fixed beforehand")
        if set(votes) - set(classes) or any(votes.get(n, 0) < before for n, before in previous.items()):
            raise InvalidCertificate(f"the votes of stage {stage + 1} cannot follow those before")
        previous = {name: votes.get(name, 0) for name in classes}
        p_value = question.monitor.top_class([previous[name] for name in classes], prediction.index)
        level = question.monitor.level(stage, question.certificate.alpha)
        certified = certified or p_value <= level
    if evidence.stages:
        agree("the p-value", evidence.p_value, p_value)
        agree("the level of the test", evidence.level, level)
    check_ledger(question, stage_ledger(question.monitor, len(evidence.stages), question.certificate.alpha))
    return certified


def _points(question: Question, evidence: PointEvidence) -> bool:
    strategy = choose_strategy(question.transform, question.smoothing, question.cloud)
    rule = "group" if strategy.kind == "group" else strategy.rule.name if strategy.rule else "cover"
    if rule != evidence.rule or len(evidence.predictions) != len(question.cloud):
        raise InvalidCertificate("the evidence does not fit the cloud and the smoothing")
    classes = len(question.certificate.model.classes)
    if any(not 0 <= label < classes for label in evidence.predictions):
        raise InvalidCertificate("a point is predicted to be of a part that the model does not have")
    if evidence.n == 0:
        if any(evidence.certified) or any(evidence.jointly_certified):
            raise InvalidCertificate("a point is certified without a single vote")
        return False
    if evidence.n != question.monitor.sizes[-1]:
        raise InvalidCertificate("the number of votes is not the one fixed beforehand")
    needed = 0.5 if strategy.rule is None else strategy.rule.needed(question.radii)
    agree("the needed p_A", evidence.needed, needed)
    for own, rival in zip(evidence.n_a, evidence.runner_up, strict=True):
        # All votes are for the predicted part or for one of the others, none of which beats the runner-up.
        if not own + rival <= evidence.n <= own + rival * (classes - 1):
            raise InvalidCertificate(
                f"{own} and {rival} of {evidence.n} votes cannot be the two largest counts"
            )
    derived = evidence_from_counts(
        evidence.rule,
        evidence.predictions,
        evidence.selection,
        evidence.n,
        evidence.n_a,
        evidence.runner_up,
        needed,
        question.certificate.alpha,
    )
    if derived.certified != evidence.certified or derived.jointly_certified != evidence.jointly_certified:
        raise InvalidCertificate("the certified points do not follow from the counts")
    for recorded, bound in zip(evidence.lower_bounds, derived.lower_bounds, strict=True):
        agree("the lower bound of a point", recorded, bound)
    check_ledger(question, point_ledger(len(question.cloud), question.certificate.alpha))
    return all(derived.certified)


def _check_refutation(question: Question) -> tuple[str, ...]:
    """A refuted verdict needs an attack inside the region whose votes prove it."""
    certificate, transform = question.certificate, question.transform
    attack, prediction = certificate.attack, certificate.prediction
    if (certificate.verdict == "refuted") != (attack is not None):
        raise InvalidCertificate("a refuted verdict and a recorded attack go together")
    if attack is None or prediction is None:
        return ()
    parameter = np.asarray(attack.parameter, dtype=np.float64)
    if not _is_inside(parameter, transform, question.radii):
        raise InvalidCertificate("the recorded attack lies outside the claimed region")
    if set(attack.edge) != {p.name for p in transform.parameters}:
        raise InvalidCertificate("the recorded attack does not name the transform's parameters")
    for name, value in transform.named_values(parameter).items():
        agree(f"{name} of the attack", attack.edge[name], value)
    if attack.winner not in certificate.model.classes or set(attack.votes) - set(certificate.model.classes):
        raise InvalidCertificate("the recorded attack leads to a class that the model does not have")
    if attack.winner == prediction.name or sum(attack.votes.values()) != attack.samples:
        raise InvalidCertificate("the votes of the recorded attack do not add up")
    pair = [attack.votes.get(attack.winner, 0), attack.votes.get(prediction.name, 0)]
    agree("the p-value of the attack", attack.p_value, top_class_p_value(pair, 0))
    if top_class_p_value(pair, 0) > certificate.alpha:
        raise InvalidCertificate("the votes of the recorded attack do not prove that another class wins")
    return ("attack",)


def _is_inside(z: np.ndarray, transform: Transform, radii: tuple[float, ...]) -> bool:
    """Whether a parameter lies in the claimed region, up to rounding."""
    if isinstance(transform, CoordinateNoise):
        size = float(np.linalg.norm(z) if transform.norm == "l2" else np.abs(z).max(initial=0.0))
        return size <= radii[0] * (1 + 1e-6)
    region = transform.region(radii)
    return z.shape == (region.dim,) and bool(region.gauge(z[None])[0] <= 1 + 1e-6)
