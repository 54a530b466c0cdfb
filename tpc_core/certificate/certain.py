"""The evidence of a certificate without probability: cells that cover the region, each with its margin."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from tpc_core.border import Items
from tpc_core.certificate.record import Count, Finite, Record
from tpc_core.errors import InvalidCertificate
from tpc_core.exact.cells import DEEPEST, Array, Cells

MOST_CELLS = 500_000
LARGEST_DIMENSION = 64

SIDES = Field(max_length=LARGEST_DIMENSION)
"""One number for each side of a cell."""

Level = Annotated[int, Field(ge=0, le=DEEPEST)]
Index = Annotated[int, Field(ge=0, lt=1 << DEEPEST)]
Margin = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class CounterexampleRecord(Record):
    """A parameter of the region at which the network answers another class."""

    parameter: Items[Finite] = Field(max_length=LARGEST_DIMENSION)
    rival: Count
    margin: Annotated[float, Field(lt=0, allow_inf_nan=False)]
    """logit of the class minus logit of the rival."""


class CertainRecord(Record):
    """Cells of the box around the region that was asked for; in each, no rival comes nearer than its margin.

    Along axis k, cell i is number indices[i][k] of the 2^levels[i][k] equal parts of the box: exact fractions.
    """

    network: str = Field(pattern=r"^[0-9a-f]{64}$")
    """The sha256 of the folded float32 weights, in the order in which they act."""
    arithmetic: Literal["float64"]
    """How the network is evaluated: float32 weights, everything computed in float64."""
    levels: Items[Annotated[Items[Level], SIDES]] = Field(max_length=MOST_CELLS)
    indices: Items[Annotated[Items[Index], SIDES]] = Field(max_length=MOST_CELLS)
    margins: Items[Margin] = Field(max_length=MOST_CELLS)
    counterexample: CounterexampleRecord | None
    bounded: Count
    """How many cells went through the network."""

    def cells(self, dim: int) -> tuple[Cells, Array]:
        """The cells with their margins; InvalidCertificate where they are no cells of a box of `dim` sides."""
        count = len(self.margins)
        rows = [*self.levels, *self.indices]
        if len(self.levels) != count or len(self.indices) != count or any(len(row) != dim for row in rows):
            raise InvalidCertificate(f"every cell has {dim} levels, {dim} indices and one margin")
        levels = np.array(self.levels, np.int64).reshape(count, dim)
        indices = np.array(self.indices, np.int64).reshape(count, dim)
        if bool((indices >> levels).any()):
            raise InvalidCertificate("a cell lies outside of the box around the region")
        return Cells(levels, indices), np.array(self.margins, np.float64)
