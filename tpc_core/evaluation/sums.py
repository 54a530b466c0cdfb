"""Figures as running sums: what is known of ten objects or of ten million takes the same few numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from tpc_core.evaluation.intervals import Share, share_from_sums, share_of
from tpc_core.evaluation.records import ClaimRow, ObjectRow
from tpc_core.evaluation.settings import Settings


@dataclass
class Moments:
    """How many numbers, their sum and the sum of their squares; whole numbers stay exact."""

    count: int = 0
    first: float = 0
    second: float = 0

    def add(self, value: float) -> None:
        self.count += 1
        self.first += value
        self.second += value * value

    def merge(self, other: Moments) -> None:
        self.count += other.count
        self.first += other.first
        self.second += other.second

    @property
    def mean(self) -> float:
        return self.first / self.count if self.count else 0.0

    def share(self, whole: int) -> Share:
        """The mean as a share of `whole`, with Student's interval."""
        return share_from_sums(self.count, self.first, self.second, whole)


@dataclass
class ClaimSums:
    """The sums of one claim."""

    statuses: Counter[str] = field(default_factory=Counter)
    certified_right: int = 0
    samples: Moments = field(default_factory=Moments)
    """Votes, over the objects where a certificate was made."""
    parts: dict[str, Moments] = field(
        default_factory=lambda: {name: Moments() for name in ("certified_right", "certified", "joint_right")}
    )
    joint_iou: Moments = field(default_factory=Moments)

    def add(self, answer: ClaimRow, right: bool) -> None:
        self.statuses[answer.status] += 1
        self.certified_right += right and answer.status == "certified"
        if answer.status in ("certified", "refuted", "undecided"):
            self.samples.add(answer.samples)
        if answer.parts is not None:
            for name, moments in self.parts.items():
                moments.add(getattr(answer.parts, name))
            self.joint_iou.add(answer.parts.joint_iou)

    def merge(self, other: ClaimSums) -> None:
        self.statuses += other.statuses
        self.certified_right += other.certified_right
        self.samples.merge(other.samples)
        for name, moments in self.parts.items():
            moments.merge(other.parts[name])
        self.joint_iou.merge(other.joint_iou)


@dataclass
class Sums:
    """All sums of an evaluation."""

    claims: list[ClaimSums]
    done: int = 0
    right: int = 0
    base_right: int = 0
    right_points: Moments = field(default_factory=Moments)
    base_right_points: Moments = field(default_factory=Moments)
    evaluations: int = 0
    seconds: float = 0.0

    @staticmethod
    def of(settings: Settings, rows: Iterable[ObjectRow] = ()) -> Sums:
        """The sums of some objects, in the order in which they come."""
        sums = Sums([ClaimSums() for _ in settings.claims])
        for row in rows:
            sums.add(row)
        return sums

    def add(self, row: ObjectRow) -> Self:
        self.done += 1
        self.right += row.right
        self.base_right += row.base == row.label
        self.right_points.add(row.right_points or 0)
        self.base_right_points.add(row.base_right_points or 0)
        self.evaluations += row.evaluations
        self.seconds += row.seconds
        for sums, answer in zip(self.claims, row.claims, strict=True):
            sums.add(answer, row.right)
        return self

    def merge(self, other: Sums) -> None:
        """Take in what a worker summed up."""
        self.done += other.done
        self.right += other.right
        self.base_right += other.base_right
        self.right_points.merge(other.right_points)
        self.base_right_points.merge(other.base_right_points)
        self.evaluations += other.evaluations
        self.seconds += other.seconds
        for mine, theirs in zip(self.claims, other.claims, strict=True):
            mine.merge(theirs)

    def share(self, count: int) -> Share:
        """So many of the objects, as a share."""
        return share_of(count, self.done)
