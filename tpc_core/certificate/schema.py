"""The certificate: everything that was claimed, seen and spent, as JSON that can be checked by anyone."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tpc_core.atomic import write_atomically as write_atomically
from tpc_core.cloud import Cloud
from tpc_core.data.files.content import read_bytes
from tpc_core.errors import InvalidCertificate

SCHEMA: Literal["tpc-certificate/1"] = "tpc-certificate/1"
LARGEST_FILE = 64 << 20

Count = Annotated[int, Field(ge=0, le=1 << 40)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Probability = Annotated[float, Field(ge=0, le=1)]
Verdict = Literal["certified", "refuted", "undecided"]
CellState = Literal["passed", "refined", "failed", "waiting"]


class Record(BaseModel):
    """A strict, immutable piece of a certificate: an unknown field is an error, not a comment."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Claim(Record):
    """What is claimed: no attack of `transform` within `radius` changes the prediction.

    `radius` is in edge units, by parameter name. `largest` says that the radius was read off the votes.
    """

    transform: str
    radius: dict[str, Finite]
    largest: bool = False


class Prediction(Record):
    """The class y_A, chosen on samples of its own."""

    index: int
    name: str
    votes: dict[str, Count]
    samples: Count


class Reason(Record):
    """Why a verdict is not "certified", and what would settle it."""

    code: Literal["budget", "cancelled", "not-confident", "wrong-class", "too-coarse", "no-radius"]
    message: str


class Reading(Record):
    """The state of one count when its bound was read: n_A votes of n."""

    n: Count
    n_a: Count


class SingleEvidence(Record):
    """One probability decides: additive transforms, rotations, l2, l-infinity and linear maps."""

    kind: Literal["single"] = "single"
    rule: Literal["parameter", "l2", "linear", "diffusion"]
    readings: list[Reading]
    lower_bound: Probability
    needed: Probability


class GroupEvidence(Record):
    """The top-class test of group smoothing: votes by class after each stage."""

    kind: Literal["group"] = "group"
    stages: list[dict[str, Count]]
    p_value: Probability
    level: Probability


class CellRecord(Record):
    """One cell of a cover. `low` and `high` are in internal units; `reach` is the displacement in sigmas."""

    path: str = Field(max_length=400)
    low: list[Finite] = Field(max_length=16)
    high: list[Finite] = Field(max_length=16)
    reach: Finite
    needed: Probability
    readings: list[Reading] = Field(max_length=64)
    lower_bound: Probability
    state: CellState


class TreeEvidence(Record):
    """The visited part of the adaptive tree. `factor` scales the radius where the largest one was asked for."""

    kind: Literal["tree"] = "tree"
    start: Finite
    path_shares: list[Probability]
    root_radius: dict[str, Finite]
    factor: Finite
    cells: list[CellRecord] = Field(max_length=1_000_000)


class GrownEvidence(Record):
    """A cover that grew: each tree vouches for its region without the region of the tree before it."""

    kind: Literal["grown"] = "grown"
    trees: list[TreeEvidence] = Field(min_length=2, max_length=32)

    @property
    def cells(self) -> list[CellRecord]:
        """The cells of all trees."""
        return [cell for tree in self.trees for cell in tree.cells]


class GridEvidence(Record):
    """The paper's uniform grid: every cell at level alpha / M."""

    kind: Literal["grid"] = "grid"
    resolution: Annotated[int, Field(ge=1, le=100_000)]
    cells: list[CellRecord] = Field(max_length=1_000_000)


class PointEvidence(Record):
    """Part segmentation: one prediction and one count for every point."""

    kind: Literal["points"] = "points"
    rule: Literal["parameter", "l2", "linear", "diffusion", "group"]
    predictions: list[int] = Field(max_length=1_000_000)
    selection: Count
    """Votes that chose the predictions; they are used for nothing else."""
    n: Count
    n_a: list[Count]
    runner_up: list[Count]
    lower_bounds: list[Probability]
    needed: Probability
    certified: list[bool]
    jointly_certified: list[bool]


Evidence = Annotated[
    SingleEvidence | GroupEvidence | TreeEvidence | GrownEvidence | GridEvidence | PointEvidence,
    Field(discriminator="kind"),
]


