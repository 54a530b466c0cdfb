"""What every transform knows: its parameters, how it moves a cloud, and how far it can move one."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.lazy_torch import torch
from tpc_core.transforms.forms import CloudForm, Form, InputForm, constant, input_form, parameter_forms
from tpc_core.transforms.region import Region

if TYPE_CHECKING:
    from torch import Tensor

Array = NDArray[np.float64]
Axis = Literal["x", "y", "z"]
AXES: tuple[Axis, ...] = ("x", "y", "z")


class Category(StrEnum):
    """The paper's three kinds of transform; the kind decides which theorems apply."""

    ADDITIVE = "additive"
    COMPOSABLE = "composable"
    INDIRECT = "indirectly composable"


@dataclass(frozen=True)
class Parameter:
    """One number that a person sets: sliders, CLI options and JSON fields derive from it.

    `low`, `high` and `step` are in `unit`; `largest_radius` is the largest radius that can be certified.
    """

    name: str
    unit: Literal["deg", ""]
    low: float
    high: float
    step: float
    largest_radius: float

    def to_internal(self, value: float) -> float:
        """From the unit that people read to the unit that formulas use (degrees to radians)."""
        return math.radians(value) if self.unit == "deg" else float(value)

    def to_edge(self, value: float) -> float:
        """From the unit that formulas use to the unit that people read."""
        return math.degrees(value) if self.unit == "deg" else float(value)

    def describe(self, value: float) -> str:
        """The edge value with its unit, as a person would write it."""
        return f"{value:.6g}" + ("°" if self.unit == "deg" else "")

    def checked_radius(self, value: float) -> float:
        """The radius in internal units, or an InvalidValue that says which radii make sense."""
        if not (math.isfinite(value) and 0 < value <= self.largest_radius):
            raise InvalidValue(
                f"radius {self.name}={value:g} is out of range; choose a value in "
                f"(0, {self.largest_radius:g}]{' degrees' if self.unit == 'deg' else ''}"
            )
        return self.to_internal(value)


class Reach(ABC):
    """How far any point of a cell lies from its tested point, for one cloud (never too small)."""

    @abstractmethod
    def __call__(self, centre: Array, low: Array, high: Array, span: Array) -> Array:
        """Upper bounds (M,) of ||phi(x, z) - phi(x, centre)||_2 over the boxes [low, high], each (M, d).

        `span` (M,) bounds the Euclidean distance |z - centre| over the part of the box inside the region.
        """

    def holds(self, centre: Array, low: Array, high: Array) -> NDArray[np.bool_]:
        """For which of the boxes and tested points the bound is proved (M,): for all, unless it says otherwise."""
        return np.ones(len(centre), dtype=bool)


RadiusInput = float | str | Sequence[float] | Mapping[str, float]


