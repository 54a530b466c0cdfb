"""Linear maps near the identity: p goes to (I + A) p; composable, not additive."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tpc_core.lazy_torch import torch
from tpc_core.transforms.base import AXES, Array, Category, Parameter, Reach, Transform
from tpc_core.transforms.forms import CloudForm, Form
from tpc_core.transforms.region import Ball
from tpc_core.transforms.so3 import rotate

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class LinearReach(Reach):
    """A change dA moves the cloud by exactly ||dA C^(1/2)||_F, C = sum p_i p_i^T."""

    gram: tuple[tuple[float, ...], ...]

    def __call__(self, centre: Array, low: Array, high: Array, span: Array) -> Array:
        gram = np.asarray(self.gram)
        far = np.maximum(high - centre, centre - low).reshape(-1, 3, 1, 3)
        signs = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
        corners = far * signs
        # Each row of dA adds a convex form of its own, so its worst case is one of its own corners.
        rows = np.einsum("mrci,ij,mrcj->mrc", corners, gram, corners).max(axis=2)
        widest = np.sqrt(max(float(np.linalg.eigvalsh(gram)[-1]), 0.0))
        return np.asarray(np.minimum(np.sqrt(rows.sum(axis=1)), span * widest))


@dataclass(frozen=True)
class Linear(Transform):
    """Multiply every point by I + A; z holds the nine entries of A, row by row."""

    category = Category.COMPOSABLE
    paper_radii = ((0.1,), (0.2,))

    @property
    def name(self) -> str:
        return "linear"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return tuple(Parameter(f"a-{i}{j}", "", -0.5, 0.5, 0.01, 0.95) for i in AXES for j in AXES)

    @property
    def radii(self) -> tuple[Parameter, ...]:
        return (Parameter("frobenius", "", 0.0, 0.5, 0.01, 0.95),)

    def apply(self, points: Tensor, z: Tensor) -> Tensor:
        return rotate(points, _matrix(z))

    def enclose(self, cloud: CloudForm, z: Sequence[Form]) -> CloudForm:
        x, y, h = cloud
        rows = [z[3 * i] * x + z[3 * i + 1] * y + z[3 * i + 2] * h for i in range(3)]
        return x + rows[0], y + rows[1], h + rows[2]

    @property
    def glsl(self) -> str:
        return "return p + mat3(z[0], z[3], z[6], z[1], z[4], z[7], z[2], z[5], z[8]) * p;"

    def inverse(self, z: Tensor) -> Tensor:
        return torch.flatten(torch.linalg.inv(_matrix(z)) - torch.eye(3).to(z), -2)

    def compose(self, first: Tensor, second: Tensor) -> Tensor:
        return torch.flatten(_matrix(second) @ _matrix(first) - torch.eye(3).to(first), -2)

    def region(self, radii: Sequence[float]) -> Ball:
        return Ball(radii[0], 9)

    def reach(self, points: Array) -> LinearReach:
        return LinearReach(tuple(tuple(float(v) for v in row) for row in points.T @ points))


def _matrix(z: Tensor) -> Tensor:
    return torch.eye(3, dtype=z.dtype, device=z.device) + z.reshape(*z.shape[:-1], 3, 3)


TRANSFORMS = (Linear(),)
