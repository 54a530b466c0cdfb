"""Why one place did not pass, and what would help. Costs are computed from the votes at hand."""

from __future__ import annotations

import math
from dataclasses import replace

from tpc_core.case_view import CaseView, is_lost, is_short
from tpc_core.covers import Prices
from tpc_core.covers.lattice import DEEPEST
from tpc_core.explain.findings import CASTS_VOTES, Finding, Remedy
from tpc_core.explain.fixed_samples import adaptive_run, explain_coarse_grid
from tpc_core.explain.smallest_attack import TEST_VOTES, search_votes
from tpc_core.explain.words import count, percent, probability
from tpc_core.forecast import best_pass_chance, remaining_cost, sweep_votes
from tpc_core.forecast.radius_forecast import radius_part
from tpc_core.ledger import SELECT
from tpc_core.proofs import CellStanding
from tpc_core.smoothing import OneProbability, TopClass
from tpc_core.statistics import lower_confidence_bound

_ANYTIME = "The test may be read after any number of votes, so the guarantee stays the same."
_NEXT_TO_ONE = 1e-8
_NO_CHANCE = 0.05
"""More votes that are less likely than this to settle a cell are not offered."""


def explain_cell(view: CaseView, cell: CellStanding) -> Finding:
    """The cause of one cell's failure (or its success), with evidence and remedies."""
    finding = _cause(view, cell)
    if view.certificate.verdict != "refuted":
        return finding
    # No number of votes saves a claim that is false.
    useful = tuple(r for r in finding.remedies if r.action not in (*CASTS_VOTES, "new-run"))
    return replace(finding, remedies=useful)


def _cause(view: CaseView, cell: CellStanding) -> Finding:
    if cell.kind == "attack":
        return _attack(view, cell)
    if cell.state == "passed":
        return _passed(view, cell)
    if cell.state == "refined":
        sentence = "It was split: its parts were tested instead."
        return Finding("too-coarse", sentence, (votes_line(view, cell),) if cell.n else (), (), (cell.path,))
    if cell.state == "untested":
        return _untested(view, cell)
    if cell.kind == "group" or (cell.kind == "point" and isinstance(view.claim.rule, TopClass)):
        return _top_class(view, cell)
    if cell.kind == "point":
        return _point(view, cell)
    if is_lost(cell):
        return _another_class(view, cell)
    if cell.guess > cell.needed and not is_short(cell):
        return _too_few_votes(view, cell)
    if view.proof.kind == "grid" and cell.guess > 0.5:
        return explain_coarse_grid(view, cell, lines(view, cell))
    if _split_cost(view, cell) <= view.certificate.question.options.patience:
        return _too_coarse(view, cell)
    return _unsure(view, cell)


# -- evidence ------------------------------------------------------------------------------------------------------


def votes_line(view: CaseView, cell: CellStanding) -> str:
    """The count, as evidence."""
    return f"{cell.n_a:,} of {cell.n:,} votes for {view.class_name or 'its part'} ({percent(cell.share)})"


def bound_line(cell: CellStanding) -> str:
    """The interval against what was needed, as evidence."""
    low, high = probability(cell.lower_bound, cell.needed), probability(cell.upper_bound, cell.needed)
    needed = needed_words(cell, cell.lower_bound)
    return f"p_A lies between {low} and {high}; the lower end must exceed {needed}"


def needed_words(cell: CellStanding, other: float) -> str:
    """What p_A must exceed, told from the number that it is compared with, and from one."""
    rest = cell.threshold.complement
    return f"1 - {rest:.1g}" if rest < _NEXT_TO_ONE else probability(cell.needed, other)


def lines(view: CaseView, cell: CellStanding) -> tuple[str, ...]:
    """Both of them."""
    return (votes_line(view, cell), bound_line(cell))


# -- remedies ------------------------------------------------------------------------------------------------------


def more_votes(view: CaseView, cell: CellStanding) -> list[Remedy]:
    """The number of votes that is likely to settle a place, where there is one."""
    found = best_pass_chance(view, cell)
    if found is None or found.chance < _NO_CHANCE:
        return []
    return [
        Remedy(
            "more-votes",
            f"cast {found.votes:,} more votes here",
            votes=found.votes,
            chance=found.chance,
            cells=(cell.path,) if cell.kind == "cell" else (),
            until=found.size,
            note=_ANYTIME,
        )
    ]


def sweep(view: CaseView) -> Remedy:
    """Look at a few places with other sigmas."""
    return Remedy("sweep", "try other values of sigma at a few places", votes=sweep_votes(view))


def other_model() -> Remedy:
    """Ask the others."""
    note = "Each model looks at this object and at a few attacks. The best one comes first, and can certify at once."
    return Remedy("other-model", "compare the models on this object", note=note)