class Transform(ABC):
    """A family phi(x, z) of maps of a cloud, with z = 0 the identity.

    Values at the edges (sliders, CLI, JSON) follow `parameters`; `z` inside is a vector of `dim` numbers
    with angles in radians.
    """

    category: Category
    paper_radii: ClassVar[tuple[tuple[float, ...], ...]] = ()
    """The radii of the paper's tables, in edge units: presets for the app, rows for the evaluation."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The one name of this transform: in the CLI, in URLs, in JSON and in tests."""

    @property
    def noun(self) -> str:
        """What one attack is called in a sentence."""
        return self.name

    @property
    @abstractmethod
    def parameters(self) -> tuple[Parameter, ...]:
        """The numbers that a person sets to pick one member of the family."""

    @property
    def radii(self) -> tuple[Parameter, ...]:
        """The numbers that a person sets to bound an attack; one unless the transform is a composition."""
        return self.parameters

    @property
    def dim(self) -> int:
        """The number of coordinates of z."""
        return len(self.parameters)

    @abstractmethod
    def apply(self, points: Tensor, z: Tensor) -> Tensor:
        """phi(x, z) for points (*batch, N, 3) and z (*batch, dim); the batch shapes broadcast."""

    @property
    def glsl(self) -> str | None:
        """The same map for a shader: lines that return `vec3 p` moved by `float z[dim]` (see shader.py).

        None where there are none: the positions are then computed here and sent.
        """
        return None

    @property
    def glsl_from_edge(self) -> str:
        """Lines for a shader that make z of a person's values in internal units; none where they are the same."""
        return ""

    @abstractmethod
    def region(self, radii: Sequence[float]) -> Region:
        """The set of attacks that a certificate of these radii (internal units) is about."""

    def reach(self, points: Array) -> Reach:
        """The displacement bound of this transform on one cloud (N, 3); needed by covers only."""
        raise UnsupportedRequest(f"no displacement bound is known for {self.name}, so no cover can be built")

    def enclose(self, cloud: CloudForm, z: Sequence[Form]) -> CloudForm:
        """The same formula as `apply`, on affine forms: it holds every cloud that the cell's parameters can make."""
        raise UnsupportedRequest(f"there are no exact proofs for {self.name} yet")

    def form(self, points: Tensor, low: Tensor, high: Tensor) -> InputForm:
        """The affine form of a cloud (N, 3) under all z of the boxes [low, high], (M, dim) each, rounded outwards.

        It holds phi(x, z) as it is in real numbers, and as `apply` computes it in float64.
        """
        z = parameter_forms(low.to(torch.float64), high.to(torch.float64))
        x, y, h = (constant(points[:, k], len(z)) for k in range(3))
        return input_form(self.enclose((x, y, h), z), z)

    def turning_angle(self, radii: Sequence[float]) -> float | None:
        """The largest angle by which an attack of these radii turns the cloud; None if it is not a rotation."""
        return None

    def inverse(self, z: Tensor) -> Tensor:
        """The parameter that undoes z."""
        if self.category is Category.ADDITIVE:
            return -z
        raise UnsupportedRequest(f"the inverse of {self.name} is not a {self.name}")

    def compose(self, first: Tensor, second: Tensor) -> Tensor:
        """The parameter of "first, then second"."""
        if self.category is Category.ADDITIVE:
            return first + second
        raise UnsupportedRequest(f"two {self.name} in a row are not a {self.name}")

    def identity(self) -> Tensor:
        """The parameter that moves nothing."""
        return torch.zeros(self.dim, dtype=torch.float64)

    def from_edge(self, values: Sequence[float]) -> Tensor:
        """The internal z (dim,) float64 of the values that a person set."""
        if len(values) != len(self.parameters):
            names = ", ".join(p.name for p in self.parameters)
            raise InvalidValue(
                f"{self.name} takes {len(self.parameters)} values ({names}), not {len(values)}"
            )
        if not all(math.isfinite(v) for v in values):
            raise InvalidValue(f"{self.name}: every value must be a finite number, not {list(values)}")
        pairs = zip(self.parameters, values, strict=True)
        return torch.tensor([p.to_internal(v) for p, v in pairs], dtype=torch.float64)

    def to_edge(self, z: Tensor) -> tuple[float, ...]:
        """The values that a person would set to get z."""
        return tuple(p.to_edge(float(v)) for p, v in zip(self.parameters, z, strict=True))

    def named_values(self, z: Tensor | Array) -> dict[str, float]:
        """The edge values of z by parameter name, as JSON holds them."""
        values = self.to_edge(torch.as_tensor(z, dtype=torch.float64))
        return {p.name: v for p, v in zip(self.parameters, values, strict=True)}

    def describe(self, z: Tensor | Array) -> str:
        """z as a person reads it: "twist 12°, taper 0.1"."""
        values = self.to_edge(torch.as_tensor(z, dtype=torch.float64))
        return ", ".join(
            f"{p.name} {v:.3g}{'°' if p.unit == 'deg' else ''}"
            for p, v in zip(self.parameters, values, strict=True)
        )

    def parse_radius(self, radius: RadiusInput) -> tuple[float, ...]:
        """Internal radii from 20, "20", "twist=20,taper=0.2", (20, 0.2) or {"twist": 20}."""
        named = self.name_radius(radius)
        return tuple(p.checked_radius(named[p.name]) for p in self.radii)

    def name_radius(self, radius: RadiusInput) -> dict[str, float]:
        """The same in edge units, by name, as they were given."""
        values = _named_values(radius, self.radii, self.name)
        return {p.name: v for p, v in zip(self.radii, values, strict=True)}

    def describe_radius(self, radii: Sequence[float]) -> str:
        """The radii as a person writes them; parse_radius reads it back."""
        edge = [p.to_edge(r) for p, r in zip(self.radii, radii, strict=True)]
        if len(edge) == 1:
            return f"{edge[0]:.12g}"
        return ",".join(f"{p.name}={v:.12g}" for p, v in zip(self.radii, edge, strict=True))

    def __str__(self) -> str:
        return self.name


