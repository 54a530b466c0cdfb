"""Two certificates side by side: what differs between the questions, and where the answers differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tpc_core.diagnosis.cells import CellFacts
from tpc_core.diagnosis.subject import Subject
from tpc_core.diagnosis.sweep import sigma_of
from tpc_core.diagnosis.take import certified_size

Array = NDArray[np.float64]
Value = Callable[[CellFacts], float]

_CHUNK = 1 << 22


@dataclass(frozen=True)
class Row:
    """One fact of both runs."""

    name: str
    first: str
    second: str

    @property
    def differs(self) -> bool:
        return self.first != self.second


@dataclass(frozen=True)
class DifferenceMap:
    """Places (M, dim) that both runs looked at, with the value of each there; NaN where one has none."""

    places: Array
    first: Array
    second: Array

    @property
    def difference(self) -> Array:
        """The second minus the first."""
        return self.second - self.first


def facts_of(subject: Subject) -> dict[str, str]:
    """What tells runs apart, in words."""
    certificate = subject.certificate
    size = certified_size(subject)
    sigma = ", ".join(f"{s:g}" for s in sigma_of(subject.smoothing)) or "none"
    return {
        "Verdict": certificate.verdict,
        "Object": certificate.cloud.name,
        "Points": f"{certificate.cloud.count:,}",
        "Class": subject.prediction.name if subject.prediction is not None else "unknown",
        "Transform": certificate.claim.transform,
        "Radius": subject.radius_words(),
        "Certified part": f"{size:.1%}",
        "Model": certificate.model.name,
        "Smoothing": str(certificate.model.smoothing["kind"]),
        "Sigma": sigma,
        "Protocol": certificate.protocol,
        "Statistics": certificate.statistics.kind,
        "Error level": f"{certificate.alpha:g}",
        "Cells with votes": f"{sum(f.n > 0 for f in subject.cells):,}",
        "Votes": f"{certificate.samples:,}",
        "Seconds": f"{certificate.seconds:.1f}",
    }


def compare(first: Subject, second: Subject) -> tuple[Row, ...]:
    """The facts of both, row by row."""
    a, b = facts_of(first), facts_of(second)
    return tuple(Row(name, a[name], b[name]) for name in a)


def comparable(first: Subject, second: Subject) -> str | None:
    """None where a difference map can be drawn, or the reason why not."""
    if first.transform.name != second.transform.name:
        return "the two runs are about different transforms, so their maps have different axes"
    if not (first.is_cover and second.is_cover):
        return "a map needs two covers; a run that rests on one probability has none"
    if first.is_polar != second.is_polar:
        return "the paper's grid of rotations has axes of its own"
    return None


def shared_half_widths(first: Subject, second: Subject) -> Array:
    """The box that both regions fit into from inside."""
    assert first.region is not None
    assert second.region is not None
    return np.minimum(first.region.half_widths, second.region.half_widths)


def difference_map(first: Subject, second: Subject, places: Array, value: Value) -> DifferenceMap:
    """The values of both runs at some places (M, dim)."""
    return DifferenceMap(
        places, values_at(first.leaves, places, value), values_at(second.leaves, places, value)
    )


def values_at(cells: Sequence[CellFacts], places: Array, value: Value) -> Array:
    """The value of the cell that holds each place; NaN where there is none."""
    boxes = [facts for facts in cells if facts.cell is not None]
    result = np.full(len(places), np.nan)
    if not boxes:
        return result
    low = np.array([f.cell.low for f in boxes if f.cell is not None])
    high = np.array([f.cell.high for f in boxes if f.cell is not None])
    known = np.array([value(facts) for facts in boxes])
    step = max(1, _CHUNK // (len(boxes) * low.shape[1]))
    for begin in range(0, len(places), step):
        piece = places[begin : begin + step, None, :]
        inside = np.all((low <= piece) & (piece <= high), axis=2)
        found = inside.any(axis=1)
        result[begin : begin + step][found] = known[inside.argmax(axis=1)[found]]
    return result
