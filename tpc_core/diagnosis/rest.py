"""What is left to do in a cover: the part without votes, and what the open cells are expected to cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tpc_core.covers import Cell
from tpc_core.covers.paper import SAMPLES
from tpc_core.diagnosis.cells import CellFacts
from tpc_core.diagnosis.subject import Subject

Array = NDArray[np.float64]
_CELLS = 500


def untested_share(subject: Subject) -> float:
    """The part of the region's volume in which no vote was cast."""
    volumes = {f.path: f.cell.volume for f in subject.leaves if f.cell is not None}
    return sum(volumes[f.path] for f in subject.untested) / (sum(volumes.values()) or 1.0)


def rest_votes(subject: Subject, cells: Sequence[CellFacts] | None = None) -> float:
    """Votes that open cells (all of them by default) are expected to take, if p_A is as it is nearby."""
    chosen = [f for f in subject.leaves if f.state != "passed"] if cells is None else cells
    if subject.tree is None:
        return float(SAMPLES * sum(not f.n for f in chosen))
    guess = _nearby(subject)
    boxes = [f.cell for f in chosen if f.cell is not None and not f.n and not f.cell.tested]
    small = sum(_price(subject, f, guess) for f in chosen if f.cell is not None and f.cell.tested)
    return small + _first_cells(subject, boxes, guess)


def _nearby(subject: Subject) -> Callable[[Array], float]:
    """What p_A looks like at the nearest cell that has votes."""
    assert subject.tree is not None
    half = subject.tree.region.half_widths
    voted = [f for f in subject.leaves if f.n and f.tested]
    places = np.array([f.z for f in voted]).reshape(-1, len(half)) / half

    def guess(z: Array) -> float:
        return voted[int(np.argmin(np.sum((places - z / half) ** 2, axis=1)))].guess if voted else 0.99

    return guess


def _price(subject: Subject, facts: CellFacts, guess: Callable[[Array], float]) -> float:
    """More votes in a cell, or two halves, whichever is cheaper."""
    assert facts.cell is not None
    prices, cell = subject.prices, facts.cell
    if not facts.n:
        return prices.cell(guess(facts.z), cell.reach, cell.rank)
    stay = prices.stay(facts.guess, cell.reach, cell.rank, facts.n)
    return min(stay, prices.split(facts.guess, cell.reach, cell.rank))


def _first_cells(subject: Subject, boxes: Sequence[Cell], guess: Callable[[Array], float]) -> float:
    """The first cells inside boxes that are too wide to be tested themselves."""
    assert subject.tree is not None
    total, centres, reaches = subject.tree.first_cells(_CELLS)
    dim = subject.tree.region.dim
    low = np.array([box.low for box in boxes]).reshape(-1, dim)
    high = np.array([box.high for box in boxes]).reshape(-1, dim)
    inside = [bool(np.any(np.all((low <= z) & (z <= high), axis=1))) for z in centres]
    pairs = zip(centres[inside], reaches[inside], strict=True)
    return sum(subject.prices.cell(guess(z), float(reach), 0) for z, reach in pairs) * total / len(centres)
