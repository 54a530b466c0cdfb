"""Go on with a certificate: the same question, the same ledger, more votes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tpc_core.certificate.schema import Certificate
from tpc_core.certify import Budget, Event, Focus, certify_events
from tpc_core.errors import UnsupportedRequest
from tpc_core.verify.replay import check_model
from tpc_core.votes import BaseClassifier


def never() -> bool:
    """The cancel signal of work that nobody stops."""
    return False


def continue_run(
    certificate: Certificate,
    model: BaseClassifier,
    focus: Focus | None = None,
    *,
    samples: int | None = None,
    cancelled: Callable[[], bool] = never,
    keep: Callable[[Certificate], None] | None = None,
) -> Iterator[Event]:
    """Cast more votes, in everything that is open or where `focus` says, and read the ledger again; ends with Done.

    The test may be read at any time, so the guarantee holds however often this is done. `samples` bounds the votes
    that are added. A run for a fixed radius goes on after a cell failed: the whole of it is to be known.
    """
    check_model(certificate, model)
    if certificate.verdict == "refuted":
        raise UnsupportedRequest("this claim is refuted; more votes cannot change that")
    question = certificate.question
    budget = Budget(samples=None if samples is None else certificate.samples + samples)
    options = replace(
        question.options, budget=budget, device=certificate.device, complete=not question.options.largest
    )
    return certify_events(
        model,
        certificate.cloud.cloud(),
        question.transform,
        question.radius,
        options,
        cancelled=cancelled,
        resume=certificate,
        focus=focus,
        keep=keep,
        spec=question.object,
    )