def retrain() -> Remedy:
    """Show the network the attacks that break it, and let it learn."""
    note = (
        "The network learns on its training data, under the noise of this run and under attacks of this region. The "
        "trained network is a new model; a new run certifies it."
    )
    return Remedy("retrain", "train this model further for this attack", note=note)


def smaller_radius(part: float = 1.0) -> Remedy:
    """A new run that looks for the largest radius, up to a part of the present one."""
    note = "A new run grows the region from the object outwards, and stops where the proof ends."
    return Remedy("smaller-radius", "find the largest radius that can be certified", note=note, part=part)


def _refine(view: CaseView, cell: CellStanding, words: str) -> Remedy:
    note = f"A smaller cell needs a smaller p_A. {_ANYTIME}"
    return Remedy("refine", words, votes=_split_cost(view, cell), cells=(cell.path,), note=note)


# -- causes --------------------------------------------------------------------------------------------------------


def _attack(view: CaseView, cell: CellStanding) -> Finding:
    attack, name = view.attack, view.class_name
    assert attack is not None
    found = f"at the {attack.method}" if " " in attack.method else f"by {attack.method} search"
    return Finding(
        "another-class",
        f"At {view.place(cell)} the smoothed model says {view.rival}, not {name}. So the claim is false, and more "
        "votes cannot help.",
        (
            f"{int(attack.votes.total[attack.rival]):,} of {cell.n:,} votes for {view.rival}, {cell.n_a:,} for {name}",
            f"found {found}, and proved by fresh votes",
        ),
        (
            Remedy("attack", "search for a smaller attack", votes=search_votes(), cells=(cell.path,)),
            smaller_radius(min(view.size(cell.z), 1.0)),
        ),
        (cell.path,),
    )


def _passed(view: CaseView, cell: CellStanding) -> Finding:
    if cell.kind == "group":
        sentence = "It wins the vote, and the result is the same for every rotation."
    else:
        bound = probability(cell.lower_bound, cell.needed)
        sentence = f"p_A is at least {bound}, and {probability(cell.needed, cell.lower_bound)} is needed."
    return Finding("passed", sentence, (votes_line(view, cell),), (), (cell.path,))


def _untested(view: CaseView, cell: CellStanding) -> Finding:
    votes = remaining_cost(view, (cell,)).votes
    begin = Remedy("go-on", "cast votes in this cell only", votes=votes, cells=(cell.path,), note=_ANYTIME)
    remedies = (begin,) if view.cover is not None else ()
    return Finding("untested", "The run ended before it cast a vote here.", (), remedies, (cell.path,))


def _top_class(view: CaseView, cell: CellStanding) -> Finding:
    votes = view.votes_of(cell)
    name = view.class_name or view.certificate.model.classes[_part_of(view, cell)]
    others = {key: value for key, value in votes.items() if key != name}
    rival = max(others, key=lambda key: others[key], default="nothing")
    own, other, cast = votes.get(name, 0), others.get(rival, 0), sum(votes.values())
    line = f"{own:,} votes for {name}, {other:,} for {rival}, of {cast:,}"
    if other > own:
        return Finding(
            "wrong-from-the-start",
            f"Over all rotations, {rival} has more votes than {name}: the class chosen first is not the top class.",
            (line,),
            (other_model(), retrain()),
            (cell.path,),
        )
    return Finding(
        "wide-interval",
        f"{name} has more votes than {rival}, but there are too few votes to prove it.",
        (line,),
        (*more_votes(view, cell), other_model()),
        (cell.path,),
    )


def _part_of(view: CaseView, cell: CellStanding) -> int:
    chosen = view.ledger.chosen
    assert chosen is not None
    return int(chosen[int(cell.path)])


def _point(view: CaseView, cell: CellStanding) -> Finding:
    """One point of a segmentation that did not pass."""
    keeps = f"This point keeps its part in {percent(cell.share)} of the votes"
    less = Remedy("smaller-radius", "ask for half of the radius", part=0.5)
    if is_short(cell):
        sentence = (
            f"{keeps}, and this radius needs more than {percent(cell.needed)}. More votes would not help."
        )
        return Finding("unsure", sentence, (bound_line(cell),), (less,), (cell.path,))
    sentence = f"{keeps}; {count(cell.n)} votes do not prove that it is more than {percent(cell.needed)}."
    remedies = (*more_votes(view, cell), less)
    return Finding("wide-interval", sentence, (bound_line(cell),), remedies, (cell.path,))


