"""The evidence of a certificate without probability, of three kinds: cells, one ball, points one by one."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from tpc_core.border import Items
from tpc_core.certificate.record import Count, Finite, Record
from tpc_core.errors import InvalidCertificate
from tpc_core.exact.cells import DEEPEST, Array, Cells

MOST_CELLS = 500_000
MOST_POINT_CELLS = 1 << 20
"""Cells times points of a proof about parts."""
LARGEST_DIMENSION = 64
LARGEST_CLOUD = 100_000

SIDES = Field(max_length=LARGEST_DIMENSION)
"""One number for each side of a cell."""

Level = Annotated[int, Field(ge=0, le=DEEPEST)]
Index = Annotated[int, Field(ge=0, lt=1 << DEEPEST)]
Margin = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Negative = Annotated[float, Field(lt=0, allow_inf_nan=False)]


class CounterexampleRecord(Record):
    """An attack of the region under which the network answers another class; a ball's has three numbers a point."""

    parameter: Items[Finite] = Field(max_length=3 * LARGEST_CLOUD)
    rival: Count
    margin: Negative
    """logit of the class minus logit of the rival."""


class PointCounterexampleRecord(CounterexampleRecord):
    """The same for the part of one point."""

    point: Count


class ProofRecord(Record):
    """What every proof states: which network, how it is evaluated, and what the search took."""

    network: str = Field(pattern=r"^[0-9a-f]{64}$")
    """The sha256 of the folded float32 weights, in the order in which they act."""
    arithmetic: Literal["float64"]
    """How the network is evaluated: float32 weights, everything computed in float64."""
    bounded: Count
    """How many cells, or balls, went through the network."""


class CellsRecord(ProofRecord):
    """Cells of the box around the region that was asked for; in each, no rival comes nearer than its margin.

    Along axis k, cell i is number indices[i][k] of the 2^levels[i][k] equal parts of the box: exact fractions.
    """

    kind: Literal["cells"] = "cells"
    levels: Items[Annotated[Items[Level], SIDES]] = Field(max_length=MOST_CELLS)
    indices: Items[Annotated[Items[Index], SIDES]] = Field(max_length=MOST_CELLS)
    margins: Items[Margin] = Field(max_length=MOST_CELLS)
    counterexample: CounterexampleRecord | None

    def cells(self, dim: int) -> tuple[Cells, Array]:
        """The cells with their margins; InvalidCertificate where they are no cells of a box of `dim` sides."""
        margins = np.array(self.margins, np.float64)
        return read_cells(self.levels, self.indices, len(margins), dim), margins


class ProvedBall(Record):
    """Within this part of the radius that was asked for, no rival comes nearer than the margin."""

    part: Annotated[float, Field(gt=0, le=1)]
    margin: Margin


class BallRecord(ProofRecord):
    """Every coordinate moves on its own, within a ball: one pass through the network bounds it."""

    kind: Literal["ball"] = "ball"
    proved: ProvedBall | None
    counterexample: CounterexampleRecord | None


class PartsRecord(ProofRecord):
    """Cells as above, with a margin for every point that was proved in a cell, and null for the others."""

    kind: Literal["parts"] = "parts"
    labels: Items[Count] = Field(max_length=LARGEST_CLOUD)
    """The part that the network gives to every point."""
    levels: Items[Annotated[Items[Level], SIDES]] = Field(max_length=MOST_CELLS)
    indices: Items[Annotated[Items[Index], SIDES]] = Field(max_length=MOST_CELLS)
    margins: Items[Items[Margin | None]] = Field(max_length=MOST_CELLS)
    counterexamples: Items[PointCounterexampleRecord] = Field(max_length=LARGEST_CLOUD)

    def cells(self, dim: int) -> tuple[Cells, Array]:
        """The cells with the margins (L, N) of their points, NaN where there is none."""
        count = len(self.labels)
        if any(len(row) != count for row in self.margins):
            raise InvalidCertificate(f"every cell has a margin, or none, for each of {count} points")
        if len(self.margins) * count > MOST_POINT_CELLS:
            raise InvalidCertificate("the margins are a larger table than any run makes")
        margins = np.array(self.margins, np.float64).reshape(len(self.margins), count)
        return read_cells(self.levels, self.indices, len(margins), dim), margins


CertainRecord = Annotated[CellsRecord | BallRecord | PartsRecord, Field(discriminator="kind")]


def read_cells(levels: list[list[int]], indices: list[list[int]], count: int, dim: int) -> Cells:
    """The cells of a record; InvalidCertificate where they are no `count` cells of a box of `dim` sides."""
    rows = [*levels, *indices]
    if len(levels) != count or len(indices) != count or any(len(row) != dim for row in rows):
        raise InvalidCertificate(f"every cell has {dim} levels, {dim} indices and its margins")
    depth = np.array(levels, np.int64).reshape(count, dim)
    place = np.array(indices, np.int64).reshape(count, dim)
    if bool((place >> depth).any()):
        raise InvalidCertificate("a cell lies outside of the box around the region")
    return Cells(depth, place)
