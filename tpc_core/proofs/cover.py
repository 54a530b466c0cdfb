"""Proof by cells: every point of the region lies in a cell whose own votes vouch for it.

If the claim is false, some z fails. Only the cells on its path through the canonical tree may vouch for z, each has a
true p_A at or below its threshold, and their levels add up to alpha. Paths and levels were fixed before the first
vote, so the claim is wrong with probability at most alpha, whatever is voted on, in which order and for how long.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tpc_core.covers.lattice import MOST_FIRST_CELLS, Cell, Lattice, cell_level, parse_path
from tpc_core.errors import InvalidCertificate
from tpc_core.ledger import Ledger, Tally, cell_place, family_level
from tpc_core.proofs.base import CellStanding, Claim, Proof, Standing, State, no_such_place
from tpc_core.proofs.whole import proves
from tpc_core.smoothing import Cover
from tpc_core.smoothing.rules import ROUND_DOWN
from tpc_core.transforms import Region

if TYPE_CHECKING:
    from torch import Tensor

_STEPS = 40
"""Halvings in the search for the largest factor of a region that one cell still vouches for."""


class CoverProof(Proof):
    """The region is covered by cells of the canonical tree that pass."""

    kind = "cover"

    def __init__(self, claim: Claim) -> None:
        super().__init__(claim)
        rule = claim.rule
        assert isinstance(rule, Cover)
        self.cover = rule
        self.region = claim.transform.region(claim.radii)
        self.alpha = family_level(claim.alpha, claim.family, len(claim.transform.radii))
        half = self.region.half_widths
        # A displacement bound that does not hold out to the border refuses the region here, with the reason.
        rule.reach(np.zeros((1, len(half))), -half[None], half[None], np.array([float(np.linalg.norm(half))]))

    @cached_property
    def lattice(self) -> Lattice:
        return Lattice.of(self.claim.transform, self.cover, self.claim.points)

    # -- places --------------------------------------------------------------------------------------------------

    def place(self, cell: Cell) -> str:
        return cell_place(self.claim.family, cell.path)

    def path(self, place: str) -> str:
        """The path of a place of this family."""
        prefix = cell_place(self.claim.family, "")
        if not place.startswith(prefix):
            raise no_such_place(place)
        path = place.removeprefix(prefix)
        parse_path(path, self.lattice.dim)
        return path

    def check_place(self, place: str) -> None:
        self.path(place)

    def tested_cloud(self, place: str) -> Tensor:
        low, high = self.lattice.box(self.path(place))
        return self.claim.at((low + high) / 2)

    # -- what the votes show -------------------------------------------------------------------------------------

    def level(self, cell: Cell) -> float:
        """The error level of a cell."""
        return cell_level(self.alpha, cell.depth)

    def passes(self, cell: Cell, tally: Tally, target: int) -> bool:
        """Whether the votes of a cell vouch for all of it that lies in the region."""
        return cell.testable and proves(*tally.readings(target), cell.threshold, self.level(cell))

    def walk(self, ledger: Ledger) -> Iterator[tuple[Cell, State]]:
        """Every cell from the first ones down to those that pass, or under which there are no votes."""
        opened = self.opened(ledger)
        target = ledger.target
        stack = list(reversed(self.first_cells))
        while stack:
            cell = stack.pop()
            tally = ledger.tallies.get(self.place(cell))
            if tally is not None and target is not None and self.passes(cell, tally, target):
                yield cell, "passed"
            elif cell.path in opened:
                yield cell, "refined"
                stack.extend(reversed(self.lattice.children(cell, self.region)))
            else:
                yield cell, "open" if tally is not None else "untested"

    @cached_property
    def first_cells(self) -> list[Cell]:
        """The first cells that meet the region."""
        return self.lattice.first_cells(self.region)

    def opened(self, ledger: Ledger) -> set[str]:
        """The paths of all cells under which there are votes."""
        prefix = cell_place(self.claim.family, "")
        above: set[str] = set()
        for place in ledger.tallies:
            if place.startswith(prefix):
                first, _, halves = place.removeprefix(prefix).partition(":")
                above.update(f"{first}:{halves[:depth]}" for depth in range(len(halves)))
        return above

    def standing(self, ledger: Ledger) -> Standing:
        cells = [self._cell(cell, state, ledger) for cell, state in self.walk(ledger)]
        return Standing(all(cell.state in ("passed", "refined") for cell in cells), tuple(cells))

    def _cell(self, cell: Cell, state: State, ledger: Ledger) -> CellStanding:
        tally = ledger.tally(self.place(cell))
        target = ledger.target
        hits, totals = tally.readings(0 if target is None else target)
        return CellStanding(
            cell.path, "cell", state, cell.threshold, self.level(cell), hits, totals, cell, cell.centre
        )

    # -- the largest region --------------------------------------------------------------------------------------

    def largest_part(self, ledger: Ledger) -> float:
        if ledger.target is None:
            return 0.0
        opened = self.opened(ledger)
        smallest = self.feasible_factor
        for cell in self.lattice.first_cells(self.scaled(smallest)):
            if self.nearest(cell) < smallest:
                smallest = min(smallest, self._held(cell, ledger, opened, smallest))
        return max(0.0, smallest) * ROUND_DOWN if smallest < 1.0 else 1.0

    @cached_property
    def feasible_factor(self) -> float:
        """The largest factor of the region, found step by step, whose first cells are few enough to be looked at."""
        factor = 1.0
        while factor > 1e-6 and self.lattice.count_first_cells(self.scaled(factor)) > MOST_FIRST_CELLS // 4:
            factor *= 0.75
        return factor

    def nearest(self, cell: Cell) -> float:
        """The smallest factor of the region that meets the whole cell."""
        low, high = self.lattice.box(cell.path)
        return float(self.region.nearest_gauge(low[None], high[None])[0])

    def _held(self, cell: Cell, ledger: Ledger, opened: set[str], enough: float) -> float:
        """The largest factor, up to `enough`, of the region that votes at the cell or below it vouch for."""
        tally = ledger.tallies.get(self.place(cell))
        start = self.nearest(cell)
        own = start if tally is None else self._own(cell.path, tally, ledger, start, enough)
        if own >= enough or cell.path not in opened:
            return own
        parts = [
            self._held(child, ledger, opened, enough)
            for child in self.lattice.children(cell, self.region)
            if self.nearest(child) < enough
        ]
        return max(own, min(parts, default=enough))

    def _own(self, path: str, tally: Tally, ledger: Ledger, start: float, enough: float) -> float:
        """The largest factor for which the cell's own votes vouch for all of it inside the scaled region."""
        target = ledger.target
        assert target is not None

        def passes(factor: float) -> bool:
            cell = self.lattice.cell(path, self.scaled(factor))
            return cell is None or self.passes(cell, tally, target)

        if passes(enough):
            return enough
        low, high = start, enough
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if passes(middle) else (low, middle)
            if high - low < 1e-7 * high:
                break
        return low

    def scaled(self, factor: float) -> Region:
        """The region scaled by a factor."""
        return self.region if factor == 1.0 else self.region.scaled(max(factor, 1e-300))

    def check_tallies(self, ledger: Ledger) -> None:
        for place in ledger.tallies:
            if place.startswith("cell|"):
                family = place.split("|", 2)[1]
                if not family.isdigit() or not 1 <= int(family) <= max(len(ledger.families), 1):
                    raise InvalidCertificate(f"the ledger has no family {family[:20]!r} of regions")
