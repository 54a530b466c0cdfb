"""Affine forms: numbers that depend on a few parameters to first order, with a bound of all the rest.

A form stands for the set {centre + sum_j eps_j generators_j + rest : |rest| <= error}, where eps_j in [-1, 1] says
where in the cell the j-th parameter lies; all forms of one cell share the same eps. Sums and products of forms hold
every sum and product of what they stand for, rounding included (float64, outwards), so a transform written with them,
in the words of its own formula, encloses every cloud that it can make of a cell of parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tpc_core.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

UNIT = 2.0**-53
"""Half the distance of 1 to the next float64: the relative error of one rounding."""
ROUNDING = 64 * UNIT
"""What a handful of operations may lose, relative to the magnitudes that enter them."""
UPWARDS = 1 + 128 * UNIT
"""Makes up for the rounding of a bound's own sum of up to a hundred terms."""
TINY = 1e-300
"""Makes up for products that underflow."""


@dataclass(frozen=True)
class Form:
    """One number per point and cell: centre (M, N), generators (M, d, N), error (M, N), all float64.

    A number that all points share has N = 1, one that all cells share M = 1.
    """

    centre: Tensor
    generators: Tensor
    error: Tensor

    @property
    def radius(self) -> Tensor:
        """How far the number can lie from its centre: (M, N), rounded up."""
        return (self.generators.abs().sum(dim=1) + self.error) * UPWARDS

    @property
    def magnitude(self) -> Tensor:
        """The largest absolute value: (M, N), rounded up."""
        return (self.centre.abs() + self.radius) * UPWARDS

    def spread(self, cells: int) -> Form:
        """The same numbers, written out for every cell."""
        return Form(
            self.centre.expand(cells, -1), self.generators.expand(cells, -1, -1), self.error.expand(cells, -1)
        )

    def __neg__(self) -> Form:
        return Form(-self.centre, -self.generators, self.error)

    def __add__(self, other: Form | float) -> Form:
        other = _as_form(other, self)
        scale = self.magnitude + other.magnitude
        generators = self.generators + other.generators
        return widened(self.centre + other.centre, generators, self.error + other.error, scale)

    def __sub__(self, other: Form | float) -> Form:
        return self + (-_as_form(other, self))

    def __mul__(self, other: Form) -> Form:
        """The product to first order; what both deviate at once goes to the error."""
        generators = self.centre.unsqueeze(1) * other.generators + other.centre.unsqueeze(1) * self.generators
        error = self.centre.abs() * other.error + other.centre.abs() * self.error + self.radius * other.radius
        scale = self.magnitude * other.magnitude
        return widened(self.centre * other.centre, generators, error, scale)


CloudForm = tuple[Form, Form, Form]
"""The coordinates x, y and z of every point."""


def widened(centre: Tensor, generators: Tensor, error: Tensor, scale: Tensor) -> Form:
    """The form with room for the rounding of a few operations on numbers of this magnitude."""
    return Form(centre, generators, (error + ROUNDING * scale) * UPWARDS + TINY)


def constant(values: Tensor, parameters: int) -> Form:
    """Numbers (N,) that do not vary at all."""
    centre = values.to(torch.float64).reshape(1, -1)
    return Form(
        centre, centre.new_zeros(1, parameters, centre.shape[1]), centre.new_zeros(1, centre.shape[1])
    )


def parameter_forms(low: Tensor, high: Tensor) -> list[Form]:
    """The parameters themselves over boxes [low, high], each (M, d): one form for each, of N = 1."""
    centre = (low + high) / 2
    half = torch.maximum(high - centre, centre - low) * UPWARDS + TINY
    cells, parameters = low.shape
    forms = []
    for j in range(parameters):
        generators = low.new_zeros(cells, parameters, 1)
        generators[:, j, 0] = half[:, j]
        forms.append(Form(centre[:, j, None], generators, low.new_zeros(cells, 1)))
    return forms


def turn(u: Form, v: Form, angle: Form) -> tuple[Form, Form]:
    """The point (u, v) of a plane, turned by an angle.

    With the angle at c + delta, |delta| <= k, and the point at its centre, u goes to
    x - delta y + x (cos delta - 1) - y (sin delta - delta), where (x, y) is the point turned by c. The third term lies
    in x [-k^2 / 2, 0], the fourth in y [-k^3 / 6, k^3 / 6]. What the point deviates from its centre is turned by c, and
    displaced by at most min(k, 2) times its length.
    """
    cos, sin = torch.cos(angle.centre), torch.sin(angle.centre)
    x, y = cos * u.centre - sin * v.centre, sin * u.centre + cos * v.centre
    k = angle.radius
    apart = torch.hypot(u.radius, v.radius) * torch.clamp(k, max=2.0)
    scale = (u.magnitude + v.magnitude) * (1 + angle.magnitude)
    turned = []
    rows = (
        (x, y, cos, -sin, -y),
        (y, x, sin, cos, x),
    )
    for here, across, along_u, along_v, slope in rows:
        generators = (
            along_u.unsqueeze(1) * u.generators
            + along_v.unsqueeze(1) * v.generators
            + slope.unsqueeze(1) * angle.generators
        )
        sagging = here * k.square() / 4
        error = (
            along_u.abs() * u.error
            + along_v.abs() * v.error
            + across.abs() * (angle.error + k**3 / 6)
            + sagging.abs()
            + apart
        )
        turned.append(widened(here - sagging, generators, error, scale * (1 + k.square())))
    return turned[0], turned[1]


@dataclass(frozen=True)
class InputForm:
    """All clouds that a cell of parameters can make of one cloud.

    centre (M, N, 3), generators (M, d, N, 3), error (M, N, 3), float64.
    """

    centre: Tensor
    generators: Tensor
    error: Tensor

    def __len__(self) -> int:
        return len(self.centre)

    def __getitem__(self, cells: slice) -> InputForm:
        return InputForm(self.centre[cells], self.generators[cells], self.error[cells])

    def take(self, cells: Tensor) -> InputForm:
        """Of these cells alone."""
        return InputForm(self.centre[cells], self.generators[cells], self.error[cells])

    @property
    def box(self) -> tuple[Tensor, Tensor]:
        """The lower and upper ends of every coordinate, (M, N, 3) each, rounded outwards."""
        radius = (self.generators.abs().sum(dim=1) + self.error) * UPWARDS
        spare = ROUNDING * (self.centre.abs() + radius)
        return self.centre - radius - spare, self.centre + radius + spare

    def at(self, places: Tensor) -> Tensor:
        """The cloud of first order at places eps (M, d) in [-1, 1]: (M, N, 3)."""
        return self.centre + torch.einsum("md,mdnk->mnk", places, self.generators)


def input_form(cloud: CloudForm, z: Sequence[Form]) -> InputForm:
    """The form of a transformed cloud, with room for the rounding of a transform computed in float64."""
    spare = 2 * ROUNDING * (1.0 + sum((form.magnitude for form in z), torch.zeros(1, 1)))
    cells = max(len(form.centre) for form in (*cloud, *z))
    size = sum(form.magnitude for form in cloud)
    assert isinstance(size, torch.Tensor)
    forms = [form.spread(cells) for form in cloud]
    return InputForm(
        torch.stack([form.centre for form in forms], dim=-1),
        torch.stack([form.generators for form in forms], dim=-1),
        torch.stack([(form.error + spare * size) * UPWARDS for form in forms], dim=-1),
    )


def _as_form(value: Form | float, like: Form) -> Form:
    if isinstance(value, Form):
        return value
    return constant(torch.tensor([value], dtype=torch.float64), like.generators.shape[1])
