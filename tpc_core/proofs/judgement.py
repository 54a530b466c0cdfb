"""The verdict: what follows from a claim and a ledger. Certifiers say it, and `verify` derives it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tpc_core.certificate.schema import Stop, Verdict
from tpc_core.certificate.sentence import (
    certified_sentence,
    points_sentence,
    radius_words,
    refuted_sentence,
    undecided_sentence,
)
from tpc_core.errors import InvalidValue
from tpc_core.ledger import Ledger, Refutation, refutation_level
from tpc_core.proofs.base import CellStanding, Claim, Proof, Standing
from tpc_core.proofs.whole import proves
from tpc_core.smoothing import Threshold
from tpc_core.transforms import CoordinateNoise, Transform

HALF = Threshold(0.5, 0.5)

NEXT_TO_ONE = 1e-6
"""A needed p_A this near to one is said by what is missing to one."""


@dataclass(frozen=True)
class Judgement:
    """A verdict with all that is said of it."""

    verdict: Verdict
    radius: dict[str, float]
    """The radius that the verdict is about, in edge units."""
    sentence: str
    attack: int | None = None
    """Which of the ledger's refutations proves it, where it is refuted."""


def judge(
    proof: Proof,
    ledger: Ledger,
    *,
    asked: dict[str, float],
    largest: bool,
    stopped: Stop,
    classes: Sequence[str],
) -> Judgement:
    """The verdict on a proof's claim; where the largest radius is sought, on the largest one that holds."""
    claim = proof.claim
    target = ledger.target
    name = None if target is None else classes[target]
    if largest:
        return _judge_largest(proof, ledger, asked, stopped, name)
    within = radius_words(claim.transform.radii, asked)
    attack = proven_attack(claim, ledger)
    if attack is not None and name is not None:
        found = ledger.refutations[attack]
        place = claim.transform.named_values(np.asarray(found.parameter))
        sentence = refuted_sentence(claim.transform, place, name, classes[found.rival])
        return Judgement("refuted", asked, sentence, attack)
    standing = proof.standing(ledger) if ledger.chosen is not None and stopped != "too-many-cells" else None
    certified = standing is not None and standing.certified
    if claim.task == "segmentation":
        points = None if standing is None else standing.points
        passed = 0 if points is None else sum(points.certified)
        said = points_sentence(claim.transform, within, claim.alpha, passed, len(claim.cloud))
    elif certified and name is not None:
        said = certified_sentence(claim.transform, within, claim.alpha, name)
    else:
        why = reason(proof, standing, ledger, stopped)
        said = undecided_sentence(claim.transform, within, name, why)
    return Judgement("certified" if certified else "undecided", asked, said)


def _judge_largest(
    proof: Proof, ledger: Ledger, asked: dict[str, float], stopped: Stop, name: str | None
) -> Judgement:
    claim = proof.claim
    transform = claim.transform
    part = proof.largest_part(ledger) if stopped != "too-many-cells" else 0.0
    if part <= 0 or name is None:
        why = reason(proof, None, ledger, stopped) if stopped != "settled" else "no radius could be certified"
        within = radius_words(transform.radii, asked)
        sentence = undecided_sentence(transform, within, name, why)
        return Judgement("undecided", dict.fromkeys(asked, 0.0), sentence)
    radius = {
        p.name: asked[p.name] if part == 1.0 else p.to_edge(part * r) * (1 - 1e-12)
        for p, r in zip(transform.radii, claim.radii, strict=True)
    }
    within = radius_words(transform.radii, radius)
    return Judgement("certified", radius, certified_sentence(transform, within, claim.alpha, name))


def proven_attack(claim: Claim, ledger: Ledger) -> int | None:
    """The first refutation whose place lies in the region and whose votes prove that another class wins there."""
    for number, refutation in enumerate(ledger.refutations):
        if contains(claim.transform, claim.radii, refutation.parameter) and is_proven(
            refutation, ledger, claim.alpha, number + 1
        ):
            return number
    return None


def is_proven(refutation: Refutation, ledger: Ledger, alpha: float, number: int) -> bool:
    """Whether the rival beats y_A, by the votes for the two; the number-th attack has level alpha / 2^number."""
    target = ledger.target
    if target is None or refutation.rival == target:
        return False
    hits = np.cumsum(refutation.votes.blocks[:, refutation.rival].astype(np.int64))
    both = hits + np.cumsum(refutation.votes.blocks[:, target].astype(np.int64))
    return proves(hits, both, HALF, refutation_level(alpha, number))


def contains(transform: Transform, radii: tuple[float, ...], parameter: Sequence[float]) -> bool:
    """Whether an attack lies in the region of these radii."""
    z = np.asarray(parameter, dtype=np.float64)
    if isinstance(transform, CoordinateNoise):
        size = float(np.linalg.norm(z) if transform.norm == "l2" else np.abs(z).max(initial=0.0))
        return size <= radii[0] * (1 + 1e-12)
    region = transform.region(radii)
    return z.shape == (region.dim,) and bool(region.gauge(z[None])[0] <= 1 + 1e-12)


def reason(proof: Proof, standing: Standing | None, ledger: Ledger, stopped: Stop) -> str:
    """Why there is no verdict yet, in words that end in what to do."""
    if stopped == "cancelled":
        return "the run was cancelled; continue it to get a verdict"
    if stopped == "cut-off":
        return "the run was saved before it ended; continue it to get a verdict"
    if stopped == "too-many-cells":
        return "a cover of this region has more cells than can be tested; take a smaller radius or a larger sigma"
    if stopped == "budget":
        return f"the budget ended after {ledger.samples:,} votes; continue with a larger one"
    weakest = weakest_cell(standing)
    if weakest is None:
        return "no vote was cast; continue it to get a verdict"
    return _short_of(proof, weakest)


def weakest_cell(standing: Standing | None) -> CellStanding | None:
    """The place with votes that is farthest from passing."""
    tried = [cell for cell in standing.leaves if cell.state == "open"] if standing is not None else []
    return min(tried, key=lambda cell: cell.guess - cell.needed, default=None)


def _short_of(proof: Proof, weakest: CellStanding) -> str:
    place = f"at {proof.claim.transform.describe(weakest.z)} " if weakest.tested else ""
    if weakest.kind == "group":
        return (
            f"{weakest.n_a} votes against {weakest.n - weakest.n_a} for its strongest rival are too close to call; "
            "more votes may settle it"
        )
    rest = weakest.threshold.complement
    needed = f"1 - {rest:.1g}" if rest < NEXT_TO_ONE else shown(weakest.needed, weakest.guess)
    what = f"{place}p_A is about {shown(weakest.guess, weakest.needed)} and more than {needed} is needed"
    return f"{what}; take a smaller radius, another sigma or another model"


def shown(value: float, other: float) -> str:
    """A probability with as many digits as tell it from the other one."""
    for digits in range(3, 9):
        if f"{value:.{digits}f}" != f"{other:.{digits}f}" and f"{value:.{digits}f}" != f"{1:.{digits}f}":
            return f"{value:.{digits}f}"
    return f"{value:.9g}"


def resized(claim: Claim, radius: dict[str, float]) -> Claim:
    """The claim about another radius of the same shape, in edge units; out of range is an InvalidValue."""
    radii = claim.transform.parse_radius(radius)
    if any(r <= 0 for r in radii):
        raise InvalidValue("a certified radius must be positive")
    return replace(claim, radii=radii)
