"""A small model of every kind that votes, with weights that make the votes disagree."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from tpc_core.models import build
from tpc_core.models.folded import fast_path
from tpc_core.smoothing import Smoothing


@dataclass(frozen=True)
class Untrained:
    """A network with random weights, behind the fast path."""

    smoothing: Smoothing
    module: nn.Module
    task: str = "classification"
    name: str = "untrained"
    digest: str = "untrained"
    classes: tuple[str, ...] = tuple("abcdefg")

    def classifier(self, device: torch.device | str = "cpu") -> Callable[[Tensor], Tensor]:
        return fast_path(self.module.to(device))


def untrained(smoothing: Smoothing, *, segmentation: bool = False, canonical: str = "none") -> Untrained:
    module = copy.deepcopy(_settled(segmentation, canonical))
    return Untrained(smoothing, module, "segmentation" if segmentation else "classification")


@functools.cache
def _settled(segmentation: bool, canonical: str) -> nn.Module:
    """BatchNorms that have seen data spread the answers over the classes."""
    torch.manual_seed(5)
    if segmentation:
        module = build("pointnet-segmentation", classes=7, wide=128)
    else:
        module = build("pointnet", classes=7, canonical=canonical)
    with torch.no_grad():
        for _ in range(40):
            module(0.3 * torch.randn(8, 24, 3))
    return module.eval()
