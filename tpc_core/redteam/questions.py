"""What a red team asks: every object, every transform, and every kind of certificate that covers it."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence

from pydantic import BaseModel, ConfigDict, Field
from torch import nn

from tpc_core.data import gallery, load_object, open_dataset
from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.models.choose import fitting_models
from tpc_core.models.store import Model
from tpc_core.proofs import Claim, proof_of
from tpc_core.transforms import Transform, all_transforms, parse_transform
from tpc_core.version import VERSION


class Pair(BaseModel):
    """A transform, and a model that can certify it by one kind of theorem."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    transform: str
    model: str
    digest: str
    kind: str
    """group, single or cover: which theorem the certificate rests on."""


class Plan(BaseModel):
    """Everything that decides what a red team does; the header of its journal."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    objects: list[str]
    pairs: list[Pair]
    points: int = 64
    alpha: float = Field(default=1e-6, gt=0, lt=1)
    """Error level of each certificate. Small: a sound certificate may break with this probability."""
    false_alarm: float = Field(default=1e-6, gt=0, lt=1)
    """Probability that the attacks call any certificate broken that is not, over the whole run."""
    budget: int = Field(default=2000, ge=256)
    """Votes that a certificate may cost."""
    tries: int = Field(default=12, ge=1)
    """Parameters that each method of attack may try on a certificate."""
    seed: int = Field(default=0, ge=0, lt=1 << 62)
    library: str = VERSION

    @property
    def questions(self) -> list[tuple[str, Pair]]:
        """All questions in a fixed shuffled order, so that any beginning of it is a fair sample."""
        asked = [(spec, pair) for spec in self.objects for pair in self.pairs]
        random.Random(self.seed).shuffle(asked)
        return asked

    def seed_of(self, number: int) -> int:
        """The seed of one certificate; its attack takes the next one, which is no certificate's."""
        name = f"redteam|{self.seed}|{number}"
        return int.from_bytes(hashlib.sha256(name.encode()).digest()[:7], "little") << 1


def plan_questions(
    *,
    data: str = "gallery",
    split: str = "test",
    every: int = 1,
    limit: int | None = None,
    transforms: Sequence[str] = (),
    **settings: int | float,
) -> Plan:
    """The plan of a red team over the gallery or a data set; by default over all transforms."""
    if every < 1 or (limit is not None and limit < 1):
        raise InvalidValue("--every and --limit are whole numbers of at least 1")
    chosen = [parse_transform(name) for name in transforms] or all_transforms()
    points = int(settings.get("points", Plan.model_fields["points"].default))
    pairs = [pair for transform in dict.fromkeys(chosen) for pair in pairs_for(transform, points)]
    if not pairs:
        raise UnsupportedRequest(f"no shipped checkpoint of {points} points can certify these transforms")
    objects = [*_objects(data, split)][::every][:limit]
    return Plan.model_validate({"objects": objects, "pairs": pairs, **settings})


def pairs_for(transform: Transform, points: int) -> list[Pair]:
    """For each kind of theorem and each kind of smoothing, the best suited classifier of this size that uses it."""
    anything = load_object("gallery:chair-1", points=points)
    tiny = tuple(p.to_internal(p.largest_radius / 100) for p in transform.radii)
    found: dict[tuple[str, str], Pair] = {}
    for card, objection in fitting_models(transform):
        if objection is None and card.task == "classification" and card.num_points == points:
            described = Model(card, nn.Identity())  # the card is enough to know its smoothing and its digest
            kind = proof_of(Claim(anything, transform, described.smoothing, tiny, alpha=0.001)).kind
            pair = Pair(transform=transform.name, model=card.name, digest=described.digest, kind=kind)
            found.setdefault((kind, str(card.smoothing["kind"])), pair)
    return list(found.values())


def _objects(data: str, split: str) -> Iterator[str]:
    if data == "gallery":
        return (f"gallery:{entry.name}" for entry in gallery())
    return (f"{data}:{split}/{index}" for index in range(len(open_dataset(data, split))))
