"""Does the verdict of a certificate follow from its evidence? Everything is derived again; no result is trusted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from tpc_core.certificate.certain import PartsRecord
from tpc_core.certificate.schema import Certificate
from tpc_core.cloud import Cloud
from tpc_core.errors import InvalidCertificate, TpcError, UnsupportedRequest
from tpc_core.ledger import SELECT, Ledger, default_seed
from tpc_core.ledger.ledger import proportions
from tpc_core.proofs import Claim, Proof, proof_of
from tpc_core.proofs.judgement import Judgement, judge, resized
from tpc_core.smoothing import Smoothing, smoothing_from_json
from tpc_core.transforms import CoordinateNoise
from tpc_core.verify.certain import CertainCase, check_certain

Taken = TypeVar("Taken")


@dataclass(frozen=True)
class Case:
    """A certificate taken apart: its question, its votes and its proof, all checked."""

    certificate: Certificate
    cloud: Cloud
    smoothing: Smoothing
    ledger: Ledger
    proof: Proof
    """About the region that was asked for; where the largest radius was found, see `claimed`."""
    judgement: Judgement

    @property
    def claim(self) -> Claim:
        return self.proof.claim

    def claimed(self) -> Proof:
        """The proof of exactly what the certificate claims."""
        return proof_of(resized(self.claim, self.certificate.radius))


@dataclass(frozen=True)
class Verified:
    """What a check established."""

    verdict: str
    checks: tuple[str, ...]
    on_trust: str = ""
    """What it still rests on until the network is at hand (`replay`), in a few words; nothing where it is empty."""


def verify(certificate: Certificate) -> Verified:
    """Derive the verdict from what is recorded alone, or raise InvalidCertificate with the reason.

    Of a certain proof this checks that the cells cover the region; that their margins hold takes the network: `replay`.
    """
    if certificate.certain is not None:
        return _verify_certain(certificate)
    case = case_of(certificate)
    checks = [
        "checksum",
        "cloud digest",
        "choice of the class",
        f"{case.proof.kind} of {case.ledger.samples:,} votes",
    ]
    if certificate.verdict == "refuted":
        checks.append("attack")
    if not case.ledger.own_seed:
        checks.append("seed set by hand")
    votes = case.ledger.samples
    return Verified(certificate.verdict, tuple(checks), f"{votes:,} votes" if votes else "")


def _verify_certain(certificate: Certificate) -> Verified:
    proof = certain_case_of(certificate).proof
    record = certificate.certain
    what = proof.evidence
    if certificate.verdict == "certified":
        what += ", nothing left out"
    elif certificate.verdict == "refuted" and not isinstance(record, PartsRecord):
        what = "a counterexample in the region"
        return Verified(
            certificate.verdict, ("checksum", "cloud digest", what), "the counterexample's margin"
        )
    return Verified(certificate.verdict, ("checksum", "cloud digest", what), proof.on_trust)


def case_of(certificate: Certificate) -> Case:
    """Take a smoothed certificate apart; one that does not hold together raises InvalidCertificate."""
    if certificate.certain is not None:
        raise UnsupportedRequest(
            "there are no votes to look into: it was proved without any, about the plain network"
        )
    return _consistent(certificate, _case)


def certain_case_of(certificate: Certificate) -> CertainCase:
    """Take a certain certificate apart; one that does not hold together raises InvalidCertificate."""
    return _consistent(certificate, check_certain)


def _consistent(certificate: Certificate, take_apart: Callable[[Certificate], Taken]) -> Taken:
    try:
        intact = certificate.checksum == certificate.content_digest
    except (ValueError, RecursionError) as error:
        raise InvalidCertificate(f"not a certificate: {error}") from None
    if not intact:
        raise InvalidCertificate("the checksum does not match: the file was changed after it was made")
    try:
        return take_apart(certificate)
    except InvalidCertificate:
        raise
    except (TpcError, ValueError, ArithmeticError, TypeError, LookupError, AssertionError) as error:
        raise InvalidCertificate(f"the certificate is not consistent: {error}") from error


def _case(certificate: Certificate) -> Case:
    question, options, model = certificate.question, certificate.question.options, certificate.model
    if len(set(model.classes)) != len(model.classes):
        raise InvalidCertificate("the model has two classes of the same name")
    cloud = certificate.cloud.cloud()
    if question.points != len(cloud) or question.model != model.name:
        raise InvalidCertificate("the question is about another model or another object than the certificate")
    smoothing = smoothing_from_json(model.smoothing)
    if json.dumps(model.smoothing, sort_keys=True) != json.dumps(smoothing.to_json(), sort_keys=True):
        raise InvalidCertificate(
            "the smoothing is not written in its usual form, and the seed depends on that form"
        )
    if options.sigma is not None and smoothing.with_sigmas(options.sigma) != smoothing:
        raise InvalidCertificate("the sigmas of the question are not those of the votes")
    if options.proof == "certain":
        raise InvalidCertificate(
            "the question asks for a proof without votes, and the certificate holds votes"
        )
    if options.largest and model.task == "segmentation":
        raise InvalidCertificate("part segmentation has no largest radius")
    if options.protocol == "paper" and model.task == "segmentation":
        raise InvalidCertificate("part segmentation is not certified by the paper's protocol")
    ledger = certificate.votes()
    ledger.check(default_seed(cloud.digest, model.digest, question.transform, model.smoothing))
    if options.seed is not None and (ledger.seed != options.seed or ledger.own_seed):
        raise InvalidCertificate("the seed of the question is not that of the votes")
    claim = Claim(
        cloud=cloud,
        transform=question.family,
        smoothing=smoothing,
        radii=question.radii,
        alpha=options.alpha,
        task=model.task,
        protocol=options.protocol,
        resolution=options.resolution,
        family=certificate.family,
    )
    _check_family(claim, ledger)
    _check_attacks(claim, ledger)
    proof = proof_of(claim)
    _check_places(proof, ledger)
    judgement = judge(
        proof,
        ledger,
        asked=question.radius,
        largest=options.largest,
        stopped=certificate.stopped,
        classes=model.classes,
    )
    _check_said(certificate, ledger, judgement)
    if certificate.verdict == "certified" and model.task != "segmentation":
        _check_claimed(certificate, claim, ledger)
    return Case(certificate, cloud, smoothing, ledger, proof, judgement)


def _check_family(claim: Claim, ledger: Ledger) -> None:
    """The level of a region of several radii depends on how many shapes were tried before it."""
    if not claim.has_families:
        if claim.family != 1 or ledger.families:
            raise InvalidCertificate("this claim has one shape of region only")
        return
    known = ledger.find_family(claim.radii)
    if known != claim.family:
        raise InvalidCertificate(
            f"the region has the shape {proportions(claim.radii)}, which is not number {claim.family} of its ledger"
        )


def _check_attacks(claim: Claim, ledger: Ledger) -> None:
    """An attack is a parameter of the transform; coordinate noise has three numbers for each point."""
    transform = claim.transform
    dim = 3 * len(claim.cloud) if isinstance(transform, CoordinateNoise) else transform.dim
    if any(len(refutation.parameter) != dim for refutation in ledger.refutations):
        raise InvalidCertificate(f"an attack by {transform.name} has {dim} parameters here")


def _check_places(proof: Proof, ledger: Ledger) -> None:
    proof.check_tallies(ledger)
    for place in ledger.tallies:
        if place == SELECT:
            continue
        proof_at(proof, place).check_place(place)


def proof_at(proof: Proof, place: str) -> Proof:
    """The proof that a place belongs to: a cell may be one of another shape of region, with noise of its own."""
    pieces = place.split("|", 2)
    if pieces[0] != "cell" or len(pieces) != 3 or not pieces[1].isdigit():
        return proof
    family = int(pieces[1])
    return proof if family == proof.claim.family else proof_of(replace(proof.claim, family=family))


def _check_said(certificate: Certificate, ledger: Ledger, judgement: Judgement) -> None:
    target = ledger.target
    name = None if target is None else certificate.model.classes[target]
    if certificate.prediction != name:
        raise InvalidCertificate(f"the votes choose {name}, not {certificate.prediction}")
    if certificate.samples != ledger.samples:
        raise InvalidCertificate(f"the ledger holds {ledger.samples:,} votes, not {certificate.samples:,}")
    if certificate.verdict != judgement.verdict:
        raise InvalidCertificate(
            f"the certificate says {certificate.verdict}, but its votes say {judgement.verdict}"
        )
    if certificate.radius != judgement.radius:
        raise InvalidCertificate("the radius is not the one that the votes certify")
    if certificate.sentence != judgement.sentence:
        raise InvalidCertificate("the sentence does not say what the certificate shows")


def _check_claimed(certificate: Certificate, claim: Claim, ledger: Ledger) -> None:
    """The claimed region itself must be proved, however its radius was found."""
    if not proof_of(resized(claim, certificate.radius)).standing(ledger).certified:
        raise InvalidCertificate("the claimed radius is not certified by its votes")
