"""A brought network behind our interface: (B, N, 3) in, logits out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from tpc_core.errors import InvalidValue
from tpc_core.models.card import Frame


class Adapter(nn.Module):
    """Someone's network, shown clouds as its frame says. What it does to a cloud is part of the base classifier h."""

    def __init__(self, network: nn.Module | Callable[[Tensor], Any], frame: Frame) -> None:
        super().__init__()
        self.network = network
        self.frame = frame

    def forward(self, points: Tensor) -> Tensor:
        frame = self.frame
        if frame.points is not None and points.shape[1] != frame.points:
            raise InvalidValue(
                f"this network takes clouds of {frame.points} points and no others, not of {points.shape[1]}"
            )
        given = shown(points, frame)
        if frame.batch is None:
            return self.ask(given)
        pieces = []
        for start in range(0, len(given), frame.batch):
            piece = given[start : start + frame.batch]
            missing = frame.batch - len(piece)
            full = piece if not missing else torch.cat([piece, piece[-1:].expand(missing, -1, -1)])
            pieces.append(self.ask(full)[: len(piece)])
        return torch.cat(pieces)

    def ask(self, given: Tensor) -> Tensor:
        """The logits of clouds that are in the network's own frame."""
        answer = self.network(given)
        logits: Tensor = answer if self.frame.answer is None else answer[self.frame.answer]
        return logits


def shown(points: Tensor, frame: Frame) -> Tensor:
    """Clouds (B, N, 3), z-up and in the unit ball, as the network is used to see them."""
    if frame.up == "y":
        x, y, z = points.unbind(2)
        points = torch.stack([x, z, -y], dim=2)
    if frame.scale != "ball":
        low, high = points.amin(dim=1, keepdim=True), points.amax(dim=1, keepdim=True)
        size = (high - low).amax(dim=2, keepdim=True).clamp_min(1e-12)
        points = (points - (low + high) / 2) / size * (2.0 if frame.scale == "cube" else 1.0)
    return points.transpose(1, 2).contiguous() if frame.layout == "channels-first" else points
