"""Why one cell did not pass, and what would help. Costs are computed from the votes at hand."""

from __future__ import annotations

import math
from dataclasses import replace

from tpc_core.certificate.schema import GridEvidence, GroupEvidence
from tpc_core.certify.refute import CONFIRM_SIZES
from tpc_core.diagnosis.cells import CellFacts
from tpc_core.diagnosis.chances import best_stage
from tpc_core.diagnosis.findings import Finding, Remedy, count, percent, probability
from tpc_core.diagnosis.fixed import NEW_ALPHA, adaptive_run, explain_coarse_grid, explain_point
from tpc_core.diagnosis.hunt import search_votes
from tpc_core.diagnosis.radii import forecast_part
from tpc_core.diagnosis.rest import rest_votes
from tpc_core.diagnosis.subject import PATIENCE, Subject
from tpc_core.diagnosis.sweep import sweep_votes

RIVAL_VOTES = 64
"""Votes that name the rival before an attack is put to the test."""


def explain_cell(subject: Subject, facts: CellFacts) -> Finding:
    """The cause of one cell's failure (or its success), with evidence and remedies."""
    finding = _cause(subject, facts)
    if subject.certificate.verdict != "refuted":
        return finding
    # No number of votes saves a claim that is false.
    useful = tuple(
        r for r in finding.remedies if r.action not in ("more-votes", "refine", "go-on", "new-run")
    )
    return replace(finding, remedies=useful)


def _cause(subject: Subject, facts: CellFacts) -> Finding:
    if facts.kind == "attack":
        return _attack(subject, facts)
    if not facts.n:
        return _untested(subject, facts)
    if facts.state == "passed":
        return _passed(subject, facts)
    if facts.kind == "point":
        return explain_point(subject, facts, bound_line(facts))
    if facts.kind == "group":
        return _group(subject, facts)
    if facts.lost:
        return _another_class(subject, facts)
    return _short_or_wide(subject, facts)


def votes_line(subject: Subject, facts: CellFacts) -> str:
    """The count, as evidence."""
    name = subject.prediction.name if subject.prediction is not None else "its part"
    return f"{facts.n_a:,} of {facts.n:,} votes for {name} ({percent(facts.share)})"


def bound_line(facts: CellFacts) -> str:
    """The interval against what was needed, as evidence."""
    between = f"p_A lies between {probability(facts.lower_bound)} and {probability(facts.upper)}"
    return f"{between}; the lower end must exceed {probability(facts.needed)}"


def attack_remedy(facts: CellFacts, sentence: str) -> Remedy:
    """Put the place to the test: most attacks are proven by the first or second sample."""
    return Remedy("attack", sentence, votes=RIVAL_VOTES + CONFIRM_SIZES[1], cells=(facts.path,))


def sweep_remedy(subject: Subject) -> Remedy:
    """Look at a few places with other sigmas."""
    return Remedy(
        "sweep", "try other sigmas at a few places of the region", votes=sweep_votes(subject), cells=()
    )


def _attack(subject: Subject, facts: CellFacts) -> Finding:
    attack, prediction = subject.certificate.attack, subject.prediction
    assert attack is not None
    assert prediction is not None
    votes = attack.votes.get(attack.winner, 0)
    return Finding(
        "another-class",
        f"At {subject.place(facts)} the smoothed model says {attack.winner}, not {prediction.name}: "
        "the claim is false, and no number of votes would prove it.",
        (
            f"{votes:,} of {attack.samples:,} votes for {attack.winner}, {facts.n_a:,} for {prediction.name}",
            f"found {_found_by(attack.method)}; p-value {attack.p_value:.2g}",
        ),
        (
            Remedy("attack", "look for a smaller attack", votes=search_votes(), cells=(facts.path,)),
            Remedy(
                "smaller-radius",
                f"claim less: this attack has {percent(subject.size(facts.z))} of the radius",
            ),
        ),
        (facts.path,),
    )


def _found_by(method: str) -> str:
    return f"at the {method}" if " " in method else f"by {method} search"


def _untested(subject: Subject, facts: CellFacts) -> Finding:
    return Finding(
        "untested",
        "The run ended before it cast a vote here.",
        (),
        () if subject.tree is None else (_begin(subject, facts),),
        (facts.path,),
    )


