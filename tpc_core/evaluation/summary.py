"""From finished objects to figures: certified accuracy, certified ratio, clean accuracy, cost."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from tpc_core.data.files.content import read_bytes
from tpc_core.errors import InvalidFile
from tpc_core.evaluation.intervals import CONFIDENCE, Share, mean_of, share_of
from tpc_core.evaluation.records import ClaimRow, ObjectRow
from tpc_core.evaluation.settings import Settings
from tpc_core.machinery.atomic import write_atomically
from tpc_core.version import VERSION

FORMAT = "tpc-evaluation/1"
LARGEST_SUMMARY = 4 << 20


@dataclass(frozen=True)
class ClaimFigures:
    """The figures of one claim over all objects; shares are percentages with their intervals."""

    claim: str
    certified_accuracy: Share
    certified_ratio: Share | None
    statuses: dict[str, int]
    samples: float
    """Votes per certificate, over the objects where one was made."""
    joint_accuracy: Share | None = None
    """Part segmentation: certified and right, jointly for all points of an object."""
    joint_miou: Share | None = None


@dataclass(frozen=True)
class Figures:
    """All figures of one evaluation, finished or under way."""

    settings: Settings
    done: int
    clean_accuracy: Share
    """Of the smoothed classifier, which is the one that is certified."""
    base_accuracy: Share
    claims: list[ClaimFigures]
    evaluations_per_object: float
    seconds_per_object: float

    @property
    def finished(self) -> bool:
        return self.done == self.settings.objects


def figures_of(settings: Settings, rows: Iterable[ObjectRow]) -> Figures:
    """The figures of the objects finished so far, in the order of their numbers."""
    rows = sorted(rows, key=lambda row: row.index)
    points = settings.points if settings.task == "segmentation" else 1
    return Figures(
        settings=settings,
        done=len(rows),
        clean_accuracy=_clean(settings, rows, points),
        base_accuracy=_base(settings, rows, points),
        claims=[_claim(settings, rows, number, points) for number in range(len(settings.claims))],
        evaluations_per_object=_mean([row.evaluations for row in rows]),
        seconds_per_object=_mean([row.seconds for row in rows]),
    )


def _clean(settings: Settings, rows: list[ObjectRow], points: int) -> Share:
    if settings.task == "segmentation":
        return mean_of([(row.right_points or 0) / points for row in rows])
    return share_of(sum(row.right for row in rows), len(rows))


def _base(settings: Settings, rows: list[ObjectRow], points: int) -> Share:
    if settings.task == "segmentation":
        return mean_of([(row.base_right_points or 0) / points for row in rows])
    return share_of(sum(row.base == row.label for row in rows), len(rows))


def _claim(settings: Settings, rows: list[ObjectRow], number: int, points: int) -> ClaimFigures:
    answers = [row.claims[number] for row in rows]
    asked = [answer.samples for answer in answers if answer.status in ("certified", "refuted", "undecided")]
    figures = ClaimFigures(
        claim=settings.claims[number],
        certified_accuracy=share_of(
            sum(row.right and row.claims[number].status == "certified" for row in rows), len(rows)
        ),
        certified_ratio=None
        if settings.accuracy_only
        else share_of(sum(answer.status == "certified" for answer in answers), len(rows)),
        statuses=dict(sorted(Counter(answer.status for answer in answers).items())),
        samples=_mean(asked),
    )
    if settings.task == "classification":
        return figures
    parts = [answer.parts for answer in answers if answer.parts is not None]
    return replace(
        figures,
        certified_accuracy=mean_of([part.certified_right / points for part in parts]),
        certified_ratio=mean_of([part.certified / points for part in parts]),
        joint_accuracy=mean_of([part.joint_right / points for part in parts]),
        joint_miou=mean_of([part.joint_iou for part in parts]),
    )


def _mean(values: list[int] | list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def to_json(figures: Figures) -> dict[str, Any]:
    """The summary as JSON holds it."""

    def share(value: Share | None) -> dict[str, float] | None:
        return None if value is None else value.to_json()

    settings = figures.settings
    return {
        "format": FORMAT,
        "library": VERSION,
        "command": settings.command(),
        "settings": settings.to_json(),
        "objects": figures.done,
        "finished": figures.finished,
        "confidence_of_intervals": CONFIDENCE,
        "clean_accuracy": share(figures.clean_accuracy),
        "base_accuracy": share(figures.base_accuracy),
        "claims": [
            {
                "claim": claim.claim,
                "certified_accuracy": share(claim.certified_accuracy),
                "certified_ratio": share(claim.certified_ratio),
                "joint_accuracy": share(claim.joint_accuracy),
                "joint_miou": share(claim.joint_miou),
                "statuses": claim.statuses,
                "samples_per_certificate": round(claim.samples, 1),
            }
            for claim in figures.claims
        ],
        "evaluations_per_object": round(figures.evaluations_per_object, 1),
        "seconds_per_object": round(figures.seconds_per_object, 3),
    }


def read_summary(path: Path) -> Figures:
    """The figures of a summary that was kept without its journal, or one sentence about what is wrong with it."""
    try:
        document = json.loads(read_bytes(path, LARGEST_SUMMARY))
        if document["format"] != FORMAT:
            raise InvalidFile(f"{path} is not a summary of `tpc evaluate`")
        return Figures(
            settings=Settings.model_validate(document["settings"]),
            done=int(document["objects"]),
            clean_accuracy=Share(**document["clean_accuracy"]),
            base_accuracy=Share(**document["base_accuracy"]),
            claims=[_read_claim(claim) for claim in document["claims"]],
            evaluations_per_object=float(document["evaluations_per_object"]),
            seconds_per_object=float(document["seconds_per_object"]),
        )
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise InvalidFile(f"{path} is not a summary of `tpc evaluate`: {error}") from error


def _read_claim(claim: Mapping[str, Any]) -> ClaimFigures:
    def share(name: str) -> Share | None:
        return None if claim[name] is None else Share(**claim[name])

    return ClaimFigures(
        claim=str(claim["claim"]),
        certified_accuracy=Share(**claim["certified_accuracy"]),
        certified_ratio=share("certified_ratio"),
        statuses=dict(claim["statuses"]),
        samples=float(claim["samples_per_certificate"]),
        joint_accuracy=share("joint_accuracy"),
        joint_miou=share("joint_miou"),
    )


def table(settings: Settings, rows: Iterable[ObjectRow]) -> list[dict[str, Any]]:
    """One record per object and claim; no clock in it, so that equal runs give equal tables."""
    claims = settings.claim_specs()
    records = []
    for row in sorted(rows, key=lambda row: row.index):
        for claim, answer in zip(claims, row.claims, strict=True):
            records.append(
                {
                    "index": row.index,
                    "id": row.id,
                    "label": row.label,
                    "prediction": row.prediction,
                    "base": row.base,
                    "transform": claim.transform.name,
                    "radius": claim.radius,
                    "status": answer.status,
                    "certified": answer.status == "certified",
                    "right": row.right if settings.task == "classification" else None,
                    "samples": answer.samples,
                    "points": settings.points,
                    **_part_columns(answer),
                }
            )
    return records


def _part_columns(answer: ClaimRow) -> Mapping[str, Any]:
    parts = answer.parts
    return {
        "certified_points": None if parts is None else parts.certified,
        "certified_right_points": None if parts is None else parts.certified_right,
        "joint_points": None if parts is None else parts.joint,
        "joint_right_points": None if parts is None else parts.joint_right,
        "joint_iou": None if parts is None else parts.joint_iou,
    }


def write_files(folder: Path, settings: Settings, rows: Mapping[int, ObjectRow]) -> Figures:
    """summary.json and objects.csv, and objects.parquet where pyarrow is installed."""
    figures = figures_of(settings, rows.values())
    records = table(settings, rows.values())
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]) if records else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    write_atomically(folder / "objects.csv", text.getvalue().encode())
    _write_parquet(folder / "objects.parquet", records)
    write_atomically(folder / "summary.json", f"{json.dumps(to_json(figures), indent=1)}\n".encode())
    return figures


def _write_parquet(path: Path, records: list[dict[str, Any]]) -> None:
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:  # it comes with the app; the CSV holds the same
        return
    sink = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(records), sink)
    write_atomically(path, sink.getvalue())
