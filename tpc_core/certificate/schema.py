"""The certificate: question, ledger and verdict, as JSON that can be checked by anyone.

Nothing that follows from the votes is trusted: `tpc_core.verify` derives it again. Every number is checked for its
range as if a stranger had typed it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field, TypeAdapter, model_validator

from tpc_core.border import CERTIFICATE, Items, checked, read_json
from tpc_core.certificate.certain import CertainRecord
from tpc_core.certificate.record import Count, Finite, Record
from tpc_core.cloud import Cloud
from tpc_core.data.files.content import read_bytes
from tpc_core.errors import InvalidCertificate, UnsupportedRequest
from tpc_core.ledger import Ledger, Refutation, Tally, subject_of
from tpc_core.machinery.atomic import write_atomically
from tpc_core.pictures import fact_table, verdict_box
from tpc_core.question import Question
from tpc_core.smoothing import GENERATOR

if TYPE_CHECKING:
    from tpc_core.votes import BaseClassifier

SCHEMA: Literal["tpc-certificate/2"] = "tpc-certificate/2"

LARGEST_TABLE = 1 << 27
"""Counts in all tallies together, zeros included: a small file may not unfold into more than memory holds."""

Verdict = Literal["certified", "refuted", "undecided"]
Stop = Literal["settled", "hopeless", "budget", "cancelled", "too-many-cells", "cut-off"]
"""Why the run ended: it had its answer, a part of the region would cost more than anyone waits for, the budget was
spent, somebody stopped it, the region has more cells than are ever looked at, or it was saved while it went on."""

Blocks = Items[Any]
"""A tally as Tally.to_json writes it; Tally.from_json checks each number."""


class ModelRecord(Record):
    """Which model answered."""

    name: str = Field(max_length=500)
    digest: str = Field(min_length=1, max_length=200)
    classes: Items[Annotated[str, Field(max_length=200)]] = Field(min_length=1, max_length=10_000)
    task: Literal["classification", "segmentation"]
    smoothing: dict[str, Any]
    """Empty where the plain network itself was asked."""

    @staticmethod
    def of(model: BaseClassifier, smoothing: dict[str, Any]) -> ModelRecord:
        return ModelRecord(
            name=model.name,
            digest=model.digest,
            classes=list(model.classes),
            task=model.task,
            smoothing=smoothing,
        )


class CloudRecord(Record):
    """The cloud itself, so that the certificate stands on its own: float32, little-endian, base64."""

    name: str = Field(max_length=500)
    label: str | None = Field(max_length=200)
    digest: str = Field(pattern=r"^[0-9a-f]{64}$")
    count: Annotated[int, Field(ge=2, le=1_000_000)]
    points: str

    @staticmethod
    def of(cloud: Cloud) -> CloudRecord:
        raw = cloud.array.astype("<f4").tobytes()
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
        cloud = Cloud(array, self.name, self.label)
        if cloud.digest != self.digest:
            raise InvalidCertificate("the recorded points do not have the recorded digest")
        return cloud


class RefutationRecord(Record):
    """An attack that was put to the test, in the order of the tests."""

    parameter: Items[Finite] = Field(max_length=300_000)
    rival: Count
    method: str = Field(max_length=80)
    votes: Blocks = Field(max_length=1_000_000)


class LedgerRecord(Record):
    """All votes, by the name of their place."""

    seed: Annotated[int, Field(ge=0, lt=1 << 63)]
    own_seed: bool
    generator: Literal["philox4x64-10/box-muller/1"] = GENERATOR  # type: ignore[assignment]
    families: Items[Items[Finite]] = Field(max_length=16)
    places: dict[Annotated[str, Field(max_length=400)], Blocks] = Field(max_length=1_000_000)
    refutations: Items[RefutationRecord] = Field(max_length=64)

    @staticmethod
    def of(ledger: Ledger) -> LedgerRecord:
        return LedgerRecord(
            seed=ledger.seed,
            own_seed=ledger.own_seed,
            families=[list(shape) for shape in ledger.families],
            places={place: ledger.tallies[place].to_json() for place in sorted(ledger.tallies)},
            refutations=[
                RefutationRecord(
                    parameter=list(r.parameter), rival=r.rival, method=r.method, votes=r.votes.to_json()
                )
                for r in ledger.refutations
            ],
        )

    def ledger(self, task: str, classes: int, points: int) -> Ledger:
        """The ledger, every block checked."""
        shape = (points, classes) if task == "segmentation" else (classes,)
        votes = [*self.places.values(), *(r.votes for r in self.refutations)]
        if (
            sum(len(blocks) + 8 for blocks in votes) * math.prod(shape) > LARGEST_TABLE
        ):  # 8: a total, in int64
            raise InvalidCertificate("the votes are a larger table than any run makes")
        return Ledger(
            seed=self.seed,
            task=task,
            shape=shape,
            own_seed=self.own_seed,
            families=[tuple(family) for family in self.families],
            tallies={place: Tally.from_json(blocks, shape) for place, blocks in self.places.items()},
            refutations=[
                Refutation(tuple(r.parameter), r.rival, r.method, Tally.from_json(r.votes, shape))
                for r in self.refutations
            ],
        )


_AT_THE_END = 1e-6
"""A largest radius that is nearer than this to the end of its search is that end."""


class Certificate(Record):
    """A verdict with its evidence: the question, the ledger of votes (or the cells of a certain proof), and what
    follows from the two."""

    schema_version: Literal["tpc-certificate/2"] = SCHEMA
    library: str = Field(max_length=50)
    verdict: Verdict
    sentence: str = Field(max_length=2_000)
    radius: dict[Annotated[str, Field(max_length=50)], Finite] = Field(max_length=16)
    """What is claimed, in edge units by name: the radius asked for, or the largest one that was found."""
    stopped: Stop
    question: Question
    family: Annotated[int, Field(ge=1, le=16)]
    """The number of this shape of region in its ledger."""
    prediction: str | None = Field(max_length=200)
    """y_A by name; None for part segmentation, and where the run ended before it was chosen."""
    ledger: LedgerRecord | None = None
    """The votes of a smoothed certificate."""
    certain: CertainRecord | None = None
    """The cells and margins of a certificate without probability; exactly one of the two is there."""
    model: ModelRecord
    cloud: CloudRecord
    device: str = Field(max_length=20)
    samples: Count
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    checksum: str = Field(default="", max_length=64)

    @property
    def alpha(self) -> float:
        """The probability with which the certificate may be wrong; 0 where it was proved without votes."""
        return self.question.options.alpha if self.certain is None else 0.0

    @property
    def note(self) -> str:
        """What the sentence does not say: the largest radius is the end of the search, so it may be larger in truth."""
        asked = self.question.radius
        if self.verdict != "certified" or not self.question.options.largest:
            return ""
        if any(self.radius.get(name, 0.0) < value * (1 - _AT_THE_END) for name, value in asked.items()):
            return ""
        return "The search ended here: this is the end of the range, and a larger radius was not tried."

    @model_validator(mode="after")
    def _one_kind_of_evidence(self) -> Certificate:
        if (self.ledger is None) == (self.certain is None):
            raise ValueError(
                "a certificate holds a ledger of votes or the cells of a certain proof, one of the two"
            )
        return self

    def _repr_html_(self) -> str:
        """The verdict and what it rests on, where a notebook shows it; `tpc_core.notebook` has its map."""
        facts = {
            "object": f"{self.question.object}, {self.question.points} points",
            "model": self.model.name,
            "transform": f"{self.question.transform} within {self.question.radius_text()}",
            "proof": "certain" if self.certain is not None else f"by votes, alpha {self.alpha:g}",
            "votes": None if self.certain is not None else f"{self.samples:,}",
            "checksum": f"{self.checksum[:12]}...",
            "checked": "not here: verify(certificate) derives the verdict again",
        }
        return verdict_box(self.verdict, self.sentence) + fact_table(facts)

    @property
    def content_digest(self) -> str:
        """The sha256 of everything but the clock and the checksum itself: same seed, same digest."""
        content = self.model_dump(mode="json", exclude={"seconds", "checksum"})
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def sealed(self) -> Certificate:
        """The certificate with its checksum filled in."""
        return self.model_copy(update={"checksum": self.content_digest})

    def votes(self) -> Ledger:
        """The ledger, every number in it checked."""
        if self.ledger is None:
            raise UnsupportedRequest(
                "this certificate holds no votes: it was proved without any, about the plain network"
            )
        model, question = self.model, self.question
        ledger = self.ledger.ledger(model.task, len(model.classes), self.cloud.count)
        ledger.subject = subject_of(
            self.cloud.digest,
            model.digest,
            model.classes,
            question.transform,
            model.smoothing,
            question.options.protocol,
        )
        return ledger

    def to_json(self) -> str:
        """The certificate as JSON, a line for each field."""
        fields = self.model_dump(mode="json")
        lines = [f" {json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in fields.items()]
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def save(self, path: Path) -> None:
        """Write the file whole or not at all."""
        write_atomically(path, self.to_json().encode())

    @staticmethod
    def from_json(text: str | bytes) -> Certificate:
        """Read a certificate, or say in one sentence what is wrong with it."""
        content = read_json(text, CERTIFICATE, "the file")
        version = content.get("schema_version") if isinstance(content, dict) else None
        if version == "tpc-certificate/1":
            raise InvalidCertificate(
                "this certificate was made by an earlier version, whose votes cannot be checked any more; certify again"
            )
        return checked(Certificate, content, CERTIFICATE, "the file")

    @staticmethod
    def load(path: Path) -> Certificate:
        """Read a certificate file."""
        return Certificate.from_json(read_bytes(path, CERTIFICATE.size))


QUESTION = TypeAdapter(Question)
"""Reads and writes a question as JSON."""
