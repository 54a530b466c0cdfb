"""Votes of a certificate beside Wald's bound: what no test of the same error could do with less, on average.

The bound takes the p_A at hand. It comes from a look of its own at each place, whose votes prove nothing, so the votes
that passed the place do not also judge it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tpc_core import Certificate, certify, gallery, load_model, load_object
from tpc_core.ledger import SELECT, look_stream
from tpc_core.models.choose import model_for
from tpc_core.proofs import CellStanding
from tpc_core.statistics import fewest_votes
from tpc_core.transforms import parse_transform
from tpc_core.verify import Case, case_of
from tpc_core.votes import BLOCK, Voter, resolve_device

AIRPLANE = (
    ("general-rotation", "180", "pointnet64-so3-group", 64, 256),
    ("general-rotation", "15", "pointnet64-so3-diffusion", 96, 256),
    ("z-twist+z-rotation", "twist=50,rotation=5", "pointnet64-z-twist-z-rotation", 96, 256),
    ("l2", "0.05", "", 96, 256),
    ("z-shear", "0.2", "pointnet64-z-shear", 160, 256),
    ("z-taper", "0.2", "", 160, 288),
    ("z-twist", "180", "pointnet64-z-twist", 192, 256),
    ("linear", "0.2", "pointnet64-linear", 224, 640),
    ("z-twist+z-taper+z-rotation", "twist=20,taper=0.2,rotation=1", "", 400, 768),
)
"""Transform, radius, model (the one that fits best, if none is named), the most votes wanted, and those of stages."""

LOOK = 4_096
"""Votes of a look at a place."""

TARGET = 1.7


@dataclass(frozen=True)
class Cost:
    """What a certificate took, and what it had to take."""

    votes: int
    wald: float
    places: int

    @property
    def ratio(self) -> float:
        return self.votes / self.wald


def measure(*, full: bool) -> list[str]:
    """Both tables: one object against targets, and the gallery against Wald."""
    return [*_airplane(), "", *_gallery(full=full)]


def _airplane() -> list[str]:
    lines = [
        "### Votes on one object",
        "",
        "All votes of a certificate of `gallery:airplane-1` (64 points, alpha 0.001), those that choose the class "
        "included; *stages* is what fixed stages took for the same verdict.",
        "",
        "| transform | radius | model | verdict | votes | at most | stages |",
        "|---|---|---|---|---:|---:|---:|",
    ]
    for name, radius, model_name, most, stages in AIRPLANE:
        certificate = _made(name, radius, model_name, "airplane-1")
        lines.append(
            f"| {name} | {radius} | {certificate.model.name} | {certificate.verdict} | {certificate.samples:,} "
            f"| {most} | {stages} |"
        )
        print(lines[-1], flush=True)
    return lines


def _gallery(*, full: bool) -> list[str]:
    objects = [entry.name for entry in gallery()][:: 1 if full else 6]
    lines = [
        "### Votes beside Wald's bound",
        "",
        "No test of error alpha passes a place with true p_A = p and threshold q with fewer votes than "
        f"ln(1/alpha) / KL(p, q) on average; votes come in blocks of {BLOCK}, so a place takes at least that many. "
        "For each certified claim: all its votes but those that choose the class, over the sum of these bounds over "
        f"its passing places, with p from a look of {LOOK:,} other votes at each. {len(objects)} objects of the gallery"
        + (". " if full else " (all with `--full`). ")
        + f"Target: a mean ratio of at most {TARGET:g}.",
        "",
        "| transform | radius | model | certified | votes, mean | Wald, mean | ratio, mean | ratio, geometric |",
        "|---|---|---|---:|---:|---:|---:|---:|",
    ]
    every: list[float] = []
    for name, radius, model_name, _, _ in AIRPLANE:
        costs = [
            cost for cost in (_cost(_made(name, radius, model_name, o)) for o in objects) if cost is not None
        ]
        if not costs:
            continue
        ratios = [cost.ratio for cost in costs]
        every += ratios
        lines.append(
            f"| {name} | {radius} | {_model(name, model_name)} | {len(costs)} of {len(objects)} "
            f"| {np.mean([c.votes for c in costs]):,.0f} | {np.mean([c.wald for c in costs]):,.0f} "
            f"| {np.mean(ratios):.2f} | {_geometric(ratios):.2f} |"
        )
        print(lines[-1], flush=True)
    total = f"All {len(every)} certificates: mean ratio {np.mean(every):.2f}, geometric mean {_geometric(every):.2f}."
    print(total, flush=True)
    return [*lines, "", total]


def _made(name: str, radius: str, model_name: str, entry: str) -> Certificate:
    cloud = load_object(f"gallery:{entry}", points=64)
    return certify(load_model(_model(name, model_name)), cloud, name, radius)


def _model(name: str, model_name: str) -> str:
    return model_name or model_for(parse_transform(name)).name


def _cost(certificate: Certificate) -> Cost | None:
    """The cost of a certificate, None where there is none."""
    if certificate.verdict != "certified":
        return None
    case = case_of(certificate)
    voter = Voter(
        load_model(certificate.model.name),
        case.smoothing,
        seed=case.ledger.seed,
        device=resolve_device("auto"),
    )
    passed = [cell for cell in case.proof.standing(case.ledger).leaves if cell.state == "passed"]
    wald = sum(max(_bound(case, voter, cell), float(BLOCK)) for cell in passed)
    return Cost(certificate.samples - case.ledger.tally(SELECT).n, wald, len(passed))


def _bound(case: Case, voter: Voter, place: CellStanding) -> float:
    """Wald's bound at a place; what it took, where the look does not show why it passed."""
    points = case.claim.at(place.z) if place.tested else case.cloud.points
    seen = voter.count(points, look_stream(f"wald|{place.path}"), 0, LOOK)
    target = case.ledger.target
    assert target is not None
    own, pool = int(seen[target]), LOOK
    if place.kind == "group":  # only votes for the two classes count in its test
        pool = own + int(np.delete(seen, target).max(initial=0))
    bound = fewest_votes(own / pool, place.needed, place.level) * LOOK / pool
    return bound if math.isfinite(bound) else float(place.n)


def _geometric(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values)))) if values else math.nan
