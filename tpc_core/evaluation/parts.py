"""Part segmentation: from per-point certificates to counts and a certified IoU."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tpc_core.data import SHAPENET_PARTS
from tpc_core.evaluation.records import PartCounts
from tpc_core.proofs import PointStanding

Labels = NDArray[np.int64]
Mask = NDArray[np.bool_]


def part_counts(points: PointStanding, truth: Labels, category: str | None) -> PartCounts:
    """How many points are certified, and how many of those are right; point by point and jointly."""
    predicted = np.asarray(points.predictions)
    right = predicted == truth
    certified = np.asarray(points.certified)
    joint = np.asarray(points.jointly)
    return PartCounts(
        certified=int(certified.sum()),
        certified_right=int((certified & right).sum()),
        joint=int(joint.sum()),
        joint_right=int((joint & right).sum()),
        joint_iou=certified_iou(predicted, truth, joint, _parts_of(category, truth)),
    )


def certified_iou(predicted: Labels, truth: Labels, certified: Mask, parts: list[int]) -> float:
    """The mean IoU over the category's parts that no attack can push below.

    A point that is not certified counts against its own part and in every other part's union.
    """
    shares = []
    for part in parts:
        own = truth == part
        kept = own & certified & (predicted == part)
        foreign = ~own & (~certified | (predicted == part))
        union = int(own.sum()) + int(foreign.sum())
        shares.append(int(kept.sum()) / union if union else 1.0)
    return float(np.mean(shares))


def _parts_of(category: str | None, truth: Labels) -> list[int]:
    known = SHAPENET_PARTS.get(category or "")
    return [part.id for part in known] if known else sorted(set(truth.tolist()))
