"""The paper's protocol, for comparison: a fixed sample, and for covers a uniform grid at level alpha / M."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tpc_core.covers.lattice import Cell
from tpc_core.covers.paper import (
    SAMPLES,
    SINGLE_SAMPLES,
    PaperGrid,
    feasible_resolution,
    paper_grid,
    tested_cloud,
    theorem_of,
)
from tpc_core.errors import InvalidCertificate, UnsupportedRequest
from tpc_core.ledger import WHOLE, Ledger, Tally, grid_place
from tpc_core.proofs.base import CellStanding, Claim, Proof, Standing, State, no_such_place
from tpc_core.proofs.whole import WholeProof
from tpc_core.smoothing import CoordinateSmoothing, TopClass
from tpc_core.statistics import lower_bound, tail

if TYPE_CHECKING:
    from torch import Tensor


class PaperSampleProof(WholeProof):
    """One probability, or one top-class test, from a sample whose size was fixed: Clopper and Pearson, read once."""

    kind = "single"

    def standing(self, ledger: Ledger) -> Standing:
        tally, target, threshold = ledger.tally(WHOLE), ledger.target, self.claim.threshold
        whole = tally.n == SINGLE_SAMPLES and target is not None
        passed = whole and self._passes(tally, int(target or 0))
        hits, totals = tally.readings(target or 0)
        state: State = "passed" if passed else "open" if tally.n else "untested"
        cell = CellStanding(WHOLE, "whole", state, threshold, self.claim.alpha, hits, totals)
        return Standing(passed, (cell,))

    def _passes(self, tally: Tally, target: int) -> bool:
        own = int(tally.total[target])
        if isinstance(self.claim.rule, TopClass):
            rival = int(np.delete(tally.total, target).max(initial=0))
            return own + rival > 0 and tail(own, own + rival, 0.5) <= self.claim.alpha
        return lower_bound(own, tally.n, self.claim.alpha) > self.claim.threshold.q

    def largest_part(self, ledger: Ledger) -> float:
        return 1.0 if self.standing(ledger).certified else 0.0

    def check_tallies(self, ledger: Ledger) -> None:
        if ledger.tally(WHOLE).n > SINGLE_SAMPLES:
            raise InvalidCertificate(f"the paper's sample has {SINGLE_SAMPLES} votes, fixed beforehand")


class GridProof(Proof):
    """Every cell of the paper's uniform grid passes at level alpha / M."""

    kind = "grid"

    def __init__(self, claim: Claim) -> None:
        super().__init__(claim)
        smoothing = claim.smoothing
        if not isinstance(smoothing, CoordinateSmoothing):
            raise UnsupportedRequest(
                f"the paper's grid takes coordinate noise, not {smoothing.describe()}; use adaptive, or a model "
                "with coordinate noise alone"
            )
        self.sigma = smoothing.sigma
        theorem_of(claim.transform, claim.radii)  # refuses transforms for which the paper has no grid

    @cached_property
    def resolution(self) -> int:
        """M as asked for, or the smallest that can certify."""
        claim = self.claim
        if claim.resolution is not None:
            return claim.resolution
        return feasible_resolution(claim.transform, claim.radii, claim.points, self.sigma, claim.alpha)

    @cached_property
    def grid(self) -> PaperGrid:
        claim = self.claim
        return paper_grid(claim.transform, claim.radii, claim.points, self.sigma, self.resolution)

    @property
    def level(self) -> float:
        """The union bound: alpha over the number of cells."""
        return self.claim.alpha / len(self.grid.cells)

    def place(self, cell: Cell) -> str:
        return grid_place(self.resolution, self.claim.radii, int(cell.path))

    @cached_property
    def cells_by_place(self) -> dict[str, Cell]:
        """The cells by their places."""
        return {self.place(cell): cell for cell in self.grid.cells}

    def check_place(self, place: str) -> None:
        if place not in self.cells_by_place:
            raise no_such_place(place)

    def tested_cloud(self, place: str) -> Tensor:
        self.check_place(place)
        return tested_cloud(
            self.claim.transform, self.claim.cloud.points.double(), self.cells_by_place[place].centre
        )

    def passes(self, cell: Cell, tally: Tally, target: int) -> bool:
        """Clopper and Pearson, read once, at the size that was fixed."""
        return tally.n == SAMPLES and lower_bound(int(tally.total[target]), tally.n, self.level) > cell.needed

    def standing(self, ledger: Ledger) -> Standing:
        target = ledger.target
        cells = []
        for cell in self.grid.cells:
            tally = ledger.tally(self.place(cell))
            passed = target is not None and self.passes(cell, tally, target)
            state: State = "passed" if passed else "open" if tally.n else "untested"
            hits, totals = tally.readings(target or 0)
            cells.append(
                CellStanding(
                    cell.path, "cell", state, cell.threshold, self.level, hits, totals, cell, cell.centre
                )
            )
        return Standing(all(cell.state == "passed" for cell in cells), tuple(cells))

    def largest_part(self, ledger: Ledger) -> float:
        return 1.0 if self.standing(ledger).certified else 0.0

    def check_tallies(self, ledger: Ledger) -> None:
        if any(tally.n > SAMPLES for place, tally in ledger.tallies.items() if place.startswith("grid|")):
            raise InvalidCertificate(f"a cell of the paper's grid has {SAMPLES} votes, fixed beforehand")
