"""One trial: make the largest certificate that the budget buys, check it, then try to break it."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from pydantic import BaseModel, ConfigDict
from torch import Tensor

from tpc_core.attacks.methods import METHODS
from tpc_core.attacks.space import attack_space
from tpc_core.attacks.victim import SmoothedVictim
from tpc_core.certificate.schema import AttackRecord, Certificate, Verdict
from tpc_core.certificate.verify import verify
from tpc_core.certify import Budget, Options, certify
from tpc_core.certify.control import Control
from tpc_core.certify.refute import confirm_attack
from tpc_core.certify.run import Run, default_batch_size
from tpc_core.cloud import Cloud
from tpc_core.models.store import Model
from tpc_core.redteam.questions import Plan
from tpc_core.smoothing import smoothing_from_json
from tpc_core.statistics import StagedMonitor
from tpc_core.transforms import Composition, Transform, parse_transform
from tpc_core.votes import Voter, resolve_device

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
    broken: AttackRecord | None = None
    checksum: str
    seconds: float


def put_to_the_test(
    plan: Plan, number: int, spec: str, kind: str, model: Model, cloud: Cloud, transform: str
) -> tuple[Trial, Certificate]:
    """Certify and attack one object; certificate and attack draw from independent streams."""
    started = time.monotonic()
    family = parse_transform(transform)
    seed = plan.seed_of(number)
    options = Options(alpha=plan.alpha, largest=True, budget=Budget(samples=plan.budget), seed=seed)
    made = certify(model, cloud, family, _end_of_search(family), options)
    # What is attacked is what a stranger would get: the certificate read back from its file, and verified.
    certificate = Certificate.from_json(made.to_json())
    verify(certificate)
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
        radius=certificate.claim.radius,
        prediction=certificate.prediction.name if certificate.prediction else None,
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
) -> tuple[AttackRecord | None, float | None, int]:
    """Search the claimed region by every method; an attack counts once fresh votes prove it.

    Returns the proven attack or None, the smallest lead seen, and the votes spent. All tests of one call
    together call a certificate broken that is not with probability at most `level`.
    """
    prediction = certificate.prediction
    assert prediction is not None
    cloud, family = certificate.cloud.cloud(), parse_transform(certificate.claim.transform)
    smoothing = smoothing_from_json(certificate.model.smoothing)
    radii = tuple(p.to_internal(certificate.claim.radius[p.name]) for p in family.radii)
    run = Run(
        voter=Voter(model, smoothing, seed=seed, device=resolve_device("auto")),
        cloud=cloud,
        classes=tuple(model.classes),
        transform=family,
        radii=radii,
        largest=False,
        alpha=level,
        monitor=StagedMonitor((1,), (1.0,)),
        control=Control(Budget()),
        batch_size=default_batch_size(len(cloud)),
    )
    logits = model.classifier(run.voter.device)
    smooth: Callable[[Tensor], Tensor] = model.module
    victim = SmoothedVictim(
        logits, smooth, cloud, family, prediction.index, smoothing, seed, votes=SEARCH_VOTES
    )
    space = attack_space(family, radii, len(cloud))
    rng = np.random.default_rng(seed)
    closest: float | None = None
    for method in METHODS.values():
        for candidate in method(victim, space, tries, rng, lambda: False)[:CONFIRMED]:
            closest = candidate.margin if closest is None else min(closest, candidate.margin)
            if candidate.margin < 0:
                record = confirm_attack(run, prediction, candidate.z, candidate.method)
                if record is not None:
                    return record, closest, run.control.samples + victim.evaluations
    return None, closest, run.control.samples + victim.evaluations


def _end_of_search(family: Transform) -> list[float] | None:
    """Compositions grow in the proportions of the paper's largest radii; the others as far as they can."""
    if not isinstance(family, Composition):
        return None
    return list(max(family.paper_radii, default=tuple(p.largest_radius / 4 for p in family.radii)))
