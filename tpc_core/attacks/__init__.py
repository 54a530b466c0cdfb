"""Attacks: look inside the region for a parameter that changes the prediction, and prove it by votes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from tpc_core.attacks.methods import METHODS, Candidate, method
from tpc_core.attacks.space import attack_space
from tpc_core.attacks.victim import BaseVictim, SmoothedVictim, Victim
from tpc_core.certificate.schema import AttackRecord, Certificate, Prediction
from tpc_core.certificate.sentence import refutation
from tpc_core.certify import Budget
from tpc_core.certify.control import Control
from tpc_core.certify.refute import confirm_attack
from tpc_core.certify.run import Run, default_batch_size, predict
from tpc_core.certify.strategy import with_sigma
from tpc_core.cloud import Cloud
from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.statistics import StagedMonitor, check_alpha
from tpc_core.transforms import RadiusInput, Transform, parse_transform
from tpc_core.votes import BaseClassifier, Voter, resolve_device

SELECT_SAMPLES = 128
_CONFIRMED = 3
"""How many of the best candidates of each method are put to the test."""


@dataclass(frozen=True)
class AttackReport:
    """What a search found: the attack, or the closest that it came."""

    against: str
    transform: str
    prediction: Prediction
    attack: AttackRecord | None
    closest: Candidate
    evaluations: int

    @property
    def sentence(self) -> str:
        """The result as a person would say it."""
        victim = "the smoothed model" if self.against == "smoothed" else "the base model"
        if self.attack is None:
            return (
                f"No {self.transform} was found that turns {self.prediction.name} into something else for "
                f"{victim} ({self.evaluations:,} evaluations; closest margin {self.closest.margin:.3f})."
            )
        said = refutation(self.transform, self.prediction.name, self.attack)
        return f"{said.rstrip('.')} for {victim}."


def attack(
    model: BaseClassifier,
    cloud: Cloud,
    transform: str | Transform,
    radius: RadiusInput,
    *,
    against: Literal["smoothed", "base"] = "smoothed",
    methods: Sequence[str] = tuple(METHODS),
    tries: int = 200,
    alpha: float = 0.001,
    sigma: tuple[float, ...] | None = None,
    seed: int = 0,
    device: str = "auto",
    cancelled: Callable[[], bool] = lambda: False,
    progress: Callable[[int], None] = lambda evaluations: None,
) -> AttackReport:
    """Search the region for a parameter at which the prediction changes.

    Against the smoothed classifier the result is proven on fresh votes, with error at most alpha; against the
    base classifier one evaluation is the proof. `progress` hears of the evaluations so far as often as
    `cancelled` is asked.
    """
    if model.task != "classification":
        raise UnsupportedRequest(
            "attacks look for a change of a cloud's class; segmentation models have none"
        )
    if against not in ("smoothed", "base"):
        raise InvalidValue(f"attack the smoothed or the base classifier, not {against!r}")
    if tries < 1:
        raise InvalidValue(f"an attack needs at least one try, not {tries}")
    searches = [method(name) for name in methods]
    if isinstance(transform, str):
        transform = parse_transform(transform)
    run = Run(
        voter=Voter(model, with_sigma(model.smoothing, sigma), seed=seed, device=resolve_device(device)),
        cloud=cloud,
        classes=tuple(model.classes),
        transform=transform,
        radii=transform.parse_radius(radius),
        largest=False,
        alpha=check_alpha(alpha),
        monitor=StagedMonitor((1,), (1.0,)),
        control=Control(Budget(), cancelled),
        batch_size=default_batch_size(len(cloud)),
    )
    victim, prediction = _victim(run, model, against, seed)
    space = attack_space(transform, run.radii, len(cloud))
    rng = np.random.default_rng(seed)

    def watched() -> bool:
        progress(_cost(run, victim))
        return cancelled()

    closest: Candidate | None = None
    for search in searches:
        candidates = search(victim, space, tries, rng, watched)
        for candidate in candidates[:_CONFIRMED]:
            closest = candidate if closest is None or candidate.margin < closest.margin else closest
            if candidate.margin < 0:
                found = _prove(run, model, prediction, candidate, against)
                if found is not None:
                    return AttackReport(
                        against, transform.name, prediction, found, candidate, _cost(run, victim)
                    )
    if closest is None:
        closest = Candidate(np.zeros(space.dim), float("inf"), "none")
    return AttackReport(against, transform.name, prediction, None, closest, _cost(run, victim))


def refuted(certificate: Certificate, record: AttackRecord) -> Certificate:
    """The certificate with its verdict changed by a proven attack inside its region."""
    name = certificate.prediction.name if certificate.prediction else "its class"
    sentence = refutation(certificate.claim.transform, name, record)
    changes = {"verdict": "refuted", "attack": record, "sentence": sentence}
    return certificate.model_copy(update=changes).sealed()


def _cost(run: Run, victim: Victim) -> int:
    return run.control.samples + victim.evaluations


def _victim(run: Run, model: BaseClassifier, against: str, seed: int) -> tuple[Victim, Prediction]:
    logits = model.classifier(run.voter.device)
    smooth: Callable[[Tensor], Tensor] = getattr(model, "module", logits)
    if against == "smoothed":
        prediction = predict(run, SELECT_SAMPLES)
        if prediction is None:
            raise InvalidValue("the attack was cancelled before the class was known")
        smoothing = run.voter.smoothing
        return SmoothedVictim(
            logits, smooth, run.cloud, run.transform, prediction.index, smoothing, seed
        ), prediction
    with torch.inference_mode():
        index = int(logits(run.cloud.points[None]).argmax())
    name = run.classes[index]
    prediction = Prediction(index=index, name=name, votes={name: 1}, samples=1)
    return BaseVictim(logits, smooth, run.cloud, run.transform, index), prediction


def _prove(
    run: Run, model: BaseClassifier, prediction: Prediction, candidate: Candidate, against: str
) -> AttackRecord | None:
    if against == "smoothed":
        return confirm_attack(run, prediction, candidate.z, candidate.method)
    with torch.inference_mode():
        index = int(
            model.classifier(run.voter.device)(run.at(candidate.z)[None].to(run.voter.device)).argmax()
        )
    if index == prediction.index:
        return None
    return AttackRecord(
        method=candidate.method,
        parameter=[float(v) for v in candidate.z],
        edge=run.transform.named_values(candidate.z),
        votes={run.classes[index]: 1},
        samples=1,
        winner=run.classes[index],
        p_value=0.0,
    )


__all__ = ["METHODS", "AttackReport", "Candidate", "attack", "refuted"]
