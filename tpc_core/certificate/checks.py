"""What the checks of a certificate share: the question it answers, its readings, and exact agreement."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tpc_core.certificate.schema import Certificate, LedgerEntry, Reading
from tpc_core.cloud import Cloud
from tpc_core.errors import InvalidCertificate
from tpc_core.smoothing import Smoothing
from tpc_core.statistics import Monitor
from tpc_core.transforms import Transform

TOLERANCE = 1e-9
"""Recorded bounds may differ from re-derived ones by this much: another libm rounds another way."""


@dataclass(frozen=True)
class Question:
    """The parts of a certificate that its evidence is judged by, parsed and checked."""

    certificate: Certificate
    cloud: Cloud
    transform: Transform
    radii: tuple[float, ...]
    smoothing: Smoothing
    monitor: Monitor


def agree(name: str, recorded: float, derived: float) -> None:
    # No absolute tolerance: levels and p-values are small by nature.
    if not math.isclose(recorded, derived, rel_tol=TOLERANCE, abs_tol=0.0):
        raise InvalidCertificate(f"{name} is recorded as {recorded:.12g}, but the counts give {derived:.12g}")


def check_ledger(question: Question, expected: list[LedgerEntry]) -> None:
    recorded = question.certificate.ledger
    if [entry.what for entry in recorded] != [entry.what for entry in expected]:
        raise InvalidCertificate("the ledger of alpha does not list what was tested")
    for entry, derived in zip(recorded, expected, strict=True):
        agree(f"the level of {entry.what}", entry.level, derived.level)


def best_reading(
    question: Question, readings: list[Reading], alpha: float, read: Callable[[int, int, float], float]
) -> float:
    """The best bound of a series of readings: stages in order, counts that can follow one another."""
    best, previous = 0.0, Reading(n=0, n_a=0)
    for stage, reading in enumerate(readings):
        if stage >= len(question.monitor.sizes) or reading.n != question.monitor.sizes[stage]:
            raise InvalidCertificate(f"a bound was read at {reading.n} votes, which is not stage {stage + 1}")
        gained, cast = reading.n_a - previous.n_a, reading.n - previous.n
        if not 0 <= gained <= cast:
            raise InvalidCertificate(
                f"{reading.n_a} of {reading.n} votes cannot follow {previous.n_a} of {previous.n}"
            )
        best, previous = max(best, read(reading.n_a, stage, alpha)), reading
    return best
