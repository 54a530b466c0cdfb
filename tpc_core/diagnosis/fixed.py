"""Certificates of one fixed sample, the paper's grid and part segmentation: no level is left, so a new run is due."""

from __future__ import annotations

import math

from scipy import special

from tpc_core.certificate.schema import GridEvidence, PointEvidence
from tpc_core.covers.paper import SAMPLES
from tpc_core.diagnosis.cells import CellFacts
from tpc_core.diagnosis.findings import Finding, Remedy, count, percent, probability
from tpc_core.diagnosis.subject import Subject
from tpc_core.statistics import lower_bound

NEW_ALPHA = "A new run has an alpha of its own."
_LARGEST = 10_000_000
_FINEST = 64.0


def sample_needed(p_a: float, needed: float, level: float) -> float:
    """The size of a fixed sample whose bound would pass if p_A is this large; infinite where none would."""
    size = 64
    while size <= _LARGEST:
        if lower_bound(math.floor(p_a * size), size, level) > needed:
            return float(size)
        size = math.ceil(1.1 * size)
    return math.inf


def explain_point(subject: Subject, facts: CellFacts, evidence_line: str) -> Finding:
    """One point of a segmentation that did not pass."""
    evidence = subject.certificate.evidence
    assert isinstance(evidence, PointEvidence)
    keeps = f"This point keeps its part in {percent(facts.share)} of the votes"
    if facts.short:
        return Finding(
            "unsure",
            f"{keeps}, and this radius takes more than {percent(facts.needed)}: no number of votes would help.",
            (evidence_line,),
            (Remedy("smaller-radius", "claim less: a smaller radius takes a smaller share of the votes"),),
            (facts.path,),
        )
    size = sample_needed(facts.guess, facts.needed, facts.level)
    enough = facts.guess > facts.needed and math.isfinite(size)
    again = (
        f"ask again with {count(size)} votes: the sample was fixed beforehand, and no level is left for more"
        if enough
        else "ask again with a larger sample, or claim a smaller radius: this point lies at the border"
    )
    return Finding(
        "wide-interval",
        f"{keeps}; {count(facts.n)} votes do not show that it is more than {percent(facts.needed)}.",
        (evidence_line,),
        (Remedy("new-run", again, votes=size if enough else math.inf, note=NEW_ALPHA),),
        (facts.path,),
    )


def adaptive_run(subject: Subject) -> Remedy:
    """The same question to the adaptive protocol."""
    return Remedy(
        "new-run",
        "ask again with the adaptive protocol",
        votes=subject.adaptive_votes,
        note=f"It refines its cells as needed, and reserves levels for more votes. {NEW_ALPHA}",
        protocol="adaptive",
    )


def explain_coarse_grid(subject: Subject, facts: CellFacts, lines: tuple[str, ...]) -> Finding:
    """A cell of the paper's grid whose p_A is too small for its width, though not for a smaller one."""
    evidence = subject.certificate.evidence
    assert isinstance(evidence, GridEvidence)
    assert facts.cell is not None
    finer = finer_grid(subject, facts)
    remedies = [adaptive_run(subject)]
    if finer is not None:
        resolution, votes = finer
        remedies.append(
            Remedy("new-run", f"ask again with a finer grid, M = {resolution:,}", votes=votes, note=NEW_ALPHA)
        )
    return Finding(
        "too-coarse",
        f"Votes at one place must vouch for the whole cell, {facts.cell.reach:.2f} sigmas wide from there, and "
        f"that takes a p_A above {probability(facts.needed)}; it looks like {probability(facts.guess)}.",
        lines,
        tuple(remedies),
        (facts.path,),
    )


def finer_grid(subject: Subject, facts: CellFacts) -> tuple[int, float] | None:
    """The M at which a cell would pass if p_A is as it looks, and the votes that its grid takes."""
    evidence = subject.certificate.evidence
    assert isinstance(evidence, GridEvidence)
    assert facts.cell is not None
    assert subject.region is not None
    cells, dim = len(subject.leaves), subject.region.dim
    finer = 1.0
    while finer <= _FINEST:
        grid = cells * finer**dim
        bound = lower_bound(math.floor(facts.guess * SAMPLES), SAMPLES, subject.certificate.alpha / grid)
        if bound > 0.5 and float(special.ndtri(bound)) > facts.cell.reach / finer:
            return math.ceil(finer * evidence.resolution), SAMPLES * grid
        finer *= 1.05
    return None
