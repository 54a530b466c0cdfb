"""One object: the unit of work of every engine. All claims of one model about one cloud, votes shared."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray

from tpc_core.certificate.schema import Certificate, PointEvidence
from tpc_core.certify import Done, Predicted, certify_events
from tpc_core.cloud import Cloud
from tpc_core.errors import InvalidFile
from tpc_core.evaluation.claims import ClaimSpec, ascending
from tpc_core.evaluation.parts import part_counts
from tpc_core.evaluation.recall import RecallingVoter
from tpc_core.evaluation.records import ClaimRow, ObjectRow
from tpc_core.evaluation.settings import Settings
from tpc_core.models import Model, load_model
from tpc_core.votes import resolve_device


@dataclass(frozen=True)
class Task:
    """One object to evaluate; it travels to a worker, so it holds arrays rather than tensors."""

    settings: Settings
    index: int
    id: str
    label: str | None
    points: NDArray[np.float32]
    parts: NDArray[np.int64] | None = None
    certificates: bool = False
    """Whether the certificates are wanted back."""

    def cloud(self) -> Cloud:
        """The cloud, checked."""
        parts = None if self.parts is None else torch.from_numpy(self.parts)
        return Cloud(torch.from_numpy(self.points), self.id, self.label, parts)


@dataclass(frozen=True)
class Result:
    """A finished object, with the certificates where they were asked for: {claim: JSON}."""

    row: ObjectRow
    certificates: dict[str, str]


@lru_cache(maxsize=2)
def cached_model(name: str, digest: str) -> Model:
    """The model of a name or path, loaded once per process; it must still be the one of the settings."""
    model = load_model(name)
    if model.digest != digest:
        raise InvalidFile(
            f"the checkpoint {name} changed during the evaluation; start again with the new one"
        )
    return model


def evaluate_object(task: Task) -> Result:
    """Certify every claim about one object."""
    return evaluate_with(cached_model(task.settings.model, task.settings.model_digest), task)


def evaluate_with(model: Model, task: Task) -> Result:
    """Certify every claim about one object with this model."""
    started = time.monotonic()
    settings, cloud = task.settings, task.cloud()
    device = resolve_device(settings.device)
    voter = RecallingVoter(model, model.smoothing, seed=settings.object_seed(task.index), device=device)
    inquiry = _Inquiry(model, cloud, settings, voter)
    inquiry.ask_all()
    base = _base_answer(model, cloud, device)
    per_point = settings.task == "segmentation"
    return Result(
        row=ObjectRow(
            index=task.index,
            id=task.id,
            label=task.label,
            cloud=cloud.digest[:16],
            base=None if per_point else model.classes[int(base)],
            prediction=inquiry.prediction,
            right_points=inquiry.right_points,
            base_right_points=_agreeing(base, cloud) if per_point else None,
            claims=[inquiry.rows[number] for number in range(len(settings.claims))],
            evaluations=voter.evaluations,
            seconds=round(time.monotonic() - started, 3),
        ),
        certificates=inquiry.certificates if task.certificates else {},
    )


class _Inquiry:
    """All claims about one object, asked upwards; a claim whose smaller sister failed is not asked."""

    def __init__(self, model: Model, cloud: Cloud, settings: Settings, voter: RecallingVoter) -> None:
        self.model, self.cloud, self.settings, self.voter = model, cloud, settings, voter
        self.options = settings.options(voter.seed)
        self.rows: dict[int, ClaimRow] = {}
        self.certificates: dict[str, str] = {}
        self.prediction: str | None = None
        self.right_points: int | None = None

    def ask_all(self) -> None:
        claims = self.settings.claim_specs()
        for number in ascending(claims):
            claim = claims[number]
            failed = (
                other
                for other, row in self.rows.items()
                if row.status != "certified" and claims[other].within(claim)
            )
            # Points pass or fail one by one, so a claim about parts never answers another one.
            if self.settings.task == "classification" and any(True for _ in failed):
                wrong = self.settings.accuracy_only and self.prediction != self.cloud.label
                self.rows[number] = ClaimRow(status="skipped" if wrong else "implied", samples=0)
                continue
            self.rows[number] = self._ask(claim)

    def _ask(self, claim: ClaimSpec) -> ClaimRow:
        radius = claim.radius
        events = certify_events(
            self.model, self.cloud, claim.transform, radius, self.options, voter=self.voter
        )
        for event in events:
            if isinstance(event, Predicted):
                self.prediction = event.prediction.name
                if self.settings.accuracy_only and self.prediction != self.cloud.label:
                    return ClaimRow(status="skipped", samples=event.samples)
            if isinstance(event, Done):
                return self._row(claim, event.certificate)
        raise AssertionError("a run always ends with Done")

    def _row(self, claim: ClaimSpec, certificate: Certificate) -> ClaimRow:
        self.certificates[str(claim)] = certificate.to_json()
        parts = None
        if isinstance(certificate.evidence, PointEvidence):
            truth = _truth(self.cloud)
            parts = part_counts(certificate.evidence, truth, self.cloud.label)
            self.right_points = int((np.asarray(certificate.evidence.predictions) == truth).sum())
        return ClaimRow(status=certificate.verdict, samples=certificate.samples, parts=parts)


def _truth(cloud: Cloud) -> NDArray[np.int64]:
    if cloud.part_labels is None:
        raise InvalidFile(f"{cloud.name} has no part labels; evaluate a segmentation model on shapenetpart")
    return cloud.part_labels.numpy()


@torch.inference_mode()
def _base_answer(model: Model, cloud: Cloud, device: torch.device) -> NDArray[np.int64]:
    """The base classifier's answer on the untouched cloud: one class, or one part per point."""
    answer: NDArray[np.int64] = (
        model.classifier(device)(cloud.points[None].to(device))[0].argmax(-1).cpu().numpy()
    )
    return answer


def _agreeing(answer: NDArray[np.int64], cloud: Cloud) -> int:
    return int((answer == _truth(cloud)).sum())
