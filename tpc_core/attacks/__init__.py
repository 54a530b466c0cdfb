"""Attacks: look inside the region for a parameter that changes the prediction, and prove it by votes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from pydantic import ConfigDict
from torch import Tensor

from tpc_core.attacks.methods import METHODS, Candidate, method
from tpc_core.attacks.space import attack_space
from tpc_core.attacks.victim import BaseVictim, SmoothedVictim, Victim
from tpc_core.certificate.schema import Certificate
from tpc_core.certificate.sentence import refuted_sentence
from tpc_core.certify import prepare
from tpc_core.certify.refute import confirm_attack
from tpc_core.certify.run import Run, point_of
from tpc_core.cloud import Cloud
from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.ledger import Ledger
from tpc_core.question import DEFAULTS, Options
from tpc_core.transforms import RadiusInput, Transform, parse_transform
from tpc_core.votes import BaseClassifier, resolve_device

_CONFIRMED = 3
"""How many of the best candidates of each method are put to the test."""


@dataclass(frozen=True)
class Attack:
    """A parameter at which another class wins, proven."""

    method: str
    parameter: tuple[float, ...]
    """z in internal units."""
    edge: dict[str, float]
    """The same by name, in edge units."""
    winner: str
    samples: int
    """Votes of the proof; a base classifier is asked once."""
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class AttackReport:
    """What a search found: the attack, or the closest that it came."""

    against: str
    transform: Transform
    prediction: str
    attack: Attack | None
    closest: Candidate
    evaluations: int
    certificate: Certificate | None = None
    """What the ledger says now that the attack is in it, against the smoothed classifier: refuted."""

    @property
    def sentence(self) -> str:
        """The result as a person would say it."""
        victim = "the smoothed model" if self.against == "smoothed" else "the base model"
        if self.attack is None:
            return (
                f"No {self.transform.name} was found that turns {self.prediction} into something else for "
                f"{victim} ({self.evaluations:,} evaluations; closest margin {self.closest.margin:.3f})."
            )
        said = refuted_sentence(self.transform, self.attack.edge, self.prediction, self.attack.winner)
        return f"{said.rstrip('.')} for {victim}."


def attack(
    model: BaseClassifier,
    cloud: Cloud,
    transform: str | Transform,
    radius: RadiusInput,
    options: Options = DEFAULTS,
    *,
    against: Literal["smoothed", "base"] = "smoothed",
    methods: Sequence[str] = tuple(METHODS),
    tries: int = 200,
    search_seed: int = 0,
    resume: Certificate | Ledger | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    progress: Callable[[int], None] = lambda evaluations: None,
) -> AttackReport:
    """Search the region for a parameter at which the prediction changes.

    Against the smoothed classifier the result is proven on votes of its own, with error at most alpha, and put down in
    the ledger, which may be an earlier one (`resume`); against the base classifier one evaluation is the proof.
    `search_seed` decides where is looked. `progress` hears of the evaluations so far as often as `cancelled` is asked.
    """
    if model.task != "classification":
        raise UnsupportedRequest("attacks change the class of a cloud, and a segmentation model gives none")
    if against not in ("smoothed", "base"):
        raise InvalidValue(f"attack the smoothed or the base classifier, not {against!r}")
    if tries < 1:
        raise InvalidValue(f"an attack needs at least one try, not {tries}")
    searches = [method(name) for name in methods]
    family = parse_transform(transform) if isinstance(transform, str) else transform
    space = attack_space(family, family.parse_radius(radius), len(cloud))
    target: _Target
    if against == "base":
        target = _Base(model, cloud, family, options.device)
    else:
        target = _Smoothed(prepare(model, cloud, family, radius, options, cancelled=cancelled, resume=resume))

    def watched() -> bool:
        progress(target.evaluations)
        return cancelled()

    rng = np.random.default_rng(search_seed)
    closest = Candidate(np.zeros(space.dim), float("inf"), "none")
    found: Attack | None = None
    for search in searches:
        for candidate in search(target.victim, space, tries, rng, watched)[:_CONFIRMED]:
            closest = min(closest, candidate, key=lambda known: known.margin)
            found = target.proven(candidate) if candidate.margin < 0 else None
            if found is not None:
                closest = candidate
                break
        if found is not None:
            break
    certificate = target.certificate() if found is not None else None
    return AttackReport(against, family, target.prediction, found, closest, target.evaluations, certificate)


class _Target(ABC):
    """Who is attacked, and what proves an attack."""

    victim: Victim
    prediction: str

    @property
    @abstractmethod
    def evaluations(self) -> int:
        """Everything that was asked of the model so far."""

    @abstractmethod
    def proven(self, candidate: Candidate) -> Attack | None:
        """The attack of a candidate, if it is one."""

    def certificate(self) -> Certificate | None:
        """What the ledger says now, where there is one."""
        return None


class _Base(_Target):
    """The base classifier: one evaluation is the proof."""

    def __init__(self, model: BaseClassifier, cloud: Cloud, transform: Transform, device: str) -> None:
        self.device = resolve_device(device)
        self.classes, self.transform, self.cloud = list(model.classes), transform, cloud
        self.logits = model.classifier(self.device)
        index = self._answer(cloud.points)
        self.prediction = self.classes[index]
        smooth = getattr(model, "module", self.logits)
        self.victim = BaseVictim(self.logits, smooth, cloud, transform, index)

    @property
    def evaluations(self) -> int:
        return self.victim.evaluations

    def proven(self, candidate: Candidate) -> Attack | None:
        z = torch.from_numpy(candidate.z)
        winner = self.classes[self._answer(self.transform.apply(self.cloud.points.double(), z).float())]
        if winner == self.prediction:
            return None
        edge = self.transform.named_values(candidate.z)
        return Attack(candidate.method, point_of(candidate.z), edge, winner, 1)

    @torch.inference_mode()
    def _answer(self, points: Tensor) -> int:
        return int(self.logits(points[None].to(self.device)).argmax())


class _Smoothed(_Target):
    """The smoothed classifier: an attack is proven by votes on a stream of its own, in the ledger of a run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        for _ in run.choose_class():
            pass
        if run.class_name is None:
            raise InvalidValue("the attack was cancelled before the class was known")
        self.prediction = run.class_name
        logits = run.model.classifier(run.voter.device)
        self.victim = SmoothedVictim(
            logits,
            getattr(run.model, "module", logits),
            run.claim.cloud,
            run.claim.transform,
            run.target,
            run.voter.smoothing,
            run.ledger.seed,
        )

    @property
    def evaluations(self) -> int:
        return self.run.voter.evaluations + self.victim.evaluations

    def proven(self, candidate: Candidate) -> Attack | None:
        return proven_attack(self.run, candidate)

    def certificate(self) -> Certificate:
        return self.run.certificate("settled")


def proven_attack(run: Run, candidate: Candidate) -> Attack | None:
    """Put a candidate to the test in a run's ledger; the attack, if the votes prove it."""
    if not confirm_attack(run, candidate.z, candidate.method):
        return None
    proof = run.ledger.refutations[-1]
    edge = run.claim.transform.named_values(candidate.z)
    winner = list(run.model.classes)[proof.rival]
    return Attack(candidate.method, proof.parameter, edge, winner, proof.votes.n)


__all__ = ["METHODS", "Attack", "AttackReport", "Candidate", "attack", "proven_attack"]
