"""A second opinion: the same claim on votes that nobody could have foreseen.

A seed that was tried out until it pleased, or a cloud that was jittered for it, passes a replay. It does not help
against votes that are cast under the verifier's own seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tpc_core.certificate.schema import Certificate
from tpc_core.certify import Budget, certify
from tpc_core.errors import InvalidCertificate, InvalidValue, UnsupportedRequest
from tpc_core.verify.replay import check_model
from tpc_core.verify.verify import case_of
from tpc_core.votes import BaseClassifier

_MARGIN = 8
"""How many times the votes of the certificate the second opinion may take: other noise needs other votes."""

_LEAST = 4_096


@dataclass(frozen=True)
class Fresh:
    """What came out of it."""

    stands: bool
    certificate: Certificate


def verify_fresh(
    certificate: Certificate,
    model: BaseClassifier,
    seed: int,
    *,
    cancelled: Callable[[], bool] = lambda: False,
) -> Fresh:
    """Certify the claimed radius again under another seed; the claim stands if it comes out certified again."""
    if certificate.certain is not None:
        raise UnsupportedRequest("a certain proof casts no votes; find its margins again instead (--replay)")
    check_model(certificate, model)
    if certificate.ledger is not None and seed == certificate.ledger.seed:
        raise InvalidValue("a second opinion takes another seed than the certificate's own")
    case = case_of(certificate)
    if certificate.verdict != "certified":
        raise InvalidCertificate("only a certified claim can be put to a second test")
    options = replace(
        certificate.question.options,
        seed=seed,
        largest=False,
        budget=Budget(samples=max(_LEAST, _MARGIN * certificate.samples)),
    )
    made = certify(
        model, case.cloud, certificate.question.transform, certificate.radius, options, cancelled=cancelled
    )
    same = made.verdict == "certified" and made.prediction == certificate.prediction
    return Fresh(same, made)
