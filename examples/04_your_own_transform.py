"""Certify against a transform of your own: how it moves a cloud, and how far at most.

A stretch along z is new here. It needs its parameter (sliders, options and radii follow from it), `apply`, the region
of attacks, and `reach`, the bound that a proof stands on: never too small, or certificates are wrong.
Inside the library a transform is one such file in `tpc_core/transforms/`, and one line in its `__init__`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor, stack

from tpc_core import Transform, certify, load_model, load_object, verify
from tpc_core.transforms import SINGLE, Box, Category, Parameter, Reach
from tpc_core.transforms.base import Array


@dataclass(frozen=True)
class StretchReach(Reach):
    """||phi(x, z) - phi(x, c)|| = |z - c| ||h|| for the heights h of the cloud: exact, so never too small."""

    heights: float

    def __call__(self, centre: Array, low: Array, high: Array, span: Array) -> Array:
        return np.asarray(span * self.heights)


class Stretch(Transform):
    """Multiply every height by one plus the stretch."""

    category = Category.INDIRECT  # two stretches in a row do not add: certified by a cover of cells
    name = "z-stretch"
    parameters = (Parameter("stretch", "", low=-0.5, high=0.5, step=0.01, largest_radius=0.5),)

    def apply(self, points: Tensor, z: Tensor) -> Tensor:
        x, y, h = points.unbind(-1)
        return stack([x, y, h * (1 + z[..., 0, None].to(points))], dim=-1)

    def region(self, radii: Sequence[float]) -> Box:
        return Box((radii[0],))

    def reach(self, points: Array) -> StretchReach:
        return StretchReach(float(np.linalg.norm(points[:, 2])))


SINGLE["z-stretch"] = Stretch()  # from now on "z-stretch" is a name like any other, also to `verify`

certificate = certify(load_model("pointnet64-noise"), load_object("gallery:vase-1"), "z-stretch", 0.15)
print(certificate.verdict.upper(), certificate.sentence)
print("verified:", verify(certificate).verdict)
