"""The canonical tree of cells: a lattice around the identity, and halves below.

It is fixed by the cloud, the transform and the noise, never by the region that is asked for or by alpha. So every
question about one object, however large its region and however often it is asked, reads the same cells, and a vote
that was cast once is never cast again with fresh noise (docs/theory.md, "One ledger of votes").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tpc_core.errors import InvalidCertificate, InvalidValue
from tpc_core.smoothing import Cover, Threshold
from tpc_core.smoothing.coordinate import FLOAT32_SLACK
from tpc_core.transforms import Region, Transform

Array = NDArray[np.float64]

HALF_DIAGONALS = (0.6, 1.1, 1.35)
"""How far the corner of a first cell lies from its centre, in sigmas, for one, two, three and more parameters."""

DEEPEST = 40
"""Halvings below a first cell; past it edges would no longer be exact numbers."""

MOST_FIRST_CELLS = 200_000
"""A region of more first cells than this is not covered: it would take longer than anyone waits."""

LARGEST_INDEX = 1 << 24
"""The first cells along an axis in one direction, more than any cover may have."""

LARGEST_DIMENSION = 4
"""Past this, halving a cell hardly shrinks it: a region that one cell cannot hold is out of reach."""

_SPACING_BITS = 24
"""Spacings have so few digits that every edge, an integer times the spacing over a power of two, is exact."""


@dataclass(frozen=True)
class Cell:
    """A box of the tree within a region; votes at its centre vouch for all of it that lies in the region.

    `low` and `high` are the box cut to the region, `centre` is the tested point: the middle of the whole cell, which
    may lie outside of the region. `reach` bounds the displacement from the centre to any point of cell and region, in
    sigmas. `path` is its place in the tree: the number of its first cell along each axis, then the halves taken.
    """

    path: str
    low: tuple[float, ...]
    high: tuple[float, ...]
    centre: tuple[float, ...]
    reach: float
    testable: bool = True
    """False where the centre lies outside of the displacement bound's domain: such a cell is halved untested."""

    @property
    def depth(self) -> int:
        """How often the first cell was halved."""
        return len(self.path.partition(":")[2])

    @property
    def z(self) -> Array:
        """The tested parameter."""
        return np.asarray(self.centre, dtype=np.float64)

    @cached_property
    def threshold(self) -> Threshold:
        """The p_A that votes at the centre must prove to be exceeded: Phi(D / sigma), rounded up."""
        return Threshold.at(self.reach)

    @property
    def needed(self) -> float:
        """The same as a number to show."""
        return self.threshold.q

    @property
    def volume(self) -> float:
        """The volume of the box, in parameter units."""
        return float(np.prod(np.asarray(self.high) - np.asarray(self.low)))


def cell_level(alpha: float, depth: int) -> float:
    """The part of alpha that a cell of this depth may spend: along a path they add up to alpha, at any depth."""
    return alpha * 3 / ((depth + 3) * (depth + 4))


