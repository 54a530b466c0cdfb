"""One trial: make the largest certificate that the budget buys, check it, then try to break it."""

from __future__ import annotations

import time

import numpy as np
from pydantic import BaseModel, ConfigDict

from tpc_core.attacks import METHODS, Attack, proven_attack
from tpc_core.attacks.space import attack_space
from tpc_core.attacks.victim import SmoothedVictim
from tpc_core.certificate.schema import Certificate, Verdict
from tpc_core.certify import Budget, Options, certify, prepare
from tpc_core.cloud import Cloud
from tpc_core.ledger import SELECT, Ledger
from tpc_core.models.store import Model
from tpc_core.redteam.questions import Plan
from tpc_core.transforms import Composition, Transform, parse_transform
from tpc_core.verify import case_of

SEARCH_VOTES = 16
"""Votes that an attack looks at for each parameter it tries; they only choose what is then tested properly."""

CONFIRMED = 3
"""How many of the most harmful parameters of each method are tested on fresh votes."""


class Trial(BaseModel):
    """What became of one question."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int
    object: str
    transform: str
    model: str
    kind: str
    verdict: Verdict
    radius: dict[str, float]
    prediction: str | None
    votes: int
    """Votes of the certificate."""
    attack_votes: int = 0
    closest: float | None = None
    """The smallest lead in votes, between -1 and 1, that any attack left to the certified class."""
    broken: Attack | None = None
    checksum: str
    seconds: float


def put_to_the_test(
    plan: Plan, number: int, spec: str, model: Model, cloud: Cloud, transform: str
) -> tuple[Trial, Certificate]:
    """Certify and attack one object; certificate and attack draw from independent streams."""
    started = time.monotonic()
    family = parse_transform(transform)
    seed = plan.seed_of(number)
    options = Options(alpha=plan.alpha, largest=True, budget=Budget(samples=plan.budget), seed=seed)
    made = certify(model, cloud, family, _end_of_search(family), options)
    # What is attacked is what a stranger would get: the certificate read back from its file, and verified.
    certificate = Certificate.from_json(made.to_json())
    kind = case_of(certificate).proof.kind
    level = plan.false_alarm / len(plan.questions)
    broken, closest, spent = None, None, 0
    if certificate.verdict == "certified":
        broken, closest, spent = break_certificate(
            model, certificate, tries=plan.tries, level=level, seed=seed + 1
        )
    trial = Trial(
        number=number,
        object=spec,
        transform=transform,
        model=model.name,
        kind=kind,
        verdict=certificate.verdict,
        radius=certificate.radius,
        prediction=certificate.prediction,
        votes=certificate.samples,
        attack_votes=spent,
        closest=closest,
        broken=broken,
        checksum=certificate.checksum,
        seconds=round(time.monotonic() - started, 3),
    )
    return trial, certificate


def break_certificate(
    model: Model, certificate: Certificate, *, tries: int, level: float, seed: int
) -> tuple[Attack | None, float | None, int]:
    """Search the claimed region by every method; an attack counts once fresh votes prove it.

    Returns the proven attack or None, the smallest lead seen, and the votes spent. All tests of one call
    together call a certificate broken that is not with probability at most `level`.
    """
    votes = certificate.votes()
    # A ledger of its own under another seed; of the certificate it takes only which class is claimed.
    ledger = Ledger(seed, votes.task, votes.shape, own_seed=False, tallies={SELECT: votes.tally(SELECT)})
    options = Options(alpha=level, seed=seed, sigma=certificate.question.options.sigma)
    cloud, family = certificate.cloud.cloud(), certificate.question.family
    run = prepare(model, cloud, family, certificate.radius, options, resume=ledger)
    logits = model.classifier(run.voter.device)
    victim = SmoothedVictim(
        logits, model.module, cloud, family, run.target, run.voter.smoothing, seed, votes=SEARCH_VOTES
    )
    space = attack_space(family, run.claim.radii, len(cloud))
    rng = np.random.default_rng(seed)
    closest: float | None = None
    for method in METHODS.values():
        for candidate in method(victim, space, tries, rng, lambda: False)[:CONFIRMED]:
            closest = candidate.margin if closest is None else min(closest, candidate.margin)
            if candidate.margin < 0:
                found = proven_attack(run, candidate)
                if found is not None:
                    return found, closest, run.voter.evaluations + victim.evaluations
    return None, closest, run.voter.evaluations + victim.evaluations


def _end_of_search(family: Transform) -> list[float] | None:
    """Compositions grow in the proportions of the paper's largest radii; the others as far as they can."""
    if not isinstance(family, Composition):
        return None
    return list(max(family.paper_radii, default=tuple(p.largest_radius / 4 for p in family.radii)))
