"""What is evaluated and how: everything that a figure depends on, and nothing else."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from tpc_core.border import Items
from tpc_core.certify import Budget, Options
from tpc_core.data import Dataset
from tpc_core.data.classes import match_classes
from tpc_core.errors import InvalidValue
from tpc_core.evaluation.claims import ClaimSpec, parse_claims
from tpc_core.models import Model
from tpc_core.version import VERSION
from tpc_core.votes import resolve_device

DEFAULT_POINTS = 64
DEFAULT_CELLS = 20_000
"""Cells that one certain proof may take, unless another number is given."""


class Settings(BaseModel):
    """The header of a journal. Two runs with equal settings give equal tables, on any engine.

    `alpha` holds for each claim about each object. `objects` and `objects_digest` pin the data down.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    data: str
    split: str
    every: Annotated[int, Field(ge=1)] = 1
    limit: Annotated[int, Field(ge=1)] | None = None
    points: int
    objects: int
    objects_digest: str
    model: str
    model_digest: str
    architecture: str
    task: Literal["classification", "segmentation"]
    smoothing: dict[str, Any]
    claims: list[str]
    alpha: float
    budget_samples: Annotated[int, Field(ge=1)] | None
    proof: Literal["smoothed", "certain"] = "smoothed"
    """Whether the smoothed model is certified by votes, or the plain network without probability."""
    budget_cells: Annotated[int, Field(ge=1)] | None = None
    """The most cells of one certain proof; None by votes."""
    protocol: Literal["adaptive", "paper"] = "adaptive"
    accuracy_only: bool = False
    """Certify only what is predicted rightly: no certified ratio then, but less work."""
    seed: int = 0
    device: Literal["cpu", "cuda"] = "cpu"
    library: str = VERSION

    @property
    def shares_passes(self) -> bool:
        """Whether the votes of many objects go through the network together: on all but a CPU."""
        return self.device != "cpu" and self.proof == "smoothed"

    @property
    def whole_split(self) -> bool:
        """Whether every object of the split is asked about, not some of them."""
        return self.every == 1 and self.limit is None

    @property
    def counted(self) -> str:
        """What the cost of a proof is counted in."""
        return "cells" if self.proof == "certain" else "votes"

    def claim_specs(self) -> tuple[ClaimSpec, ...]:
        """The claims, parsed."""
        return parse_claims(self.claims)

    def to_json(self) -> dict[str, Any]:
        """The settings as a summary holds them; runs by votes need not say that they are not certain."""
        content = self.model_dump(mode="json")
        return content if self.proof == "certain" else _without(content, "proof", "budget_cells")

    def options(self, seed: int) -> Options:
        """The options of one certificate; only votes take a seed."""
        if self.proof == "certain":
            return Options(
                alpha=self.alpha,
                proof="certain",
                protocol=self.protocol,
                budget=Budget(cells=self.budget_cells),
                device=self.device,
            )
        return Options(
            alpha=self.alpha,
            protocol=self.protocol,
            budget=Budget(samples=self.budget_samples),
            seed=seed,
            device=self.device,
        )

    def object_seed(self, index: int) -> int:
        """A seed for each object, so that errors of different objects are independent.

        It is one for all claims: whatever is asked about an object, its class is chosen by the same votes.
        """
        name = f"{self.seed}|{self.data}|{self.split}|{index}"
        return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little") >> 1

    def command(self) -> str:
        """The command that measures these figures again."""
        flags = [
            f"--data {shlex.quote(self.data)} --split {shlex.quote(self.split)}",
            f"--every {self.every}",
        ]
        flags += [f"--limit {self.limit}"] if self.limit is not None else []
        flags += [f"--model {shlex.quote(self.model)}"]
        # A journal may have been written by anyone, and this line is there to be pasted into a shell.
        flags += [f"--claim {shlex.quote(claim)}" for claim in self.claims]
        flags += [f"--points {self.points}"]
        flags += [f"--alpha {self.alpha:g}"] if self.proof == "smoothed" else ["--proof certain"]
        flags += [f"--budget-cells {self.budget_cells}"] if self.budget_cells is not None else []
        flags += [f"--budget-samples {self.budget_samples}"] if self.budget_samples is not None else []
        flags += ["--protocol paper"] if self.protocol == "paper" else []
        flags += ["--accuracy-only"] if self.accuracy_only else []
        flags += [f"--seed {self.seed}"] if self.seed else []
        return " ".join(["tpc evaluate", *flags])


