"""A run opened again from its certificate: same question, same noise, same levels."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from tpc_core.certify.control import Budget, Control
from tpc_core.certify.run import Run, default_batch_size
from tpc_core.diagnosis.subject import Subject
from tpc_core.errors import InvalidValue
from tpc_core.smoothing import Smoothing
from tpc_core.votes import BaseClassifier, Voter, resolve_device


def never() -> bool:
    """The cancel signal of work that nobody stops."""
    return False


def check_model(subject: Subject, model: BaseClassifier) -> None:
    """Only the model that cast the votes may cast more of them."""
    wanted = subject.certificate.model
    if model.digest != wanted.digest or list(model.classes) != wanted.classes:
        raise InvalidValue(
            f"this certificate was made with {wanted.name} ({wanted.digest[:12]}), not with {model.name} "
            f"({model.digest[:12]})"
        )


def reopened(
    subject: Subject,
    model: BaseClassifier,
    *,
    cancelled: Callable[[], bool] = never,
    more_samples: int | None = None,
) -> Run:
    """The run as it stood when its certificate was written; `more_samples` bounds what it may still spend."""
    check_model(subject, model)
    certificate = subject.certificate
    limit = None if more_samples is None else certificate.samples + more_samples
    control = Control(Budget(samples=limit), cancelled, samples=certificate.samples)
    control.started = time.monotonic() - certificate.seconds
    return Run(
        voter=voter_of(subject, model),
        cloud=subject.cloud,
        classes=tuple(model.classes),
        transform=subject.transform,
        radii=subject.radii,
        largest=certificate.claim.largest,
        alpha=certificate.alpha,
        monitor=subject.monitor,
        control=control,
        batch_size=default_batch_size(len(subject.cloud)),
        complete=True,
    )


def voter_of(subject: Subject, model: BaseClassifier, smoothing: Smoothing | None = None) -> Voter:
    """Who votes: the model of the certificate under its smoothing, or under another one."""
    device = resolve_device(subject.certificate.device)
    return Voter(model, smoothing or subject.smoothing, seed=subject.certificate.seed, device=device)


def with_level(run: Run, alpha: float) -> Run:
    """The same run with a part of its level."""
    return replace(run, alpha=alpha)
