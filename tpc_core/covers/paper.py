"""The paper's uniform grids, with its own interpolation bounds: for comparison and for teaching."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tpc_core.covers.lattice import Cell
from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.lazy_torch import torch
from tpc_core.smoothing.coordinate import FLOAT32_SLACK
from tpc_core.statistics import saturation
from tpc_core.transforms import Composition, GeneralRotation, Rotation, Taper, Transform, Twist, ZYXRotation

if TYPE_CHECKING:
    from torch import Tensor

Array = NDArray[np.float64]

SAMPLES = 10_016
"""Votes per cell: the paper's 10,000 in whole blocks."""

SINGLE_SAMPLES = 1024
"""Votes of a certificate that rests on one probability: the paper's 1,000 in whole blocks."""

LARGEST_RESOLUTION = 4096
MOST_CELLS = 1_000_000


@dataclass(frozen=True)
class PaperGrid:
    """A grid of M steps: its cells, each with its tested parameter (a rotation vector for rotations) as centre."""

    cells: tuple[Cell, ...]


Tile = tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]
"""The low corner, the high corner and the tested point of a cell."""

Bound = Callable[[int, Array], float]


def paper_grid(
    transform: Transform, radii: tuple[float, ...], points: Array, sigma: float, resolution: int
) -> PaperGrid:
    """The grid of the paper's theorem for this transform at resolution M."""
    if not 1 <= resolution <= LARGEST_RESOLUTION:
        raise InvalidValue(f"the paper's grid takes M in [1, {LARGEST_RESOLUTION}], not {resolution}")
    theorem = theorem_of(transform, radii)
    layout = theorem.layout(resolution)
    if layout.count > MOST_CELLS:
        raise InvalidValue(
            f"the paper's grid at M = {resolution} has {layout.count:,} cells; choose a smaller M"
        )
    distance = theorem.bound(resolution, points) * (1 + 1e-9) + FLOAT32_SLACK * float(np.linalg.norm(points))
    reach = distance / sigma
    tiles = list(layout.tiles())
    return PaperGrid(tuple(Cell(str(n), *tile, reach=reach) for n, tile in enumerate(tiles)))


def tested_cloud(transform: Transform, points: Tensor, z: Sequence[float]) -> Tensor:
    """The cloud (N, 3) float64 at a grid point, rounded once; Euler boxes are covered by rotation vectors, too."""
    mover = GeneralRotation() if isinstance(transform, ZYXRotation) else transform
    return mover.apply(points, torch.tensor(z, dtype=torch.float64)).to(torch.float32)


def cell_count(transform: Transform, radii: tuple[float, ...], resolution: int) -> int:
    """How many cells the grid at M has."""
    return theorem_of(transform, radii).layout(resolution).count


