"""How many model evaluations does a cover take? The paper's protocol against the adaptive one.

Both run for real, on the same cloud, to the same verdict. The confident model is a half-space whose smoothed
probabilities are known, so that the paper's millions of votes take minutes; the shipped PointNet is beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from tpc_core import (
    Certificate,
    Cloud,
    CoordinateSmoothing,
    Options,
    certify,
    load_model,
    load_object,
    parse_transform,
)
from tpc_core.covers.paper import SAMPLES, cell_count, feasible_resolution
from tpc_core.smoothing import Smoothing

OBJECT = "gallery:airplane-1"
CASES = (
    ("z-taper", "0.2"),
    ("z-taper+z-rotation", "taper=0.2,rotation=1"),
    ("z-twist+z-taper+z-rotation", "twist=20,taper=0.2,rotation=1"),
    ("general-rotation", "15"),
)
_QUICK_LIMIT = 1_000_000


@dataclass(frozen=True)
class HalfSpace:
    """A classifier that is sure: class "near" on one side of a plane `margin` away from the cloud."""

    cloud: Cloud
    margin: float = 2.5
    smoothing: Smoothing = field(default_factory=lambda: CoordinateSmoothing(0.1))
    name: str = "half-space"
    digest: str = "half-space"
    classes: tuple[str, ...] = ("near", "far")
    task: str = "classification"

    def classifier(self, device: torch.device | str = "cpu") -> Callable[[Tensor], Tensor]:
        generator = torch.Generator().manual_seed(0)
        normal = torch.randn(3 * len(self.cloud), generator=generator)
        normal /= normal.norm()
        offset = self.cloud.points.flatten() @ normal + self.margin

        def logits(clouds: Tensor) -> Tensor:
            lead = offset - clouds.flatten(1) @ normal
            return torch.stack([lead, -lead], dim=1)

        return logits


def measure(*, quick: bool) -> list[str]:
    """Print and return the table."""
    cloud = load_object(OBJECT, points=64)
    pointnet = load_model("pointnet64-noise")
    lines = [
        "## Votes to certify a region",
        "",
        f"`{OBJECT}`, 64 points, sigma 0.1, alpha 0.001. The paper's grid has the smallest M that can certify.",
        "",
        "| transform | radius | paper: cells x 10,000 | verdict | adaptive, same model | verdict | ratio "
        "| adaptive, PointNet | verdict |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, radius in CASES:
        lines.append(_row(name, radius, cloud, pointnet, quick=quick))
        print(lines[-1], flush=True)
    return lines


def _row(name: str, radius: str, cloud: Cloud, pointnet: object, *, quick: bool) -> str:
    half_space = HalfSpace(cloud)
    transform = parse_transform(name)
    radii = transform.parse_radius(radius)
    resolution = feasible_resolution(transform, radii, cloud.points.double().numpy(), 0.1, 0.001)
    planned = SAMPLES * cell_count(transform, radii, resolution)
    ours = certify(half_space, cloud, name, radius)
    real = certify(pointnet, cloud, name, radius)  # type: ignore[arg-type]
    if quick and planned > _QUICK_LIMIT:
        paper, votes = "not run", planned
    else:
        theirs: Certificate = certify(half_space, cloud, name, radius, Options(protocol="paper"))
        paper, votes = theirs.verdict, theirs.samples
    return (
        f"| {name} | {radius} | {votes:,} | {paper} | {ours.samples:,} | {ours.verdict} | {votes / ours.samples:,.0f}x "
        f"| {real.samples:,} | {real.verdict} |"
    )
