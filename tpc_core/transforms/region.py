"""The sets of attack parameters that certificates speak of: boxes and balls around the identity, and their products."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tpc_core.errors import InvalidValue

Array = NDArray[np.float64]

MOST_EXTREMES = 1024
"""Of a product of regions."""


class Region(ABC):
    """A closed, convex set around z = 0. Cells are boxes [low, high], arrays of shape (M, dim)."""

    @property
    @abstractmethod
    def dim(self) -> int:
        """The number of coordinates."""

    @property
    @abstractmethod
    def half_widths(self) -> Array:
        """The half widths (dim,) of the smallest box around the region."""

    @abstractmethod
    def gauge(self, z: Array) -> Array:
        """The smallest factor s with z in s * region, for z (M, dim)."""

    @abstractmethod
    def nearest_gauge(self, low: Array, high: Array) -> Array:
        """The smallest factor s for which s * region meets the cell: (M,)."""

    @abstractmethod
    def trim(self, low: Array, high: Array) -> tuple[Array, Array]:
        """The smallest box around cell and region together, for cells that meet the region."""

    @abstractmethod
    def span(self, centre: Array, low: Array, high: Array) -> Array:
        """An upper bound (M,) of |z - centre| over the points z of the cell that lie in the region."""

    @abstractmethod
    def scaled(self, factor: float) -> Region:
        """The region factor * self: a nested family as the factor grows."""

    @abstractmethod
    def extremes(self) -> Array:
        """Points (M, dim) on the boundary where an attack is strongest as a rule: corners and tips."""

    @abstractmethod
    def sample(self, count: int, rng: np.random.Generator) -> Array:
        """Random points (count, dim), uniform over the region."""

    @abstractmethod
    def project(self, z: Array) -> Array:
        """The points (M, dim) moved to the nearest place inside the region."""

    def contains(self, z: Array) -> NDArray[np.bool_]:
        """Which of the points (M, dim) lie in the region."""
        return np.asarray(self.gauge(z) <= 1.0)

    def meets(self, low: Array, high: Array) -> NDArray[np.bool_]:
        """Which of the cells touch the region; rounding errs towards yes."""
        return np.asarray(self.nearest_gauge(low, high) <= 1.0 + 1e-12)


@dataclass(frozen=True)
class Box(Region):
    """All z with |z_i| <= radii_i."""

    radii: tuple[float, ...]

    def __post_init__(self) -> None:
        _check_radii(self.radii)

    @property
    def dim(self) -> int:
        return len(self.radii)

    @property
    def half_widths(self) -> Array:
        return np.asarray(self.radii, dtype=np.float64)

    def gauge(self, z: Array) -> Array:
        return np.asarray(np.max(np.abs(z) / self.half_widths, axis=-1))

    def nearest_gauge(self, low: Array, high: Array) -> Array:
        return self.gauge(np.clip(0.0, low, high))

    def trim(self, low: Array, high: Array) -> tuple[Array, Array]:
        return np.maximum(low, -self.half_widths), np.minimum(high, self.half_widths)

    def span(self, centre: Array, low: Array, high: Array) -> Array:
        return _corner_distance(centre, low, high)

    def scaled(self, factor: float) -> Box:
        return Box(tuple(factor * r for r in self.radii))

    def extremes(self) -> Array:
        corners = np.array(list(itertools.product((-1.0, 1.0), repeat=self.dim)))
        tips = np.vstack([np.eye(self.dim), -np.eye(self.dim)])
        return np.unique(np.vstack([corners, tips]), axis=0) * self.half_widths

    def sample(self, count: int, rng: np.random.Generator) -> Array:
        return rng.uniform(-1.0, 1.0, size=(count, self.dim)) * self.half_widths

    def project(self, z: Array) -> Array:
        return np.clip(z, -self.half_widths, self.half_widths)


@dataclass(frozen=True)
class Ball(Region):
    """All z with |z|_2 <= radius."""

    radius: float
    dimension: int

    def __post_init__(self) -> None:
        _check_radii((self.radius,))
        if self.dimension < 1:
            raise InvalidValue(f"a ball needs at least one dimension, not {self.dimension}")

    @property
    def dim(self) -> int:
        return self.dimension

    @property
    def half_widths(self) -> Array:
        return np.full(self.dimension, self.radius)

    def gauge(self, z: Array) -> Array:
        # Divided first: squares of a tiny radius are zero.
        return np.asarray(np.linalg.norm(z / self.radius, axis=-1))

    def nearest_gauge(self, low: Array, high: Array) -> Array:
        return self.gauge(np.clip(0.0, low, high))

    def trim(self, low: Array, high: Array) -> tuple[Array, Array]:
        nearest = np.clip(0.0, low, high) / self.radius
        across = np.sum(nearest**2, axis=-1, keepdims=True) - nearest**2
        # Within the cell, |z_i| is largest where all other coordinates are nearest to zero.
        # Near tangency the difference cancels; the added sliver keeps its rounding on the safe side.
        limit = self.radius * np.sqrt(np.maximum(1.0 - across, 0.0) + 1e-14)
        return np.maximum(low, np.minimum(-limit, high)), np.minimum(high, np.maximum(limit, low))

    def span(self, centre: Array, low: Array, high: Array) -> Array:
        through_origin = np.linalg.norm(centre, axis=-1) + self.radius
        return np.asarray(np.minimum(_corner_distance(centre, low, high), through_origin * (1 + 1e-12)))

    def scaled(self, factor: float) -> Ball:
        return Ball(factor * self.radius, self.dimension)

    def extremes(self) -> Array:
        tips = np.vstack([np.eye(self.dimension), -np.eye(self.dimension)])
        if self.dimension <= 3:
            corners = np.array(list(itertools.product((-1.0, 1.0), repeat=self.dimension)))
            tips = np.vstack([tips, corners / math.sqrt(self.dimension)])
        return np.unique(tips, axis=0) * self.radius

    def sample(self, count: int, rng: np.random.Generator) -> Array:
        direction = rng.normal(size=(count, self.dimension))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        length = self.radius * rng.uniform(size=(count, 1)) ** (1 / self.dimension)
        return np.asarray(direction * length)

    def project(self, z: Array) -> Array:
        return np.asarray(z / np.maximum(self.gauge(z), 1.0)[..., None])


@dataclass(frozen=True)
class Product(Region):
    """All z whose pieces lie each in its own region: what the parts of a composition may do, side by side."""

    parts: tuple[Region, ...]

    @property
    def dim(self) -> int:
        return sum(part.dim for part in self.parts)

    @property
    def half_widths(self) -> Array:
        return np.concatenate([part.half_widths for part in self.parts])

    def gauge(self, z: Array) -> Array:
        pairs = zip(self.parts, self._pieces(z), strict=True)
        return np.asarray(np.max([part.gauge(piece) for part, piece in pairs], axis=0))

    def nearest_gauge(self, low: Array, high: Array) -> Array:
        boxes = zip(self.parts, self._pieces(low), self._pieces(high), strict=True)
        return np.asarray(np.max([part.nearest_gauge(*box) for part, *box in boxes], axis=0))

    def trim(self, low: Array, high: Array) -> tuple[Array, Array]:
        boxes = zip(self.parts, self._pieces(low), self._pieces(high), strict=True)
        lows, highs = zip(*(part.trim(*box) for part, *box in boxes), strict=True)
        return np.concatenate(lows, axis=-1), np.concatenate(highs, axis=-1)

    def span(self, centre: Array, low: Array, high: Array) -> Array:
        boxes = zip(self.parts, *map(self._pieces, (centre, low, high)), strict=True)
        return np.asarray(np.linalg.norm([part.span(*box) for part, *box in boxes], axis=0))

    def scaled(self, factor: float) -> Product:
        return Product(tuple(part.scaled(factor) for part in self.parts))

    def extremes(self) -> Array:
        every = [part.extremes() for part in self.parts]
        if (
            math.prod(map(len, every)) > MOST_EXTREMES
        ):  # too many to join them all: the first of each, and so on
            count = max(map(len, every))
            return np.concatenate([np.resize(tips, (count, tips.shape[1])) for tips in every], axis=1)
        return np.array([np.concatenate(tips) for tips in itertools.product(*every)])

    def sample(self, count: int, rng: np.random.Generator) -> Array:
        return np.concatenate([part.sample(count, rng) for part in self.parts], axis=1)

    def project(self, z: Array) -> Array:
        pairs = zip(self.parts, self._pieces(z), strict=True)
        return np.concatenate([part.project(piece) for part, piece in pairs], axis=-1)

    def _pieces(self, z: Array) -> list[Array]:
        return np.split(z, np.cumsum([part.dim for part in self.parts])[:-1], axis=-1)


def _corner_distance(centre: Array, low: Array, high: Array) -> Array:
    far = np.maximum(np.abs(high - centre), np.abs(centre - low))
    return np.asarray(np.linalg.norm(far, axis=-1))


def _check_radii(radii: Sequence[float]) -> None:
    if not radii or not all(math.isfinite(r) and r > 0 for r in radii):
        raise InvalidValue(f"every radius must be a positive, finite number, not {list(radii)}")
