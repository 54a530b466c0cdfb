"""Replay: cast every recorded vote again and compare the counts, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from tpc_core.certificate.schema import Certificate
from tpc_core.errors import InvalidCertificate
from tpc_core.ledger import SELECT, Tally, refutation_place, stream_of
from tpc_core.verify.certain import recompute
from tpc_core.verify.verify import Case, case_of, certain_case_of, proof_at
from tpc_core.votes import BLOCK, Ballot, BaseClassifier, Voter, resolve_device

if TYPE_CHECKING:
    from torch import Tensor

_BATCH = 2048
"""Votes cast between two reports."""


def replay(
    certificate: Certificate, model: BaseClassifier, *, on_progress: Callable[[int, int], None] | None = None
) -> int:
    """Verify a certificate and cast its votes again; their number, or InvalidCertificate where one differs.

    Same seed, same model: every count must come out the same to the vote, on every device. Of a certain proof, every
    margin is found again.
    """
    check_model(certificate, model)
    if certificate.certain is not None:
        return recompute(certain_case_of(certificate), model, on_progress)
    case = case_of(certificate)
    voter = Voter(model, case.smoothing, seed=case.ledger.seed, device=resolve_device("auto"))
    done = 0
    for place, points, tally in _recorded(case):
        for start in range(0, tally.n, _BATCH):
            stop = min(tally.n, start + _BATCH)
            (again,) = voter.cast([Ballot(points, stream_of(place), start, stop)])
            if not np.array_equal(again, tally.blocks[start // BLOCK : stop // BLOCK]):
                raise InvalidCertificate(f"{place}: the votes do not come out as recorded")
            done += stop - start
            if on_progress is not None:
                on_progress(done, certificate.samples)
    return done


def check_model(certificate: Certificate, model: BaseClassifier) -> None:
    """InvalidCertificate where the certificate was made with another model."""
    if model.digest != certificate.model.digest:
        raise InvalidCertificate(
            f"the certificate was made with model {certificate.model.name} "
            f"({certificate.model.digest[:12]}), not with this {model.name} ({model.digest[:12]})"
        )
    if list(model.classes) != certificate.model.classes or model.task != certificate.model.task:
        raise InvalidCertificate("the certificate names other classes or another task than this model has")
    sigma = certificate.question.options.sigma
    own = model.smoothing if sigma is None else model.smoothing.with_sigmas(sigma)
    if certificate.certain is None and own.to_json() != certificate.model.smoothing:
        raise InvalidCertificate(
            "the smoothing is neither the model's own nor the one that the question sets"
        )


def _recorded(case: Case) -> Iterator[tuple[str, Tensor, Tally]]:
    """Every place with the cloud on which its votes were cast, and the votes."""
    for place, tally in case.ledger.tallies.items():
        voted_on = case.cloud.points if place == SELECT else proof_at(case.proof, place).tested_cloud(place)
        yield place, voted_on, tally
    for number, refutation in enumerate(case.ledger.refutations, start=1):
        yield refutation_place(number), case.claim.at(refutation.parameter), refutation.votes
