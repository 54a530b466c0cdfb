"""Two certificates side by side: what differs between the questions, and where the answers differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tpc_core.case_view import CaseView
from tpc_core.proofs import CellStanding

Array = NDArray[np.float64]
Value = Callable[[CellStanding], float]

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


def facts_of(view: CaseView) -> dict[str, str]:
    """What tells runs apart, in words."""
    certificate = view.certificate
    return {
        "Verdict": certificate.verdict,
        "Object": certificate.cloud.name,
        "Points": f"{certificate.cloud.count:,}",
        "Class": view.class_name or "unknown",
        "Transform": view.transform.name,
        "Radius": view.radius_words(),
        "Certified part": f"{view.certified_part:.1%}",
        "Model": certificate.model.name,
        "Smoothing": view.smoothing.kind,
        "Sigma": ", ".join(f"{s:g}" for s in view.smoothing.sigmas.values()) or "none",
        "Protocol": certificate.question.options.protocol,
        "Error level": f"{certificate.alpha:g}",
        "Cells with votes": f"{sum(cell.n > 0 for cell in view.cells):,}",
        "Votes": f"{certificate.samples:,}",
        "Seconds": f"{certificate.seconds:.1f}",
    }


def compare(first: CaseView, second: CaseView) -> tuple[Row, ...]:
    """The facts of both, row by row."""
    a, b = facts_of(first), facts_of(second)
    return tuple(Row(name, a[name], b[name]) for name in a)


def comparable(first: CaseView, second: CaseView) -> str | None:
    """None where a difference map can be drawn, or the reason why not."""
    if first.transform.name != second.transform.name:
        return "the two runs are about different transforms, so their maps have different axes"
    if not (first.is_cover and second.is_cover):
        return "a difference map needs two runs with cells, and one of these has no cells"
    if first.is_polar != second.is_polar:
        return "the paper's grid of rotations has axes of its own"
    return None


def shared_half_widths(first: CaseView, second: CaseView) -> Array:
    """The box that both regions fit into from inside."""
    assert first.region is not None
    assert second.region is not None
    return np.minimum(first.region.half_widths, second.region.half_widths)


def difference_map(first: CaseView, second: CaseView, places: Array, value: Value) -> DifferenceMap:
    """The values of both runs at some places (M, dim)."""
    return DifferenceMap(
        places, values_at(first.leaves, places, value), values_at(second.leaves, places, value)
    )


def values_at(cells: Sequence[CellStanding], places: Array, value: Value) -> Array:
    """The value of the cell that holds each place; NaN where there is none."""
    boxes = [(cell, cell.cell) for cell in cells if cell.cell is not None]
    result = np.full(len(places), np.nan)
    if not boxes:
        return result
    low, high = np.array([box.low for _, box in boxes]), np.array([box.high for _, box in boxes])
    known = np.array([value(cell) for cell, _ in boxes])
    step = max(1, _CHUNK // (len(boxes) * low.shape[1]))
    for begin in range(0, len(places), step):
        piece = places[begin : begin + step, None, :]
        inside = np.all((low <= piece) & (piece <= high), axis=2)
        found = inside.any(axis=1)
        result[begin : begin + step][found] = known[inside.argmax(axis=1)[found]]
    return result