def _begin(subject: Subject, facts: CellFacts) -> Remedy:
    note = "Cells, levels and stages were fixed before the first vote, so the guarantee holds."
    votes = rest_votes(subject, (facts,))
    return Remedy("go-on", "cast votes in this part only", votes=votes, cells=(facts.path,), note=note)


def _passed(subject: Subject, facts: CellFacts) -> Finding:
    if facts.kind == "group":
        return Finding(
            "passed",
            "The class is the top class, so it is under every rotation.",
            (votes_line(subject, facts),),
        )
    return Finding(
        "passed",
        f"p_A is at least {probability(facts.lower_bound)}, and {probability(facts.needed)} is needed.",
        (votes_line(subject, facts),),
        (),
        (facts.path,),
    )


def _group(subject: Subject, facts: CellFacts) -> Finding:
    evidence, prediction = subject.certificate.evidence, subject.prediction
    assert isinstance(evidence, GroupEvidence)
    assert prediction is not None
    votes = evidence.stages[-1]
    rival = max(
        (name for name in votes if name != prediction.name), key=lambda name: votes[name], default="nothing"
    )
    line = f"{facts.n_a:,} votes for {prediction.name}, {votes.get(rival, 0):,} for {rival}, of {facts.n:,}"
    test = f"p-value of the top class {evidence.p_value:.2g}; {evidence.level:.2g} is needed"
    stage = best_stage(subject, facts)
    if votes.get(rival, 0) > facts.n_a:
        return Finding(
            "wrong-from-the-start",
            f"{rival} leads {prediction.name} under uniform rotations: the class chosen first is not the top class.",
            (line, test),
            (Remedy("other-model", "see which models get it right"),),
            (facts.path,),
        )
    remedies = () if stage is None else (_more(facts, stage.size, stage.votes, stage.chance),)
    return Finding(
        "wide-interval",
        f"{prediction.name} leads {rival}, but too narrowly for this many votes.",
        (line, test),
        (*remedies, Remedy("other-model", "see which models are surer of this object")),
        (facts.path,),
    )


def _another_class(subject: Subject, facts: CellFacts) -> Finding:
    assert subject.prediction is not None
    inside = subject.region is None or subject.size(facts.z) <= 1.0 or not facts.tested
    if facts.kind == "single":
        return Finding(
            "wrong-from-the-start",
            f"{subject.prediction.name} has less than half of the votes, even without an attack.",
            (votes_line(subject, facts), bound_line(facts)),
            (Remedy("other-model", "see which models get it right"), sweep_remedy(subject)),
            (facts.path,),
        )
    place = "here" if inside else "just outside the region"
    return Finding(
        "another-class",
        f"The smoothed model prefers another class {place}: {subject.prediction.name} has less than half of the votes, "
        "beyond doubt.",
        (votes_line(subject, facts), bound_line(facts)),
        (attack_remedy(facts, "prove it: put this place to the test as an attack"),),
        (facts.path,),
    )


def _more(facts: CellFacts, size: int, votes: int, chance: float) -> Remedy:
    return Remedy(
        "more-votes",
        f"cast {votes:,} more votes here",
        votes=votes,
        chance=chance,
        cells=(facts.path,),
        until=size,
        note=f"The level for reading the bound at {size:,} votes was reserved before the first vote, so the "
        "guarantee holds.",
    )


def _short_or_wide(subject: Subject, facts: CellFacts) -> Finding:
    evidence = (votes_line(subject, facts), bound_line(facts))
    stage = best_stage(subject, facts)
    split = _split_cost(subject, facts)
    more = (
        [] if stage is None or stage.chance < 0.05 else [_more(facts, stage.size, stage.votes, stage.chance)]
    )
    if facts.guess > facts.needed and not facts.short:
        return _wide(subject, facts, evidence, more, split)
    if isinstance(subject.certificate.evidence, GridEvidence) and facts.guess > 0.5:
        return explain_coarse_grid(subject, facts, evidence)
    if split <= PATIENCE:
        parts = _parts(subject, facts)
        refine = Remedy(
            "refine",
            f"refine it into about {parts} parts",
            votes=split,
            cells=(facts.path,),
            note="A smaller cell needs a smaller p_A. The levels of the parts were fixed before the first vote.",
        )
        return Finding(
            "too-coarse",
            f"Votes at the centre must vouch for the whole cell, {facts.cell.reach:.2f} sigmas wide from there, and "  # type: ignore[union-attr]
            f"that takes a p_A above {probability(facts.needed)}; it looks like {probability(facts.guess)}.",
            evidence,
            (refine, *more),
            (facts.path,),
        )
    return _unsure(subject, facts, evidence, more)