def _another_class(view: CaseView, cell: CellStanding) -> Finding:
    if not cell.tested:
        return Finding(
            "wrong-from-the-start",
            f"{view.class_name} has less than half of the votes, even without an attack.",
            lines(view, cell),
            (other_model(), sweep(view), retrain()),
            (cell.path,),
        )
    place = "here" if view.region is None or view.size(cell.z) <= 1.0 else "just outside the region"
    words = "test this place as an attack"
    return Finding(
        "another-class",
        f"The smoothed model prefers another class {place}: {view.class_name} has less than half of the votes.",
        lines(view, cell),
        (Remedy("attack", words, votes=TEST_VOTES, cells=(cell.path,)), other_model(), retrain()),
        (cell.path,),
    )


def _too_few_votes(view: CaseView, cell: CellStanding) -> Finding:
    remedies = more_votes(view, cell)
    split = _split_cost(view, cell)
    if math.isfinite(split) and (not remedies or split < remedies[0].votes):
        remedies.append(_refine(view, cell, "split this cell instead" if remedies else "split this cell"))
    if view.certificate.question.options.protocol == "paper":
        remedies.append(adaptive_run(view))
    return Finding(
        "wide-interval",
        f"p_A is probably large enough: about {probability(cell.guess, cell.needed)}, and "
        f"{probability(cell.needed, cell.guess)} is needed. But {count(cell.n)} votes are too few to prove it.",
        lines(view, cell),
        tuple(remedies),
        (cell.path,),
    )


def _too_coarse(view: CaseView, cell: CellStanding) -> Finding:
    box = cell.cell
    assert box is not None
    return Finding(
        "too-coarse",
        f"The votes at its centre must prove the whole cell, which reaches {box.reach:.2f} sigma from there. That "
        f"needs a p_A above {needed_words(cell, cell.guess)}; here p_A is about "
        f"{probability(cell.guess, cell.needed)}.",
        lines(view, cell),
        (_refine(view, cell, f"split it into about {_parts(view, cell)} parts"), *more_votes(view, cell)),
        (cell.path,),
    )


def _unsure(view: CaseView, cell: CellStanding) -> Finding:
    rule = view.claim.rule
    if isinstance(rule, OneProbability) and cell.needed >= _best_bound(view):
        return _sigma_too_small(view, rule, cell)
    select = view.ledger.tally(SELECT)
    share = percent(int(select.total[view.target]) / max(select.n, 1))
    looks, needed = probability(cell.guess, cell.needed), needed_words(cell, cell.guess)
    if cell.tested:
        what = (
            f"p_A is about {probability(cell.guess, 0.5)}, too close to one half. Only a very small cell could pass "
            "with that, and a cover by such cells needs too many votes."
        )
        first = Remedy(
            "attack", "search for an attack near this cell", votes=search_votes(), cells=(cell.path,)
        )
    else:
        what = f"p_A is about {looks}, and this radius needs more than {needed}. More votes would not help."
        first = smaller_radius()
    return Finding(
        "unsure",
        what,
        (*lines(view, cell), f"without an attack {share} of the votes are for {view.class_name}"),
        (first, sweep(view), *more_votes(view, cell), other_model(), retrain()),
        (cell.path,),
    )


def _sigma_too_small(view: CaseView, rule: OneProbability, cell: CellStanding) -> Finding:
    most = view.radius_words(radius_part(rule, _best_bound(view), view.radii))
    patience = view.certificate.question.options.patience
    return Finding(
        "sigma-too-small",
        f"This radius is too large for this sigma: even if all of {count(patience)} votes agreed, they would certify "
        f"a radius of {most} at most.",
        lines(view, cell),
        (sweep(view), smaller_radius()),
        (cell.path,),
    )


def _best_bound(view: CaseView) -> float:
    """The largest bound that one probability can have: as many votes as anyone waits for, all for the class."""
    patience = view.certificate.question.options.patience
    return lower_confidence_bound(patience, patience, view.claim.alpha)


def _split_cost(view: CaseView, cell: CellStanding) -> float:
    """Votes that its parts would take, if p_A is the same there; infinite where there are no parts."""
    if view.cover is None or cell.cell is None or cell.cell.depth >= DEEPEST:
        return math.inf
    prices = Prices(view.cover.alpha, view.cover.region.dim)
    return prices.split(cell.guess, cell.cell.reach, cell.cell.depth)


def _parts(view: CaseView, cell: CellStanding) -> int:
    """Into how many parts the cell must fall until votes at each centre would do."""
    assert cell.cell is not None
    assert view.cover is not None
    prices = Prices(view.cover.alpha, view.cover.region.dim)
    reach, depth, parts = cell.cell.reach, cell.cell.depth, 1
    while depth < DEEPEST:
        reach, depth, parts = reach * prices.shrink, depth + 1, 2 * parts
        if math.isfinite(prices.stay(cell.guess, reach, depth)):
            break
    return parts
