"""What is to be settled: one network, one cloud, one label, one region of parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from tpc_core.bounds.margins import CellMargins, classifier_margins
from tpc_core.bounds.network import Network
from tpc_core.errors import InvalidValue, UnsupportedRequest
from tpc_core.exact.cells import Array, Cells
from tpc_core.machinery.thread_pool import share_out
from tpc_core.transforms import Region, Transform

ROWS = 512
"""Points that go through the network together on one core: their activations stay in its cache."""
NEARLY = 0.01
"""Margins below this in float32, which errs by some 1e-5, are looked at in float64."""
CLEAR = 1e-9
"""A counterexample's margin must be this far below zero: far more than float64 can lose."""


@dataclass(frozen=True)
class Counterexample:
    """An attack of the region under which the network, evaluated in float64, answers another class."""

    z: tuple[float, ...]
    rival: int
    margin: float
    """logit[label] - logit[rival] < 0."""


@dataclass(frozen=True)
class Problem:
    """Does the network answer `label` for phi(x, z) at every z of the region? points: (N, 3) float32."""

    network: Network
    transform: Transform
    points: Tensor
    region: Region
    label: int

    def __post_init__(self) -> None:
        require_classes(self.network)
        check_dimensions(self.transform, self.region)

    @cached_property
    def exact_points(self) -> Tensor:
        return self.points.to(torch.float64)

    def bound(self, cells: Cells) -> tuple[CellMargins, Array]:
        """The margins of every cell, and how far each of its sides moves the cloud (M, d); both cores at work."""
        low, high = (torch.from_numpy(edge) for edge in self.trimmed(cells))
        chunks = pieces(len(cells), len(self.points))

        def one(chunk: slice) -> tuple[CellMargins, Tensor]:
            with torch.inference_mode():
                form = self.transform.form(self.points, low[chunk], high[chunk])
                return classifier_margins(self.network, form, self.label), side_lengths(form.generators)

        found = list(share_out(one, chunks, crew="exact"))
        margins = CellMargins(
            *(torch.cat([getattr(m, name) for m, _ in found]) for name in ("lower", "middle", "slopes"))
        )
        return margins, torch.cat([sides for _, sides in found]).numpy()

    def trimmed(self, cells: Cells) -> tuple[Array, Array]:
        """The smallest boxes around cell and region together: what is bounded of every cell."""
        return self.region.trim(*cells.edges(self.region))

    def attack(self, z: Array) -> Counterexample | None:
        """The clearest counterexample among parameters (M, d); those outside the region do not count."""
        wrong = self.wrong_at(z)
        return min(wrong, key=lambda found: found.margin) if wrong else None

    def wrong_at(self, z: Array) -> list[Counterexample]:
        """All counterexamples among parameters (M, d); those outside the region do not count."""
        z = z[self.region.contains(z)]
        clouds = self.transform.apply(self.exact_points, torch.from_numpy(z))
        worst, _ = self._margins(self.network.estimate(clouds)) if len(z) else (torch.zeros(0), None)
        # What float32 puts clearly on the right side is no counterexample in float64 either.
        near = worst < NEARLY
        if not bool(near.any()):
            return []
        z = z[near.numpy()]
        worst, rivals = self._margins(self.network.evaluate(clouds[near]))
        return [
            Counterexample(tuple(z[k].tolist()), int(rivals[k]), float(worst[k]))
            for k in torch.nonzero(worst < -CLEAR).flatten().tolist()
        ]

    def _margins(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """The margin (M,) to the nearest rival, and which one it is."""
        margins = logits[:, self.label, None] - logits
        margins[:, self.label] = torch.inf
        worst, rivals = margins.min(dim=1)
        return worst, rivals


def pieces(cells: int, points: int) -> list[slice]:
    """The cells in pieces of ROWS points, or of one cell where it has more."""
    step = max(1, ROWS // points)
    return [slice(start, start + step) for start in range(0, cells, step)]


def require_classes(network: Network) -> None:
    """A network that labels points gives no class to the whole cloud."""
    if network.segments:
        raise UnsupportedRequest("this network labels points, not clouds; ask for its parts (PartsProblem)")


def check_dimensions(transform: Transform, region: Region) -> None:
    """A region of another transform's parameters would be settled for nothing."""
    if region.dim != transform.dim:
        raise InvalidValue(f"{transform.name} has {transform.dim} parameters, the region {region.dim}")


def side_lengths(generators: Tensor) -> Tensor:
    """How far each parameter (M, d) moves the cloud from the centre of its cell to the end."""
    norms: Tensor = torch.linalg.vector_norm(generators.flatten(2), dim=2)
    return norms


def first_places(region: Region, count: int) -> Array:
    """Parameters worth a look before any cell: the identity, corners and tips, and some spread over the region."""
    spread = region.sample(count, np.random.default_rng(0))
    if region.dim == 1:
        spread = np.linspace(-1.0, 1.0, count)[:, None] * region.half_widths
    return np.concatenate([np.zeros((1, region.dim)), region.extremes(), spread])