def _wide(
    subject: Subject, facts: CellFacts, evidence: tuple[str, ...], more: list[Remedy], split: float
) -> Finding:
    remedies = list(more)
    if math.isfinite(split) and (not more or split < more[0].votes):
        remedies.append(Remedy("refine", "refine it instead", votes=split, cells=(facts.path,)))
    if not remedies:
        remedies.append(_no_level_left(subject))
    return Finding(
        "wide-interval",
        f"p_A looks large enough ({probability(facts.guess)} against {probability(facts.needed)}), but "
        f"{count(facts.n)} votes leave "
        "room for less.",
        evidence,
        tuple(remedies),
        (facts.path,),
    )


def _no_level_left(subject: Subject) -> Remedy:
    if isinstance(subject.certificate.evidence, GridEvidence):
        return adaptive_run(subject)
    note = f"Every level that was reserved here is spent; anytime statistics may always go on. {NEW_ALPHA}"
    text = "ask again with anytime statistics"
    return Remedy("new-run", text, votes=math.inf, note=note, statistics="anytime")


def _unsure(subject: Subject, facts: CellFacts, evidence: tuple[str, ...], more: list[Remedy]) -> Finding:
    prediction = subject.prediction
    assert prediction is not None
    at_identity = prediction.votes.get(prediction.name, 0) / max(prediction.samples, 1)
    lines = (*evidence, f"without an attack {percent(at_identity)} of the votes are for {prediction.name}")
    if facts.kind == "single" and facts.needed >= _best_bound(subject):
        return _sigma_too_small(subject, facts, evidence)
    if facts.kind == "single":
        sentence = (
            f"p_A is about {probability(facts.guess)}, and this radius takes more than "
            f"{probability(facts.needed)}: no number of votes would help."
        )
        remedies = [
            Remedy("smaller-radius", "claim less: see what these votes certify"),
            sweep_remedy(subject),
        ]
    else:
        sentence = (
            f"p_A is about {facts.guess:.3f}, too close to one half: a cell so small that this would do costs more "
            "votes than anyone would cast."
        )
        suspect = attack_remedy(facts, "look for an attack around here")
        remedies = [suspect, sweep_remedy(subject)]
    return Finding(
        "unsure",
        sentence,
        lines,
        (*remedies, *more, Remedy("other-model", "see which models are surer of this object")),
        (facts.path,),
    )


def _best_bound(subject: Subject) -> float:
    """The largest bound that the stages of a single probability can give: every vote for the class."""
    monitor, alpha = subject.monitor, subject.certificate.alpha
    return max(monitor.bound(size, stage, alpha) for stage, size in enumerate(monitor.sizes))


def _sigma_too_small(subject: Subject, facts: CellFacts, evidence: tuple[str, ...]) -> Finding:
    rule = subject.strategy.rule
    assert rule is not None
    most = subject.radius_words(forecast_part(rule, _best_bound(subject), subject.radii))
    return Finding(
        "sigma-too-small",
        f"This radius is so many sigmas wide that no sample could do: even if all {subject.monitor.sizes[-1]:,} votes "
        f"agreed, they would certify radius {most} at most.",
        evidence,
        (sweep_remedy(subject), Remedy("smaller-radius", f"claim at most radius {most}")),
        (facts.path,),
    )


def _split_cost(subject: Subject, facts: CellFacts) -> float:
    """Votes that its parts would take, if p_A is the same there; infinite where there are no parts."""
    if subject.tree is None or facts.cell is None:
        return math.inf
    return subject.prices.split(facts.guess, facts.cell.reach, facts.cell.rank)


def _parts(subject: Subject, facts: CellFacts) -> int:
    """Into how many parts the cell must fall until votes at each centre would do."""
    assert facts.cell is not None
    reach, rank, parts = facts.cell.reach, facts.cell.rank, 1
    while rank + 1 < len(subject.levels.shares):
        reach, rank, parts = reach * subject.prices.shrink, rank + 1, 2 * parts
        if math.isfinite(subject.prices.stay(facts.guess, reach, rank)):
            break
    return parts
