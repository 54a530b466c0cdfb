"""A classifier that is sure and costs next to nothing, so that the paper's millions of votes can be cast for real."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from tpc_core import Cloud, CoordinateSmoothing
from tpc_core.smoothing import Smoothing


@dataclass(frozen=True)
class HalfSpace:
    """Class "near" on one side of a plane `margin` away from the cloud; its smoothed probabilities are known."""

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