@dataclass(frozen=True)
class Lattice:
    """The tree of one cloud under one transform and one noise; `spacing` is the width of a first cell by axis."""

    spacing: tuple[float, ...]
    cover: Cover
    cloud_norm: float

    @staticmethod
    def of(transform: Transform, cover: Cover, points: Array) -> Lattice:
        """The canonical lattice: first cells whose sides, each taken alone at the identity, move the cloud alike."""
        dim = transform.dim
        wanted = HALF_DIAGONALS[min(dim, 3) - 1] * cover.sigma / math.sqrt(dim)
        widest = transform.region([p.to_internal(p.largest_radius) for p in transform.radii]).half_widths
        halves = [_half_width(cover, axis, float(widest[axis]), dim, wanted) for axis in range(dim)]
        return Lattice(tuple(_rounded(2 * half) for half in halves), cover, float(np.linalg.norm(points)))

    @property
    def dim(self) -> int:
        return len(self.spacing)

    # -- cells within a region -----------------------------------------------------------------------------------

    def first_cells(self, region: Region, most: int | None = None) -> list[Cell]:
        """Every first cell that meets the region, or `most` of them, evenly; InvalidValue where there are too many."""
        index = self._first_indices(region)
        if most is not None:
            index = index[:: max(1, -(-len(index) // most))]
        half = np.array(self.spacing) / 2
        low, high = (2 * index - 1) * half, (2 * index + 1) * half
        paths = [_first_path(row) for row in index.tolist()]
        return self._cells(region, paths, low, high)

    def count_first_cells(self, region: Region) -> int:
        """How many first cells meet the region, or a number above the limit where they are too many."""
        total = math.prod(2 * int(most) + 1 for most in self._reach_of_indices(region))
        if self.dim > LARGEST_DIMENSION and total > 1:
            return max(total, MOST_FIRST_CELLS + 1)
        return total if total > MOST_FIRST_CELLS else len(self._first_indices(region))

    def _reach_of_indices(self, region: Region) -> NDArray[np.int64]:
        """The largest index along each axis whose cell may meet the region."""
        with np.errstate(divide="ignore", over="ignore"):
            most = np.floor(region.half_widths * (1 + 1e-9) / np.array(self.spacing) + 0.5)
        # Past any cover, and within an int64: cells without a width would be one that stands for all.
        return np.asarray(np.minimum(most, float(LARGEST_INDEX)), dtype=np.int64)

    def _first_indices(self, region: Region) -> NDArray[np.int64]:
        most = self._reach_of_indices(region)
        total = math.prod(2 * int(m) + 1 for m in most)
        if total > 8 * MOST_FIRST_CELLS or (self.dim > LARGEST_DIMENSION and total > 1):
            raise too_many(total, self.dim)
        axes = [np.arange(-m, m + 1) for m in most]
        index = np.stack([side.ravel() for side in np.meshgrid(*axes, indexing="ij")], axis=1)
        half = np.array(self.spacing) / 2
        index = index[region.meets((2 * index - 1) * half, (2 * index + 1) * half)]
        if len(index) > MOST_FIRST_CELLS:
            raise too_many(len(index), self.dim)
        return np.asarray(index)

    def children(self, cell: Cell, region: Region) -> list[Cell]:
        """The two halves of a cell, without those that miss the region; none past the deepest."""
        if cell.depth >= DEEPEST:
            return []
        return self._within(region, [f"{cell.path}{digit}" for digit in "01"])

    def cell(self, path: str, region: Region) -> Cell | None:
        """The cell of a path; None where it misses the region, InvalidCertificate where there is no such path."""
        found = self._within(region, [path])
        return found[0] if found else None

    def _within(self, region: Region, paths: Sequence[str]) -> list[Cell]:
        boxes = [self.box(path) for path in paths]
        low, high = np.array([b[0] for b in boxes]), np.array([b[1] for b in boxes])
        meets = region.meets(low, high)
        kept = [path for path, inside in zip(paths, meets, strict=True) if inside]
        return self._cells(region, kept, low[meets], high[meets])

    def box(self, path: str) -> tuple[Array, Array]:
        """The whole cell of a path: its corners, exact."""
        index, halves = parse_path(path, self.dim)
        low = [2 * i - 1 for i in index]  # in half spacings, over 2^splits
        splits = [0] * self.dim
        for half in halves:
            axis = _split_axis(splits)
            splits[axis] += 1
            low[axis] = 2 * low[axis] + (2 if half == "1" else 0)
        spacing = np.array(self.spacing)
        scale = spacing / 2.0 ** (np.array(splits) + 1)
        start = np.array(low, dtype=np.float64)
        return start * scale, (start + 2) * scale

    def _cells(self, region: Region, paths: Sequence[str], low: Array, high: Array) -> list[Cell]:
        if not len(paths):
            return []
        centre = (low + high) / 2
        low, high = region.trim(low, high)
        reaches, testable = self._reaches(region, centre, low, high)
        rows = zip(paths, low.tolist(), high.tolist(), centre.tolist(), reaches, testable, strict=True)
        return [Cell(path, tuple(a), tuple(b), tuple(c), float(r), bool(t)) for path, a, b, c, r, t in rows]

    def _reaches(self, region: Region, centre: Array, low: Array, high: Array) -> tuple[Array, Array]:
        """The displacement bounds in sigmas, rounded up, and which centres lie where the bound holds."""
        span = region.span(centre, low, high) * (1 + 1e-12)
        inside = self.cover.reach.holds(centre, low, high)
        distance = np.full(len(centre), np.inf)
        if inside.any():
            part = (centre[inside], low[inside], high[inside], span[inside])
            distance[inside] = self.cover.reach(*part) * (1 + 1e-9)
        reach = (distance + FLOAT32_SLACK * self.cloud_norm) / self.cover.sigma
        return np.asarray(reach), np.asarray(inside)


def too_many(count: int, dim: int) -> InvalidValue:
    """The refusal of a region that would take too many cells."""
    return InvalidValue(
        f"a cover of this region in {dim} dimensions would take {count:,} cells or more; take a smaller radius, a "
        "larger sigma, or a model that is smoothed by the transform itself"
    )


def parse_path(path: str, dim: int) -> tuple[list[int], str]:
    """The first cell's numbers and the halves of a path such as "0,-2:01"."""
    first, _, halves = path.partition(":")
    try:
        index = [int(piece) for piece in first.split(",")]
    except ValueError:
        index = []
    canonical = len(index) == dim and path == _first_path(index) + halves
    if not canonical or halves.strip("01") or len(halves) > DEEPEST or max(map(abs, index)) > LARGEST_INDEX:
        raise InvalidCertificate(f"there is no cell {path[:80]!r} in this tree")
    return index, halves


def _first_path(index: Sequence[int]) -> str:
    return ",".join(str(i) for i in index) + ":"


def _split_axis(splits: list[int]) -> int:
    """The side that was halved least often: sides of a first cell move the cloud alike."""
    return min(range(len(splits)), key=lambda axis: (splits[axis], axis))


def _half_width(cover: Cover, axis: int, widest: float, dim: int, wanted: float) -> float:
    """How far along one axis from the identity the cloud has moved by `wanted`; the range's end where it never has."""

    def moved(half: float) -> float:
        side = np.zeros((1, dim))
        side[0, axis] = half
        centre = np.zeros((1, dim))
        return float(cover.reach(centre, -side, side, np.array([half]))[0])

    low, high = 0.0, widest
    if not cover.reach.holds(np.zeros((1, dim)), *_sides(axis, dim, widest)).all():
        # The bound ends before the range does: take what it holds for.
        for _ in range(60):
            middle = (low + high) / 2
            inside = cover.reach.holds(np.zeros((1, dim)), *_sides(axis, dim, middle)).all()
            low, high = (middle, high) if inside else (low, middle)
        low, high = 0.0, low
    if moved(high) <= wanted:
        return high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if moved(middle) <= wanted else (low, middle)
    return low


def _sides(axis: int, dim: int, half: float) -> tuple[Array, Array]:
    side = np.zeros((1, dim))
    side[0, axis] = half
    return -side, side


def _rounded(spacing: float) -> float:
    """The spacing, rounded down to few binary digits."""
    mantissa, exponent = math.frexp(spacing)
    return math.ldexp(math.floor(mantissa * 2**_SPACING_BITS), exponent - _SPACING_BITS)
