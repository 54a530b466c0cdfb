"""Compositions, written a+b+c: c acts first, a last, as in the paper's a∘b∘c."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.lazy_torch import torch
from tpc_core.transforms.base import Array, Axis, Category, Parameter, Reach, Transform
from tpc_core.transforms.cylinder import CylinderReach
from tpc_core.transforms.noise import CoordinateNoise
from tpc_core.transforms.region import Box
from tpc_core.transforms.rotation import Rotation
from tpc_core.transforms.taper import Taper
from tpc_core.transforms.twist import Twist

if TYPE_CHECKING:
    from torch import Tensor

_PAPER_RADII: dict[str, tuple[tuple[float, ...], ...]] = {
    "z-twist+z-rotation": ((20.0, 1.0), (20.0, 5.0), (50.0, 5.0)),
    "z-taper+z-rotation": ((0.1, 1.0), (0.2, 1.0)),
    "z-twist+z-taper+z-rotation": ((10.0, 0.1, 1.0), (20.0, 0.2, 1.0)),
}


@dataclass(frozen=True)
class Composition(Transform):
    """Several transforms in a row; z holds their parameters side by side, in the order of the name."""

    parts: tuple[Transform, ...]

    def __post_init__(self) -> None:
        repeated = [name for name, count in Counter(p.name for p in self.parts).items() if count > 1]
        if len(self.parts) < 2 or repeated:
            raise InvalidValue(f"a composition joins two or more different transforms, not {self.name!r}")
        if any(isinstance(p, CoordinateNoise | Composition) for p in self.parts):
            raise InvalidValue(f"{self.name!r}: coordinate noise cannot be part of a composition")

    @property
    def name(self) -> str:
        return "+".join(part.name for part in self.parts)

    @property
    def category(self) -> Category:  # type: ignore[override]
        """Rotation and twist about one axis add up side by side; nothing else here does."""
        turning = all(isinstance(part, Rotation | Twist) for part in self.parts)
        return Category.ADDITIVE if turning and self._axis is not None else Category.INDIRECT

    @property
    def paper_radii(self) -> tuple[tuple[float, ...], ...]:  # type: ignore[override]
        return _PAPER_RADII.get(self.name, ())

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return self._side_by_side([part.parameters for part in self.parts])

    @property
    def radii(self) -> tuple[Parameter, ...]:
        return self._side_by_side([part.radii for part in self.parts])

    @property
    def dim(self) -> int:
        return sum(part.dim for part in self.parts)

    def apply(self, points: Tensor, z: Tensor) -> Tensor:
        pieces = z.split([part.dim for part in self.parts], dim=-1)
        for part, piece in zip(reversed(self.parts), reversed(pieces), strict=True):
            points = part.apply(points, piece)
        return points

    def from_edge(self, values: Sequence[float]) -> Tensor:
        if len(values) != len(self.parameters):
            super().from_edge(values)  # raises, naming the parameters
        counts = [len(part.parameters) for part in self.parts]
        starts = [sum(counts[:i]) for i in range(len(counts))]
        pairs = zip(self.parts, starts, counts, strict=True)
        return torch.cat([part.from_edge(values[start : start + count]) for part, start, count in pairs])

    def to_edge(self, z: Tensor) -> tuple[float, ...]:
        pieces = z.split([part.dim for part in self.parts], dim=-1)
        return tuple(v for part, piece in zip(self.parts, pieces, strict=True) for v in part.to_edge(piece))

    def region(self, radii: Sequence[float]) -> Box:
        self._require_cylinder()
        return Box(tuple(float(r) for r in radii))

    def reach(self, points: Array) -> Reach:
        axis = self._require_cylinder()
        columns = {type(part): column for column, part in enumerate(self.parts)}
        return CylinderReach.of(
            points, axis, twist=columns.get(Twist), taper=columns.get(Taper), rotation=columns.get(Rotation)
        )

    @property
    def _axis(self) -> Axis | None:
        """The common axis, where all parts turn, twist or taper about one."""
        axes = {p.axis if isinstance(p, Rotation | Twist | Taper) else None for p in self.parts}
        return axes.pop() if len(axes) == 1 else None

    def _require_cylinder(self) -> Axis:
        axis = self._axis
        if axis is None:
            raise UnsupportedRequest(
                f"no certificate is known for {self.name}; compose rotation, twist and taper about one axis"
            )
        return axis

    def _side_by_side(self, groups: Sequence[tuple[Parameter, ...]]) -> tuple[Parameter, ...]:
        times = Counter(p.name for group in groups for p in group)
        return tuple(
            replace(p, name=f"{part.name}.{p.name}") if times[p.name] > 1 else p
            for part, group in zip(self.parts, groups, strict=True)
            for p in group
        )


def parts_of(transform: Transform) -> tuple[Transform, ...]:
    """The parts of a composition; another transform is its own only part."""
    return transform.parts if isinstance(transform, Composition) else (transform,)
