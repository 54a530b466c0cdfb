"""Rotation by three Euler angles: about x, then y, then z; composable, not additive."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tpc_core.transforms.base import Array, Category, Parameter, Reach, Transform
from tpc_core.transforms.forms import CloudForm, Form, turn
from tpc_core.transforms.general_rotation import chord, turning_norm
from tpc_core.transforms.region import Box
from tpc_core.transforms.so3 import matrix_from_zyx, rotate, zyx_from_matrix

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class ZYXReach(Reach):
    """omega <= sqrt(da^2 + db^2 + dg^2 + 2 sin(max|beta|) |da dg|) within an Euler box.

    See docs/theory.md, "Covers of rotations".
    """

    turning: float

    def __call__(self, centre: Array, low: Array, high: Array, span: Array) -> Array:
        da, db, dg = np.maximum(high - centre, centre - low).T
        beta = np.max(np.abs([low[:, 1], high[:, 1], centre[:, 1]]), axis=0)
        coupling = 2 * np.sin(np.minimum(beta, np.pi / 2)) * np.abs(da * dg)
        return chord(np.sqrt(da**2 + db**2 + dg**2 + coupling)) * self.turning


@dataclass(frozen=True)
class ZYXRotation(Transform):
    """Turn the cloud about x by gamma, then about y by beta, then about z by alpha."""

    category = Category.COMPOSABLE
    paper_radii = ((2.0,), (5.0,))

    @property
    def name(self) -> str:
        return "zyx-rotation"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return (
            Parameter("alpha", "deg", -180.0, 180.0, 1.0, 90.0),
            Parameter("beta", "deg", -90.0, 90.0, 1.0, 90.0),
            Parameter("gamma", "deg", -180.0, 180.0, 1.0, 90.0),
        )

    @property
    def radii(self) -> tuple[Parameter, ...]:
        return (Parameter("angle", "deg", 0.0, 90.0, 1.0, 90.0),)

    def apply(self, points: Tensor, z: Tensor) -> Tensor:
        return rotate(points, matrix_from_zyx(z))

    def enclose(self, cloud: CloudForm, z: Sequence[Form]) -> CloudForm:
        x, y, h = cloud
        y, h = turn(y, h, z[2])
        h, x = turn(h, x, z[1])
        x, y = turn(x, y, z[0])
        return x, y, h

    @property
    def glsl(self) -> str:
        about_x = "p.yz = tpcTurn(p.yz, z[2]);"
        return f"{about_x} p.zx = tpcTurn(p.zx, z[1]); p.xy = tpcTurn(p.xy, z[0]); return p;"

    def inverse(self, z: Tensor) -> Tensor:
        return zyx_from_matrix(matrix_from_zyx(z).transpose(-1, -2))

    def compose(self, first: Tensor, second: Tensor) -> Tensor:
        return zyx_from_matrix(matrix_from_zyx(second) @ matrix_from_zyx(first))

    def region(self, radii: Sequence[float]) -> Box:
        return Box((radii[0],) * 3)

    def turning_angle(self, radii: Sequence[float]) -> float:
        """That of the corner with beta of the other sign than alpha gamma: the trace of the matrix is least there.

        From a quarter turn on the box holds half turns. Near zero the arccosine cancels; its series does not, and
        phi sqrt(3 + 2 sin phi) lies above it.
        """
        phi = radii[0]
        if phi >= math.pi / 2:
            return math.pi
        if phi < math.radians(0.1):
            return phi * math.sqrt(3 + 2 * math.sin(phi)) * (1 + 1e-12)
        cos, sin = math.cos(phi), math.sin(phi)
        return min(math.acos(max((3 * cos**2 - sin**3 - 1) / 2, -1.0)) * (1 + 1e-12), math.pi)

    def reach(self, points: Array) -> ZYXReach:
        return ZYXReach(turning_norm(points))


TRANSFORMS = (ZYXRotation(),)