def feasible_resolution(
    transform: Transform, radii: tuple[float, ...], points: Array, sigma: float, alpha: float
) -> int:
    """The smallest M at which SAMPLES agreeing votes would do: the cheapest grid that can certify at all."""
    theorem = theorem_of(transform, radii)
    resolution = 1
    while resolution <= LARGEST_RESOLUTION:
        count = theorem.layout(resolution).count
        if count > MOST_CELLS:
            break
        if special.ndtr(theorem.bound(resolution, points) * (1 + 1e-6) / sigma) < saturation(
            SAMPLES, alpha / count
        ):
            return resolution
        resolution += max(1, resolution // 20)
    raise UnsupportedRequest(
        f"the paper's grid for {transform.name} cannot certify this region with {MOST_CELLS:,} cells"
    )


@dataclass(frozen=True)
class BoxLayout:
    """Points -r, -r + 2h, ... on every axis, with enough of them to reach r; cells cut to the region."""

    radii: tuple[float, ...]
    half: tuple[float, ...]

    @property
    def sizes(self) -> list[int]:
        pairs = zip(self.radii, self.half, strict=True)
        return [math.ceil(radius / h * (1 - 1e-12)) + 1 for radius, h in pairs]

    @property
    def count(self) -> int:
        return math.prod(self.sizes)

    def tiles(self) -> Iterator[Tile]:
        axes = []
        for radius, h, size in zip(self.radii, self.half, self.sizes, strict=True):
            centres = [min(-radius + 2 * h * j, radius) for j in range(size)]
            axes.append([(max(c - h, -radius), min(c + h, radius), c) for c in centres])
        for choice in itertools.product(*axes):
            yield tuple(a[0] for a in choice), tuple(a[1] for a in choice), tuple(a[2] for a in choice)


@dataclass(frozen=True)
class RotationLayout:
    """Cells in (polar, azimuth, angle); tested points are rotation vectors.

    Polar rings get as many azimuths as their widest latitude needs (the paper takes the ring's middle, which
    is a little too few).
    """

    angle: float
    resolution: int

    @property
    def rings(self) -> int:
        return math.ceil(math.pi * self.resolution)

    @property
    def count(self) -> int:
        return self.resolution * sum(self._around(ring) for ring in range(self.rings))

    def _edges(self, ring: int) -> tuple[float, float]:
        return math.pi * ring / self.rings, math.pi * (ring + 1) / self.rings

    def _around(self, ring: int) -> int:
        a0, a1 = self._edges(ring)
        widest = 1.0 if a0 <= math.pi / 2 <= a1 else max(math.sin(a0), math.sin(a1))
        return max(1, math.ceil(2 * math.pi * self.resolution * widest))

    def tiles(self) -> Iterator[Tile]:
        for ring in range(self.rings):
            a0, a1 = self._edges(ring)
            around = self._around(ring)
            for step in range(around):
                b0, b1 = 2 * math.pi * step / around, 2 * math.pi * (step + 1) / around
                a, b = (a0 + a1) / 2, (b0 + b1) / 2
                axis = (math.cos(b) * math.sin(a), math.sin(b) * math.sin(a), math.cos(a))
                for shell in range(self.resolution):
                    t0 = self.angle * shell / self.resolution
                    t1 = self.angle * (shell + 1) / self.resolution
                    yield (a0, b0, t0), (a1, b1, t1), tuple(v * (t0 + t1) / 2 for v in axis)


@dataclass(frozen=True)
class Theorem:
    """A theorem of the paper: the grid at resolution M, and its bound of the interpolation error."""

    layout: Callable[[int], BoxLayout | RotationLayout]
    bound: Bound


def theorem_of(transform: Transform, radii: tuple[float, ...]) -> Theorem:
    """The grid and the interpolation bound that the paper proves for a transform."""
    if isinstance(transform, Taper):
        # Theorem taper: theta_j = (2j/M - 1) R, bound R sqrt(N) / (2M).
        radius = radii[0]
        return Theorem(
            lambda m: BoxLayout((radius,), (radius / m,)),
            lambda m, points: radius * _unit_size(points) / (2 * m),
        )
    if isinstance(transform, Composition):
        kinds = {type(part): r for part, r in zip(transform.parts, radii, strict=True)}
        transform.reach(np.zeros((1, 3)))  # refuses parts about different axes
        factor = None
        if set(kinds) == {Taper, Rotation}:
            factor = math.sqrt(4 * kinds[Taper] ** 2 + 8 * kinds[Taper] + 5)
        elif set(kinds) == {Twist, Taper, Rotation}:
            factor = math.sqrt(1 + 27 / 4 * (1 + kinds[Taper]) ** 2)
        if factor is not None:
            scale = factor
            return Theorem(
                lambda m: BoxLayout(radii, (1 / m,) * len(radii)),
                lambda m, points: _unit_size(points) * scale / (2 * m),
            )
    if isinstance(transform, GeneralRotation | ZYXRotation):
        # The Euler box of half width phi lies in the ball of angle 2 phi.
        angle = min(radii[0] if isinstance(transform, GeneralRotation) else 2 * radii[0], math.pi)
        return Theorem(
            lambda m: RotationLayout(angle, m), lambda m, points: _rotation_bound(angle, m, points)
        )
    raise UnsupportedRequest(f"the paper has no grid for {transform.name}; use --protocol adaptive")


def _unit_size(points: Array) -> float:
    """sqrt(N), as the paper has it for clouds in the unit ball; more where rounding let a point out of it."""
    radius = float(np.max(np.linalg.norm(points, axis=1), initial=0.0))
    return math.sqrt(len(points)) * max(1.0, radius) ** 3


def _rotation_bound(angle: float, m: int, points: Array) -> float:
    """pi sqrt(delta^2/4 + eps^2 R^2/8) ||x||, eps = sqrt(2)/(2M), delta = R/(2M) (theorem general rotation).

    Never below the plain bound sqrt(delta^2 + eps^2 R^2) ||x|| of two nearby rotation vectors.
    """
    eps, delta = math.sqrt(2) / (2 * m), angle / (2 * m)
    papers = math.pi * math.sqrt(delta**2 / 4 + eps**2 * angle**2 / 8)
    return max(papers, math.hypot(delta, eps * angle)) * float(np.linalg.norm(points))
