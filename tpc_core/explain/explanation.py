"""Why a certificate failed as a whole: the causes of its cells, summed up, and what the run itself says."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace

from tpc_core.case_view import CaseView
from tpc_core.certificate.schema import Certificate
from tpc_core.explain.cell_causes import explain_cell, other_model, retrain, smaller_radius
from tpc_core.explain.findings import CASTS_VOTES, Cause, Finding, Remedy
from tpc_core.explain.shrink_claim import can_shrink_claim
from tpc_core.explain.words import capital, count, percent
from tpc_core.forecast import remaining_cost, untested_share
from tpc_core.ledger import SELECT
from tpc_core.proofs import CellStanding
from tpc_core.votes import BLOCK

_ORDER: tuple[Cause, ...] = ("another-class", "unsure", "too-coarse", "wide-interval")
_EXPLAINED = 500
"""Cells that are explained one by one; a larger cover is judged by its worst."""

_SMALL_CHANCE = 0.05
"""That many cells pass all at once is not spoken of where it is less likely: most of them may pass."""

_STOPS = {
    "budget": "The budget ended after {votes} votes",
    "cancelled": "The run was cancelled after {votes} votes",
    "cut-off": "The run was saved before it ended, after {votes} votes",
    "hopeless": "The run ended at the first cell that failed, after {votes} votes",
    "settled": "The run ended after {votes} votes",
}


@dataclass(frozen=True)
class Explanation:
    """The verdict, what stands behind it, and what could be done."""

    verdict: str
    sentence: str
    findings: tuple[Finding, ...]
    certified: float
    """The part of the region that the votes at hand certify."""
    primary: Remedy | None
    """What to do first: finish the whole run where that can help; None where nothing is left to do."""

    @property
    def main(self) -> Finding:
        return self.findings[0]

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """All remedies, the primary one first."""
        others = (
            remedy for finding in self.findings for remedy in finding.remedies if remedy != self.primary
        )
        return (*(() if self.primary is None else (self.primary,)), *others)


def taken_apart(certificate: Certificate) -> tuple[CaseView, Explanation]:
    """A certificate verified, taken apart and explained."""
    view = CaseView.of(certificate)
    return view, explain_certificate(view)


def explain_certificate(view: CaseView) -> Explanation:
    """Explain a certificate from its own counts; nothing is voted on."""
    certificate = view.certificate
    whole = finish_the_run(view)
    smaller = _smaller(view)
    findings = [
        *_from_the_start(view),
        *_by_cause(view, bool(smaller)),
        *_unfinished(view, whole),
        *smaller,
    ]
    if not findings:
        cast = (f"{certificate.samples:,} votes, alpha {certificate.alpha:g}",)
        findings.append(Finding("passed", certificate.sentence, cast))
    return Explanation(
        certificate.verdict,
        certificate.sentence,
        tuple(findings),
        view.certified_part,
        _first(whole, findings),
    )


def finish_the_run(view: CaseView) -> Remedy | None:
    """Cast all votes that are missing: in every open and every untested cell; None where that settles nothing."""
    certificate = view.certificate
    settled = certificate.verdict != "undecided" or certificate.stopped == "too-many-cells"
    cost = None if settled else remaining_cost(view)
    fixed = certificate.question.options.protocol == "paper"
    if cost is None or not cost.cells or (fixed and cost.hopeless):
        return None
    note = "The votes so far are kept. The test may be read after any number of votes, so the guarantee stays the same."
    words = "finish the whole run"
    if cost.hopeless:
        some = "one cell is" if cost.hopeless == 1 else f"{cost.hopeless:,} cells are"
        note = f"{capital(some)} expected to need too many votes and may stay open. All others will be settled. {note}"
    until = None
    if not view.is_cover and not fixed:
        # The usual sample may be full already: say up to how many votes this goes.
        until = max((view.ledger.tally(view.stream_of(c)).n for c in view.leaves), default=0)
        until += math.ceil(cost.votes / BLOCK) * BLOCK
    return Remedy("go-on", words, votes=cost.votes, until=until, note=note)


def _first(whole: Remedy | None, findings: list[Finding]) -> Remedy | None:
    """The whole run where it can help, else the first thing that is offered."""
    if whole is not None:
        return whole
    return next((remedy for finding in findings for remedy in finding.remedies), None)


def _from_the_start(view: CaseView) -> list[Finding]:
    """Whether the model is right about the object before anything is done to it."""
    label, name = view.certificate.cloud.label, view.class_name
    classes, select = view.certificate.model.classes, view.ledger.tally(SELECT)
    if label is None or name is None or label == name:
        return []
    right = int(select.total[classes.index(label)]) if label in classes else 0
    got = int(select.total[view.target])
    return [
        Finding(
            "wrong-from-the-start",
            f"The model says {name}, but the object is a {label}. A certificate would only prove that the wrong answer "
            "does not change.",
            (f"{got:,} of {select.n:,} votes for {name}, {right:,} for {label}, without an attack",),
            (other_model(), retrain()),
        )
    ]


def _by_cause(view: CaseView, smaller: bool) -> list[Finding]:
    """One finding for each cause, over all cells that share it; `smaller`: a smaller claim is offered anyway."""
    if view.certificate.verdict == "certified":
        return []
    groups: dict[Cause, list[tuple[CellStanding, Finding]]] = defaultdict(list)
    for cell in view.failing[:_EXPLAINED]:
        finding = explain_cell(view, cell)
        groups[finding.cause].append((cell, finding))
    found = []
    for cause in sorted(groups, key=lambda c: _ORDER.index(c) if c in _ORDER else -1):
        pairs = groups[cause]
        (first, worst), findings = pairs[0], [finding for _, finding in pairs]
        remedies = worst.remedies if len(pairs) == 1 else _together(worst.remedies, findings)
        remedies = tuple(r for r in remedies if not (smaller and r.action == "smaller-radius"))
        if len(pairs) == 1:
            found.append(replace(worst, remedies=remedies))
            continue
        place = view.place(first)
        lead = "The worst: " if place in worst.sentence else f"The worst, at {place}: "
        sentence = f"{lead}{worst.sentence[:1].lower()}{worst.sentence[1:]}"
        paths = tuple(cell.path for cell, _ in pairs)
        found.append(
            Finding(cause, sentence, worst.evidence, remedies, paths, _heading(cause, first, len(pairs)))
        )
    return found


def _heading(cause: Cause, cell: CellStanding, number: int) -> str:
    noun = "points" if cell.kind == "point" else "cells"
    return _HEADINGS[cause].format(n=f"{number:,}", cells=noun)


_HEADINGS: dict[Cause, str] = {
    "another-class": "Another class wins at {n} places",
    "unsure": "The model is unsure in {n} {cells}",
    "too-coarse": "{n} {cells} are too large",
    "wide-interval": "{n} {cells} have too few votes",
    "wrong-from-the-start": "{n} {cells} are wrong",
}


def _together(first: tuple[Remedy, ...], every: list[Finding]) -> tuple[Remedy, ...]:
    """The remedies of the worst cell, with what they cost for all cells that have them."""
    joined = []
    for remedy in first:
        alike = [r for finding in every for r in finding.remedies if r.action == remedy.action]
        cells = tuple(path for r in alike for path in r.cells)
        until = max((r.until for r in alike if r.until is not None), default=None)
        chances = [r.chance for r in alike if r.chance is not None]
        chance = math.prod(chances) if chances else None
        if len(alike) > 1 and chance is not None and chance < _SMALL_CHANCE:
            chance = None
        if remedy.action not in CASTS_VOTES:
            joined.append(remedy)
        elif cells:
            votes = sum(r.votes for r in alike)
            where = f"these {len(cells)} cells" if len(cells) > 1 else "one of these cells"
            what = f"cast {count(votes)} more votes in" if remedy.action == "more-votes" else "refine"
            joined.append(Remedy(remedy.action, f"{what} {where}", votes, chance, cells, until, remedy.note))
        else:  # the votes on the cloud itself are shared by all of its points
            votes = max(r.votes for r in alike)
            words = f"cast {count(votes)} more votes"
            joined.append(Remedy(remedy.action, words, votes, chance, (), until, remedy.note))
    return tuple(joined)


def _unfinished(view: CaseView, whole: Remedy | None) -> list[Finding]:
    """Whether the run ended before it was done, and what the rest is expected to cost."""
    certificate = view.certificate
    stopped = certificate.stopped
    if certificate.verdict != "undecided":
        return []
    if stopped == "too-many-cells":
        cells = "A cover of this region has more cells than can be tested"
        less = smaller_radius()
        return [Finding("too-many-cells", f"{cells}.", (), (less,))]
    early = stopped in ("budget", "cancelled", "cut-off")
    remedies = () if whole is None else (whole,)
    why = _STOPS[stopped].format(votes=f"{certificate.samples:,}")
    if view.ledger.chosen is None:
        return [Finding("budget", f"{why}, before the class was known.", (), remedies)]
    if not (early or view.untested or remedies):
        return []
    share = untested_share(view)
    evidence = (f"{percent(share)} of the region without a vote",) if view.is_cover and share else ()
    cause: Cause = "budget" if early or not share else "untested"
    paths = tuple(cell.path for cell in view.untested)
    return [Finding(cause, f"{capital(why)}.", evidence, remedies, paths)]


def _smaller(view: CaseView) -> list[Finding]:
    """What holds already, where the whole does not."""
    if not can_shrink_claim(view):
        return []
    part = view.certified_part
    sentence = (
        f"The votes so far certify radius {view.radius_words(part)}: {percent(part)} of the radius asked for."
    )
    note = "It uses the same votes, holds with the same confidence, and needs no new vote."
    return [
        Finding(
            "smaller-region",
            sentence,
            (),
            (Remedy("claim-less", "keep this smaller certificate", note=note),),
        )
    ]
