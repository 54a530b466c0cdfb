"""The paper's uniform grids, with its own interpolation bounds: for comparison and for teaching."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tpc_core.covers.tree import FLOAT32_SLACK, Cell
from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.statistics import saturation
from tpc_core.transforms import Composition, GeneralRotation, Rotation, Taper, Transform, Twist, ZYXRotation

Array = NDArray[np.float64]

SAMPLES = 10_000
"""Votes per cell in the paper."""

LARGEST_RESOLUTION = 4096


@dataclass(frozen=True)
class PaperGrid:
    """A grid of M steps: its tested points, its cells, and the one displacement bound of its theorem."""

    cells: tuple[Cell, ...]
    tested: tuple[tuple[float, ...], ...]
    """The tested parameter of each cell (a rotation vector for rotations)."""


def paper_grid(
    transform: Transform, radii: tuple[float, ...], points: Array, sigma: float, resolution: int
) -> PaperGrid:
    """The grid of the paper's theorem for this transform at resolution M."""
    if not 1 <= resolution <= LARGEST_RESOLUTION:
        raise InvalidValue(f"the paper's grid takes M in [1, {LARGEST_RESOLUTION}], not {resolution}")
    layout, bound = _theorem(transform, radii)
    distance = bound(resolution, points) * (1 + 1e-9) + FLOAT32_SLACK * float(np.linalg.norm(points))
    reach = distance / sigma
    cells, tested = [], []
    for number, (low, high, centre) in enumerate(layout(resolution)):
        cells.append(Cell(str(number), low, high, reach=reach, rank=0, tested=True))
        tested.append(centre)
    return PaperGrid(tuple(cells), tuple(tested))


def cell_count(transform: Transform, radii: tuple[float, ...], resolution: int) -> int:
    """How many cells the grid at M has."""
    layout, _ = _theorem(transform, radii)
    return len(layout(resolution))


def feasible_resolution(
    transform: Transform, radii: tuple[float, ...], points: Array, sigma: float, alpha: float
) -> int:
    """The smallest M at which SAMPLES agreeing votes would do: the cheapest grid that can certify at all."""
    _, bound = _theorem(transform, radii)
    resolution = 1
    while resolution <= LARGEST_RESOLUTION:
        count = cell_count(transform, radii, resolution)
        best = saturation(SAMPLES, alpha / max(count, 1))
        if special.ndtr(bound(resolution, points) * (1 + 1e-6) / sigma) < best:
            return resolution
        resolution += max(1, resolution // 20)
    raise UnsupportedRequest(
        f"the paper's grid for {transform.name} cannot certify this region at any practical M"
    )


Layout = Callable[[int], list[tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]]]
Bound = Callable[[int, Array], float]


def _theorem(transform: Transform, radii: tuple[float, ...]) -> tuple[Layout, Bound]:
    """The grid and the interpolation bound that the paper proves for a transform."""
    if isinstance(transform, Taper):
        # Theorem taper: theta_j = (2j/M - 1) R, bound R sqrt(N) / (2M).
        radius = radii[0]
        return (
            lambda m: _box_grid((radius,), (radius / m,)),
            lambda m, points: radius * math.sqrt(len(points)) / (2 * m),
        )
    if isinstance(transform, Composition):
        kinds = {type(part): r for part, r in zip(transform.parts, radii, strict=True)}
        transform.reach(np.zeros((1, 3)))  # refuses parts about different axes
        if set(kinds) == {Taper, Rotation}:
            steep = kinds[Taper]
            factor = math.sqrt(4 * steep**2 + 8 * steep + 5)
            return _unit_grid(radii), lambda m, points: math.sqrt(len(points)) * factor / (2 * m)
        if set(kinds) == {Twist, Taper, Rotation}:
            factor = math.sqrt(1 + 27 / 4 * (1 + kinds[Taper]) ** 2)
            return _unit_grid(radii), lambda m, points: math.sqrt(len(points)) * factor / (2 * m)
    if isinstance(transform, GeneralRotation | ZYXRotation):
        # The Euler box of half width phi lies in the ball of angle 2 phi.
        angle = min(radii[0] if isinstance(transform, GeneralRotation) else 2 * radii[0], math.pi)
        return lambda m: _rotation_grid(angle, m), lambda m, points: _rotation_bound(angle, m, points)
    raise UnsupportedRequest(f"the paper has no grid for {transform.name}; use --protocol adaptive")


def _unit_grid(radii: tuple[float, ...]) -> Layout:
    """Spacing 2/M in every parameter: half width 1/M."""
    return lambda m: _box_grid(radii, (1 / m,) * len(radii))


def _box_grid(
    radii: tuple[float, ...], half: tuple[float, ...]
) -> list[tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]]:
    """Points -r, -r + 2h, ... on every axis, with enough of them to reach r; cells cut to the region."""
    axes = []
    for radius, h in zip(radii, half, strict=True):
        count = math.ceil(radius / h * (1 - 1e-12)) + 1
        centres = [-radius + 2 * h * j for j in range(count)]
        centres[-1] = min(centres[-1], radius)
        axes.append([(max(c - h, -radius), min(c + h, radius), c) for c in centres])
    return [
        (tuple(a[0] for a in choice), tuple(a[1] for a in choice), tuple(a[2] for a in choice))
        for choice in itertools.product(*axes)
    ]


def _rotation_grid(
    angle: float, m: int
) -> list[tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]]:
    """Cells in (polar, azimuth, angle); tested points are rotation vectors. Polar rings get as many azimuths
    as their widest latitude needs (the paper takes the ring's middle, which is a little too few)."""
    rings = math.ceil(math.pi * m)
    found: list[tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]] = []
    for ring in range(rings):
        a0, a1 = math.pi * ring / rings, math.pi * (ring + 1) / rings
        widest = 1.0 if a0 <= math.pi / 2 <= a1 else max(math.sin(a0), math.sin(a1))
        around = max(1, math.ceil(2 * math.pi * m * widest))
        for step in range(around):
            b0, b1 = 2 * math.pi * step / around, 2 * math.pi * (step + 1) / around
            a, b = (a0 + a1) / 2, (b0 + b1) / 2
            axis = np.array([math.cos(b) * math.sin(a), math.sin(b) * math.sin(a), math.cos(a)])
            for shell in range(m):
                t0, t1 = angle * shell / m, angle * (shell + 1) / m
                vector = axis * (t0 + t1) / 2
                found.append(((a0, b0, t0), (a1, b1, t1), tuple(vector.tolist())))
    return found


def _rotation_bound(angle: float, m: int, points: Array) -> float:
    """pi sqrt(delta^2/4 + eps^2 R^2/8) ||x||, eps = sqrt(2)/(2M), delta = R/(2M) (theorem general rotation).

    Never below the plain bound sqrt(delta^2 + eps^2 R^2) ||x|| of two nearby rotation vectors.
    """
    eps, delta = math.sqrt(2) / (2 * m), angle / (2 * m)
    papers = math.pi * math.sqrt(delta**2 / 4 + eps**2 * angle**2 / 8)
    return max(papers, math.hypot(delta, eps * angle)) * float(np.linalg.norm(points))
