"""From finished objects to figures: certified accuracy, certified ratio, clean accuracy, cost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tpc_core.data.files.content import read_bytes
from tpc_core.errors import InvalidFile
from tpc_core.evaluation.intervals import CONFIDENCE, Share
from tpc_core.evaluation.settings import Settings
from tpc_core.evaluation.sums import Sums
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

    @property
    def on_whole_split(self) -> bool:
        """Whether these are the figures of every object of the split."""
        return self.finished and self.settings.whole_split


def figures_of(settings: Settings, sums: Sums) -> Figures:
    """The figures of the objects summed up so far."""
    points = settings.points
    parts = settings.task == "segmentation"
    return Figures(
        settings=settings,
        done=sums.done,
        clean_accuracy=sums.right_points.share(points) if parts else sums.share(sums.right),
        base_accuracy=sums.base_right_points.share(points) if parts else sums.share(sums.base_right),
        claims=[_claim(settings, sums, number) for number in range(len(settings.claims))],
        evaluations_per_object=sums.evaluations / max(sums.done, 1),
        # Rounded: a sum of floats depends on the order in which objects were finished.
        seconds_per_object=round(sums.seconds / max(sums.done, 1), 6),
    )


def _claim(settings: Settings, sums: Sums, number: int) -> ClaimFigures:
    own, points = sums.claims[number], settings.points
    figures = ClaimFigures(
        claim=settings.claims[number],
        certified_accuracy=sums.share(own.certified_right),
        certified_ratio=None if settings.accuracy_only else sums.share(own.statuses["certified"]),
        statuses={name: own.statuses[name] for name in sorted(own.statuses) if own.statuses[name]},
        samples=own.samples.mean,
    )
    if settings.task == "classification":
        return figures
    return replace(
        figures,
        certified_accuracy=own.parts["certified_right"].share(points),
        certified_ratio=own.parts["certified"].share(points),
        joint_accuracy=own.parts["joint_right"].share(points),
        joint_miou=own.joint_iou.share(1),
    )


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


def write_summary(folder: Path, settings: Settings, sums: Sums) -> Figures:
    """summary.json, and the figures in it."""
    figures = figures_of(settings, sums)
    write_atomically(folder / "summary.json", f"{json.dumps(to_json(figures), indent=1)}\n".encode())
    return figures
