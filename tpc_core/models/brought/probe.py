"""Clouds to try a network on."""

from __future__ import annotations

import torch
from torch import Tensor

USUAL_POINTS = 64
"""Points of the clouds that a network of any size is tried on."""


def probe(count: int, size: int) -> Tensor:
    """Clouds to try a network on: ellipsoids of different proportions, the same ones for ever."""
    generator = torch.Generator().manual_seed(0)
    directions = torch.randn(count, size, 3, generator=generator)
    stretch = 0.3 + 0.7 * torch.rand(count, 1, 3, generator=generator)
    clouds: Tensor = 0.99 * stretch * directions / directions.norm(dim=2, keepdim=True).clamp_min(1e-6)
    return clouds
