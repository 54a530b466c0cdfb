"""Where an attack may look: a region of parameters, or a ball of coordinate noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tpc_core.transforms import CoordinateNoise, Transform

Array = NDArray[np.float64]


class Space(Protocol):
    """A set of parameters that can be sampled and projected onto."""

    @property
    def dim(self) -> int: ...
    @property
    def half_widths(self) -> Array: ...
    def sample(self, count: int, rng: np.random.Generator) -> Array: ...
    def extremes(self) -> Array: ...
    def project(self, z: Array) -> Array: ...


@dataclass(frozen=True)
class NoiseBall:
    """All displacements (3N,) of norm at most the radius, l2 or l-infinity."""

    transform: CoordinateNoise
    radius: float
    dim: int

    @property
    def half_widths(self) -> Array:
        return np.full(self.dim, self.radius)

    def sample(self, count: int, rng: np.random.Generator) -> Array:
        """Points on the boundary: inside it an attack of this kind is only weaker."""
        direction = rng.normal(size=(count, self.dim))
        if self.transform.norm == "linf":
            return np.asarray(np.sign(direction) * self.radius)
        return np.asarray(direction / np.linalg.norm(direction, axis=1, keepdims=True) * self.radius)

    def extremes(self) -> Array:
        """The cloud as a whole pushed along each axis."""
        pushes = np.concatenate([np.eye(3), -np.eye(3)])
        spread = np.tile(pushes, (1, self.dim // 3))
        if self.transform.norm == "l2":
            spread = spread / np.sqrt(self.dim / 3)
        return np.asarray(spread * self.radius)

    def project(self, z: Array) -> Array:
        if self.transform.norm == "linf":
            return np.clip(z, -self.radius, self.radius)
        length = np.linalg.norm(z, axis=-1, keepdims=True) / self.radius
        return np.asarray(z / np.maximum(length, 1.0))


def attack_space(transform: Transform, radii: Sequence[float], points: int) -> Space:
    """The set of attacks that a claim about these radii speaks of."""
    if isinstance(transform, CoordinateNoise):
        return NoiseBall(transform, radii[0], 3 * points)
    return transform.region(radii)