class Request(BaseModel):
    """What a person asks for, before the data set and the checkpoint are looked at."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    data: str | None = None
    """None takes the data set that the model was trained on."""
    split: str = "test"
    every: Annotated[int, Field(ge=1)] = 1
    limit: Annotated[int, Field(ge=1)] | None = None
    points: int | None = None
    model: str
    claims: Items[str]
    alpha: float = 0.001
    budget_samples: Annotated[int, Field(ge=1)] | None = 1_000_000
    proof: Literal["smoothed", "certain"] = "smoothed"
    budget_cells: Annotated[int, Field(ge=1)] | None = None
    protocol: Literal["adaptive", "paper"] = "adaptive"
    accuracy_only: bool = False
    seed: Annotated[int, Field(ge=0)] = 0
    device: Literal["auto", "cpu", "cuda"] = "auto"

    def settle(self, model: Model, dataset: Dataset) -> Settings:
        """The settings: every default filled in, every claim in its one spelling."""
        card = model.card
        chosen = evaluated_objects(dataset, model, self.every, self.limit)
        if self.proof == "smoothed" and self.budget_cells is not None:
            raise InvalidValue("a budget of cells belongs to --proof certain; votes have --budget-samples")
        certain = self.proof == "certain"
        shared = {
            "split",
            "every",
            "limit",
            "alpha",
            "proof",
            "protocol",
            "accuracy_only",
            "seed",
        }
        settings = Settings(
            **self.model_dump(include=shared),
            budget_samples=None if certain else self.budget_samples,
            budget_cells=(self.budget_cells or DEFAULT_CELLS) if certain else None,
            data=dataset.name,
            points=self.points or card.num_points or DEFAULT_POINTS,
            objects=len(chosen),
            objects_digest=_digest([dataset.object_id(index) for index in chosen]),
            model=self.model,
            model_digest=model.digest,
            architecture=card.architecture,
            task=card.task,
            smoothing={} if certain else card.smoothing,
            claims=[str(claim) for claim in parse_claims(self.claims)],
            device="cuda" if resolve_device(self.device).type == "cuda" else "cpu",
        )
        settings.options(0)  # refuses a bad alpha before any work
        return settings


def evaluated_objects(dataset: Dataset, model: Model, every: int, limit: int | None) -> list[int]:
    """The numbers of the objects: every k-th from the first whose class the model has, at most `limit` of them."""
    if model.task == "segmentation":
        return chosen_objects(len(dataset), every, limit)
    found = match_classes(dataset.classes, model.classes)
    known = [row for row in range(len(dataset)) if int(dataset.labels[row]) in found.pairs]
    if not known:
        raise InvalidValue(f"no object can be evaluated: {found.sentence(dataset.name)}")
    return [known[place] for place in chosen_objects(len(known), every, limit)]


def chosen_objects(count: int, every: int, limit: int | None) -> list[int]:
    """The numbers of the objects: every k-th from the first, at most `limit` of them."""
    chosen = list(range(0, count, every))[:limit]
    if not chosen:
        raise InvalidValue("the data set is empty: there is no object to evaluate")
    return chosen


def certificate_name(settings: Settings, index: int, claim: str) -> str:
    """What the file of one object's certificate is called."""
    return re.sub(r"[^A-Za-z0-9.=+-]+", "_", f"{Path(settings.model).stem}-{index:05}-{claim}") + ".json"


def differences(before: Settings, now: Settings) -> list[str]:
    """What was changed, one line per setting."""
    old, new = before.model_dump(), now.model_dump()
    return [f"{key}: {_short(old[key])} -> {_short(new[key])}" for key in old if old[key] != new[key]]


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


def _without(content: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name not in names}


def _digest(names: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]