class Statistics(Record):
    """The rule that turns votes into bounds, fixed before the first vote."""

    kind: Literal["staged", "anytime"]
    sizes: list[Count]
    shares: list[Probability]


class LedgerEntry(Record):
    """Where a part of alpha was spent."""

    what: str
    level: Probability


class AttackRecord(Record):
    """A parameter inside the region at which the smoothed classifier prefers another class."""

    method: str
    parameter: list[Finite]
    edge: dict[str, Finite]
    votes: dict[str, Count]
    samples: Count
    winner: str
    p_value: Probability


class ModelRecord(Record):
    """Which model voted."""

    name: str
    digest: str
    classes: list[str] = Field(max_length=10_000)
    task: Literal["classification", "segmentation"]
    smoothing: dict[str, Any]


class CloudRecord(Record):
    """The cloud itself, so that the certificate stands on its own: float32, little-endian, base64."""

    name: str
    label: str | None
    digest: str
    count: Annotated[int, Field(ge=2, le=1_000_000)]
    points: str

    @staticmethod
    def of(cloud: Cloud) -> CloudRecord:
        raw = cloud.points.numpy().astype("<f4").tobytes()
        encoded = base64.b64encode(raw).decode("ascii")
        return CloudRecord(
            name=cloud.name, label=cloud.label, digest=cloud.digest, count=len(cloud), points=encoded
        )

    def cloud(self) -> Cloud:
        """The cloud, checked against its digest."""
        try:
            raw = base64.b64decode(self.points, validate=True)
            array = np.frombuffer(raw, dtype="<f4").reshape(self.count, 3)
        except ValueError as error:
            raise InvalidCertificate(f"the recorded points are not {self.count} float32 triples") from error
        cloud = Cloud(torch.from_numpy(array.astype(np.float32)), self.name, self.label)
        if cloud.digest != self.digest:
            raise InvalidCertificate("the recorded points do not have the recorded digest")
        return cloud


class Certificate(Record):
    """A verdict with its evidence. `verify` re-derives the verdict from the counts; `replay` casts the votes again."""

    schema_version: Literal["tpc-certificate/1"] = SCHEMA
    library: str
    verdict: Verdict
    sentence: str
    reasons: list[Reason]
    claim: Claim
    prediction: Prediction | None
    alpha: Annotated[float, Field(gt=0, lt=1)]
    protocol: Literal["adaptive", "paper"]
    statistics: Statistics
    evidence: Evidence
    ledger: list[LedgerEntry]
    attack: AttackRecord | None = None
    model: ModelRecord
    cloud: CloudRecord
    seed: int
    device: str
    samples: Count
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    checksum: str = ""

    @property
    def content_digest(self) -> str:
        """The sha256 of everything but the clock and the checksum itself: same seed, same digest."""
        content = self.model_dump(mode="json", exclude={"seconds", "checksum"})
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def sealed(self) -> Certificate:
        """The certificate with its checksum filled in."""
        return self.model_copy(update={"checksum": self.content_digest})

    def to_json(self) -> str:
        """The certificate as indented JSON."""
        return json.dumps(self.model_dump(mode="json"), indent=1, allow_nan=False) + "\n"

    def save(self, path: Path) -> None:
        """Write the file whole or not at all."""
        write_atomically(path, self.to_json().encode())

    @staticmethod
    def from_json(text: str | bytes) -> Certificate:
        """Read a certificate, or say in one sentence what is wrong with it."""
        if len(text) > LARGEST_FILE:
            raise InvalidCertificate(f"a certificate has at most {LARGEST_FILE >> 20} MB; this is not one")
        try:
            return Certificate.model_validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(piece) for piece in first["loc"]) or "the file"
            raise InvalidCertificate(f"not a {SCHEMA} file: {place}: {first['msg']}") from None
        except RecursionError:
            raise InvalidCertificate("not a certificate: nested too deeply") from None

    @staticmethod
    def load(path: Path) -> Certificate:
        """Read a certificate file."""
        return Certificate.from_json(read_bytes(path, LARGEST_FILE))
