"""Why a certificate failed as a whole: the causes of its cells, summed up, and what the run itself says."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace

from tpc_core.certificate.schema import GridEvidence, PointEvidence, TreeEvidence
from tpc_core.diagnosis.causes import explain_cell
from tpc_core.diagnosis.cells import CellFacts
from tpc_core.diagnosis.findings import Cause, Finding, Remedy, count, percent
from tpc_core.diagnosis.less import can_claim_less
from tpc_core.diagnosis.rest import rest_votes, untested_share
from tpc_core.diagnosis.subject import Subject
from tpc_core.diagnosis.take import certified_size

_ORDER: tuple[Cause, ...] = ("another-class", "unsure", "too-coarse", "wide-interval")
_EXPLAINED = 2000
"""Cells that are explained one by one; a larger cover is judged by its worst."""


@dataclass(frozen=True)
class Diagnosis:
    """The verdict, what stands behind it, and what could be done."""

    verdict: str
    sentence: str
    findings: tuple[Finding, ...]
    certified: float
    """The part of the region that the votes at hand certify."""

    @property
    def main(self) -> Finding:
        return self.findings[0]

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        return tuple(remedy for finding in self.findings for remedy in finding.remedies)


def diagnose(subject: Subject) -> Diagnosis:
    """Explain a certificate from its own counts; nothing is voted on."""
    certificate = subject.certificate
    smaller = _smaller(subject)
    findings = [
        *_from_the_start(subject),
        *_by_cause(subject, bool(smaller)),
        *_unfinished(subject),
        *smaller,
    ]
    if certificate.verdict == "certified" and not findings:
        findings.append(
            Finding(
                "passed",
                certificate.sentence,
                (f"{certificate.samples:,} votes, alpha {certificate.alpha:g}",),
            )
        )
    if not findings:
        reasons = [reason.message for reason in certificate.reasons] or ["no reason was recorded"]
        code = certificate.reasons[0].code if certificate.reasons else ""
        cause: Cause = "too-many-dimensions" if code == "too-coarse" else "budget"
        findings.append(Finding(cause, f"{reasons[0][0].upper()}{reasons[0][1:]}."))
    return Diagnosis(certificate.verdict, certificate.sentence, tuple(findings), certified_size(subject))


def _from_the_start(subject: Subject) -> list[Finding]:
    """Whether the model is right about the object before anything is done to it."""
    label, prediction = subject.certificate.cloud.label, subject.prediction
    if label is None or prediction is None or label == prediction.name:
        return []
    got, cast = prediction.votes.get(prediction.name, 0), prediction.samples
    return [
        Finding(
            "wrong-from-the-start",
            f"The smoothed model calls this {label} a {prediction.name} before anything is done to it: a certificate "
            "would prove that it stays wrong.",
            (
                f"{got:,} of {cast:,} votes for {prediction.name}, {prediction.votes.get(label, 0):,} for {label}, "
                "without an attack",
            ),
            (Remedy("other-model", "see which models get it right"),),
        )
    ]


def _by_cause(subject: Subject, smaller: bool) -> list[Finding]:
    """One finding for each cause, over all cells that share it; `smaller`: a smaller claim is offered anyway."""
    groups: dict[Cause, list[tuple[CellFacts, Finding]]] = defaultdict(list)
    for facts in subject.failing[:_EXPLAINED]:
        finding = explain_cell(subject, facts)
        groups[finding.cause].append((facts, finding))
    found = []
    for cause in sorted(groups, key=lambda c: _ORDER.index(c) if c in _ORDER else -1):
        pairs = groups[cause]
        worst = pairs[0][1]
        remedies = worst.remedies if len(pairs) == 1 else _together(worst.remedies, [f for _, f in pairs])
        if smaller:
            remedies = tuple(remedy for remedy in remedies if remedy.action != "smaller-radius")
        if len(pairs) == 1:
            found.append(replace(worst, remedies=remedies))
            continue
        place = subject.place(pairs[0][0])
        lead = "The worst: " if place in worst.sentence else f"The worst, at {place}: "
        found.append(
            Finding(
                cause,
                f"{lead}{worst.sentence[:1].lower()}{worst.sentence[1:]}",
                worst.evidence,
                remedies,
                tuple(facts.path for facts, _ in pairs),
                _heading(cause, pairs[0][0], len(pairs)),
            )
        )
    return found


def _heading(cause: Cause, facts: CellFacts, number: int) -> str:
    noun = "points" if facts.kind == "point" else "cells"
    return _HEADINGS[cause].format(n=f"{number:,}", cells=noun)


_HEADINGS: dict[Cause, str] = {
    "another-class": "Another class wins at {n} places",
    "unsure": "The model is unsure of {n} {cells}",
    "too-coarse": "{n} {cells} are too coarse",
    "wide-interval": "{n} {cells} have too few votes",
    "wrong-from-the-start": "{n} places are wrong",
}


def _together(first: tuple[Remedy, ...], every: list[Finding]) -> tuple[Remedy, ...]:
    """The remedies of the worst cell, with what they cost for all cells that have them."""
    joined = []
    for remedy in first:
        alike = [r for finding in every for r in finding.remedies if r.action == remedy.action]
        if remedy.action == "more-votes" or remedy.action == "refine":
            votes = sum(r.votes for r in alike)
            cells = tuple(path for r in alike for path in r.cells)
            where = f"these {len(cells)} cells" if len(cells) > 1 else "one of these cells"
            what = f"cast {count(votes)} more votes in" if remedy.action == "more-votes" else "refine"
            sentence = f"{what} {where}"
            until = max((r.until for r in alike if r.until is not None), default=None)
            chances = [r.chance for r in alike if r.chance is not None]
            chance = math.prod(chances) if chances else None
            joined.append(Remedy(remedy.action, sentence, votes, chance, cells, until, remedy.note))
        else:
            joined.append(remedy)
    return tuple(joined)


def _unfinished(subject: Subject) -> list[Finding]:
    """Whether the run ended before it was done, and what the rest is expected to cost."""
    certificate = subject.certificate
    if certificate.verdict != "undecided" and not certificate.claim.largest:
        return []
    if isinstance(certificate.evidence, PointEvidence):
        return []  # its one sample was cast as a whole
    if subject.prediction is None:
        reason = certificate.reasons[0].message if certificate.reasons else "the budget ended"
        again = Remedy("new-run", "start it again with a larger budget", votes=128)
        return [Finding("budget", f"The run ended before it knew its class: {reason}.", (), (again,))]
    stopped = [r for r in certificate.reasons if r.code in ("budget", "cancelled")]
    if not isinstance(certificate.evidence, TreeEvidence | GridEvidence):
        return [Finding("budget", f"{_capital(r.message)}.") for r in stopped]
    done = certificate.verdict == "certified"
    if done or not (subject.untested or stopped):
        return []
    share = untested_share(subject)
    votes = rest_votes(subject)
    cause: Cause = "budget" if stopped else "untested"
    why = _capital(stopped[0].message) if stopped else "The run ended at the first cell that failed"
    if isinstance(certificate.evidence, GridEvidence):
        remedy = Remedy(
            "new-run", "start it again; the paper's grid can be continued from the Certify page", votes
        )
    else:
        remedy = Remedy(
            "go-on",
            "go on with all that is open",
            votes,
            note="The votes so far are kept. Cells, levels and stages were fixed before the first vote, so the "
            "guarantee holds.",
        )
    evidence = f"{percent(share)} of the region without a vote; {certificate.samples:,} votes were cast"
    return [Finding(cause, f"{why}.", (evidence,), (remedy,), tuple(f.path for f in subject.untested))]


def _smaller(subject: Subject) -> list[Finding]:
    """What holds already, where the whole does not."""
    if not can_claim_less(subject):
        return []
    part = certified_size(subject)
    sentence = f"The votes at hand certify radius {subject.radius_words(part)}: {percent(part)} of what was asked for."
    note = "The regions are nested and share one tree, so the largest that passed holds at the same level."
    return [Finding("smaller-region", sentence, (), (Remedy("claim-less", "claim that instead", note=note),))]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
