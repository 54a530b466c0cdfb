"""What a finished run has come to: the part of the region that is proved, and the one step that comes next."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from app.pages.certify.estimates import duration
from app.server.jobs import JobView
from tpc_core import Certificate
from tpc_core.case_view import CaseView
from tpc_core.certificate import radius_words
from tpc_core.errors import TpcError
from tpc_core.explain import explain_certificate

_ROOM = 1.5
"""Votes that a continued run may take, over those that it is expected to: a forecast is no promise."""


@dataclass(frozen=True)
class NextStep:
    """One button: more votes up to a limit, or the radius that is proved already."""

    label: str
    help: str
    limit: int | None = None
    radius: dict[str, float] | None = None


@dataclass(frozen=True)
class Outcome:
    """What is proved of the region, in words and as a part of it, and what to do next."""

    certified: float
    proved: str
    step: NextStep | None


NOTHING = Outcome(0.0, "", None)


def outcome_of(view: JobView) -> Outcome:
    """The outcome of a run that has ended; nothing while it goes."""
    certificate = view.certificate
    if view.live or certificate is None:
        return NOTHING
    return _outcome(_Held(certificate), max(view.rate, 1.0))


class _Held:
    """A certificate as a key: by identity, which a finished run keeps."""

    def __init__(self, certificate: Certificate) -> None:
        self.certificate = certificate

    def __hash__(self) -> int:
        return id(self.certificate)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and self.certificate is other.certificate


@lru_cache(maxsize=64)
def _outcome(held: _Held, rate: float) -> Outcome:
    certificate = held.certificate
    if certificate.question.options.proof == "certain" or certificate.certain is not None:
        return Outcome(1.0 if certificate.verdict == "certified" else 0.0, certificate.note, None)
    try:
        view = CaseView.of(certificate)
        part = view.certified_part
        step = _next(view, part, rate)
    except TpcError:  # a run that was stopped before it had chosen a class
        return NOTHING
    proved = certificate.note
    if certificate.verdict != "certified" and part > 1e-3:
        proved = f"Certified up to {radius_words(view.transform.radii, _radius(view, part))}."
    return Outcome(part, proved, step)


def _next(view: CaseView, part: float, rate: float) -> NextStep | None:
    """Finish the run where votes can do it; else claim what they prove already."""
    certificate = view.certificate
    if certificate.verdict == "certified":
        return None
    remedy = explain_certificate(view).primary
    goes_on = remedy is not None and remedy.action == "go-on" and math.isfinite(remedy.votes)
    if certificate.verdict == "undecided" and remedy is not None and goes_on:
        limit = certificate.samples + math.ceil(_ROOM * remedy.votes)
        budgeted = certificate.question.options.budget.samples is not None
        label = f"Continue: {remedy.votes:,.0f} votes, {duration(remedy.votes / rate)}"
        return NextStep(label, remedy.note, limit if budgeted else None)
    if certificate.verdict == "undecided" and certificate.stopped in ("budget", "cancelled", "cut-off"):
        unlimited = certificate.question.options.budget.samples is None
        more = None if unlimited else 5 * max(certificate.samples, 1000)
        return NextStep("Continue", "The votes so far are kept, and the guarantee stays the same.", more)
    if part > 1e-3:
        radius = _radius(view, part)
        label = f"Certify {radius_words(view.transform.radii, radius)}"
        return NextStep(label, "The votes so far already prove this. No new votes are needed.", radius=radius)
    return None


def _radius(view: CaseView, part: float) -> dict[str, float]:
    """The proved part of the radius in edge units, rounded down to four digits."""
    found = {}
    for p, r in zip(view.transform.radii, view.radii, strict=True):
        value = p.to_edge(r) * part
        step = 10.0 ** (math.floor(math.log10(value)) - 3) if value > 0 else 1.0
        found[p.name] = float(f"{math.floor(value / step) * step:.6g}")
    return found
