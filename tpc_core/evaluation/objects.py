"""One object: all claims of one model about one cloud, votes shared."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from tpc_core.certificate.schema import Certificate
from tpc_core.certify import Done, Event, Predicted, certify_events
from tpc_core.cloud import Cloud
from tpc_core.errors import InvalidFile
from tpc_core.evaluation.claims import ClaimSpec, ascending
from tpc_core.evaluation.parts import part_counts
from tpc_core.evaluation.records import ClaimRow, ObjectRow, PartCounts
from tpc_core.evaluation.settings import Settings
from tpc_core.ledger import SELECT, WHOLE, Ledger, Tally
from tpc_core.ledger.ledger import proportions
from tpc_core.proofs import PointStanding
from tpc_core.smoothing import Cover, rule_for
from tpc_core.transforms import Transform
from tpc_core.verify import case_of, certain_case_of
from tpc_core.votes import BaseClassifier, Voter


@dataclass(frozen=True)
class Object:
    """One object to evaluate; it may travel to a worker, so it holds arrays rather than tensors."""

    index: int
    id: str
    label: str | None
    points: NDArray[np.float32]
    parts: NDArray[np.int64] | None = None

    def cloud(self) -> Cloud:
        """The cloud, checked."""
        parts = None if self.parts is None else torch.from_numpy(self.parts)
        return Cloud(torch.from_numpy(self.points), self.id, self.label, parts)


def evaluate_object(
    settings: Settings, voter: Voter, one: Object, *, certificates: bool = False
) -> tuple[ObjectRow, dict[str, str]]:
    """Certify every claim about one object: its line, and the certificates where they are wanted, {claim: JSON}.

    The voter is that of the model, made once for all objects; each has a seed of its own.
    """
    started = time.monotonic()
    cloud, model = one.cloud(), voter.base
    voter = voter.for_seed(settings.object_seed(one.index))
    certain = settings.proof == "certain"
    inquiry = (_CertainInquiry if certain else _Inquiry)(model, cloud, settings, voter, keep=certificates)
    inquiry.ask_all()
    base = _base_answer(voter, cloud)
    per_point = settings.task == "segmentation"
    row = ObjectRow(
        index=one.index,
        id=one.id,
        label=one.label,
        cloud=cloud.digest[:16],
        base=None if per_point else model.classes[int(base)],
        prediction=inquiry.prediction,
        right_points=inquiry.right_points,
        base_right_points=_agreeing(base, cloud) if per_point else None,
        claims=[inquiry.rows[number] for number in range(len(settings.claims))],
        evaluations=inquiry.cells if certain else voter.evaluations,
        seconds=round(time.monotonic() - started, 3),
    )
    return row, inquiry.certificates


class _Inquiry:
    """All claims about one object, asked upwards; a claim whose smaller sister failed is not asked.

    Claims that are nested share a ledger. Other shapes of region were fixed beforehand, too, so each has a ledger of
    its own with all of alpha. Every ledger of the object has the same seed: a place has the same votes in all of them,
    and they are cast once.
    """

    def __init__(
        self, model: BaseClassifier, cloud: Cloud, settings: Settings, voter: Voter, *, keep: bool
    ) -> None:
        self.model, self.cloud, self.settings, self.voter, self.keep = model, cloud, settings, voter, keep
        self.options = settings.options(voter.seed)
        self.cells = 0
        """Cells that went through the network for certain proofs."""
        self.ledgers: dict[tuple[Transform, tuple[float, ...]], Ledger] = {}
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
                self.rows[number] = ClaimRow(status="skipped" if self._is_wrong else "implied", samples=0)
                continue
            self.rows[number] = self._ask(claim)

    @property
    def _is_wrong(self) -> bool:
        """Whether the class is wrong and nothing but accuracy is asked for; parts have no class of the whole cloud."""
        settings = self.settings
        return (
            settings.accuracy_only
            and settings.task == "classification"
            and self.prediction != self.cloud.label
        )

    def _ask(self, claim: ClaimSpec) -> ClaimRow:
        events = certify_events(
            self.model,
            self.cloud,
            claim.transform,
            claim.radius,
            self.options,
            resume=self._ledger(claim),
            voter=self.voter,
        )
        return self._read(claim, events)

    def _read(self, claim: ClaimSpec, events: Iterator[Event]) -> ClaimRow:
        for event in events:
            if isinstance(event, Predicted):
                self.prediction = event.name
                if self._is_wrong:
                    return ClaimRow(status="skipped", samples=event.samples)
            if isinstance(event, Done):
                return self._row(claim, event.certificate)
        raise AssertionError("a run always ends with Done")

    def _ledger(self, claim: ClaimSpec) -> Ledger:
        """The ledger of a shape of region; a new one begins with the votes of the others that it would cast again."""
        key = (claim.transform, proportions(claim.radii))
        if key not in self.ledgers:
            points = np.asarray(self.cloud.points.double().numpy())
            by_cells = isinstance(rule_for(claim.transform, self.model.smoothing, points), Cover)
            of_the_cloud = (SELECT,) if by_cells else (SELECT, WHOLE)
            known: dict[str, Tally] = {}
            for (transform, _), other in self.ledgers.items():
                same = transform == claim.transform
                known |= {p: t for p, t in other.tallies.items() if same or p in of_the_cloud}
            task, classes = self.settings.task, len(self.model.classes)
            shape = (len(self.cloud), classes) if task == "segmentation" else (classes,)
            self.ledgers[key] = Ledger(self.voter.seed, task, shape, own_seed=False, tallies=known)
        return self.ledgers[key]

    def _row(self, claim: ClaimSpec, certificate: Certificate) -> ClaimRow:
        if self.keep:
            self.certificates[str(claim)] = certificate.to_json()
        points: PointStanding | None = None
        if certificate.certain is not None:
            self.cells += certificate.certain.bounded
            points = certain_case_of(certificate).proof.points
        elif self.settings.task == "segmentation":
            case = case_of(certificate)
            points = case.proof.standing(case.ledger).points
        samples = certificate.samples if certificate.certain is None else certificate.certain.bounded
        return ClaimRow(status=certificate.verdict, samples=samples, parts=self._parts(points))

    def _parts(self, points: PointStanding | None) -> PartCounts | None:
        if points is None:
            return None
        truth = _truth(self.cloud)
        self.right_points = int((np.asarray(points.predictions) == truth).sum())
        return part_counts(points, truth, self.cloud.label)


class _CertainInquiry(_Inquiry):
    """The same claims about the plain network, proved without votes; `samples` counts cells then."""

    def _ask(self, claim: ClaimSpec) -> ClaimRow:
        events = certify_events(self.model, self.cloud, claim.transform, claim.radius, self.options)
        return self._read(claim, events)


def _truth(cloud: Cloud) -> NDArray[np.int64]:
    if cloud.part_labels is None:
        raise InvalidFile(f"{cloud.name} has no part labels; evaluate a segmentation model on shapenetpart")
    return cloud.part_labels.numpy()


@torch.inference_mode()
def _base_answer(voter: Voter, cloud: Cloud) -> NDArray[np.int64]:
    """The base classifier's answer on the untouched cloud: one class, or one part per point."""
    logits = voter.classifier(cloud.points[None].to(voter.device))[0]
    answer: NDArray[np.int64] = logits.argmax(-1).cpu().numpy()
    return answer


def _agreeing(answer: NDArray[np.int64], cloud: Cloud) -> int:
    return int((answer == _truth(cloud)).sum())