def _named_values(radius: RadiusInput, parameters: Sequence[Parameter], owner: str) -> list[float]:
    names = [p.name for p in parameters]
    wanted = ",".join(f"{n}=..." for n in names) if len(names) > 1 else "one number"
    complaint = InvalidValue(f"cannot read {radius!r} as the radius of {owner}; give {wanted}")
    given: Any = radius
    if isinstance(given, str):
        pieces = [piece.strip() for piece in given.split(",")]
        try:
            if all("=" in piece for piece in pieces):
                pairs = [piece.split("=", 1) for piece in pieces]
                if len({key.strip() for key, _ in pairs}) != len(pairs):
                    raise complaint
                given = {key.strip(): float(value) for key, value in pairs}
            else:
                given = [float(piece) for piece in pieces]
        except ValueError as error:
            raise complaint from error
    if isinstance(given, Mapping):
        if set(given) != set(names):
            raise complaint
        given = [given[name] for name in names]
    elif isinstance(given, int | float):
        given = [given]
    try:
        values = [float(value) for value in given]
    except (TypeError, ValueError) as error:
        raise complaint from error
    if len(values) != len(names):
        raise complaint
    return values


def axis_order(axis: Axis) -> tuple[int, int, int]:
    """The indices (u, v, k) of the two coordinates across the axis and of the axis; right-handed."""
    k = AXES.index(axis)
    return (k + 1) % 3, (k + 2) % 3, k


def split_axis(points: Tensor, axis: Axis) -> tuple[Tensor, Tensor, Tensor]:
    """The coordinates (u, v) across the axis and the height h along it."""
    u, v, k = axis_order(axis)
    return points[..., u], points[..., v], points[..., k]


def split_forms(cloud: CloudForm, axis: Axis) -> CloudForm:
    """The coordinates (u, v) across the axis and the height h along it."""
    u, v, k = axis_order(axis)
    return cloud[u], cloud[v], cloud[k]


def join_forms(u: Form, v: Form, h: Form, axis: Axis) -> CloudForm:
    """The inverse of split_forms."""
    by_index = dict(zip(axis_order(axis), (u, v, h), strict=True))
    return by_index[0], by_index[1], by_index[2]


def join_axis(u: Tensor, v: Tensor, h: Tensor, axis: Axis) -> Tensor:
    """The inverse of split_axis."""
    by_index = dict(zip(axis_order(axis), torch.broadcast_tensors(u, v, h), strict=True))
    return torch.stack([by_index[i] for i in range(3)], dim=-1)


def glsl_about(axis: Axis, lines: str) -> str:
    """Lines for a shader that move `q`, a point as (u, v, h) of split_axis, between its way there and back."""
    there, back = {"x": ("yzx", "zxy"), "y": ("zxy", "yzx"), "z": ("xyz", "xyz")}[axis]
    return f"vec3 q = p.{there}; {lines} return q.{back};"
