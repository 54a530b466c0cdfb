"""The small blocks that all point networks here are made of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch.nn.functional as F
from torch import Tensor, nn

from tpc_core.models.pooled import running_map


class RowLayer(nn.Module):
    """Linear, BatchNorm and ReLU on rows, be they points or clouds; (R, K) -> (R, C).

    The linear part has no bias, because BatchNorm would subtract it again.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=False)
        self.norm = nn.BatchNorm1d(outputs)

    def forward(self, rows: Tensor) -> Tensor:
        return F.relu_(self.norm(self.linear(rows)))


class NormedLinear(nn.Module):
    """Linear and BatchNorm over the last axis, whatever the axes before it; (..., K) -> (..., C)."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=False)
        self.norm = nn.BatchNorm1d(outputs)

    def norm_rows(self, features: Tensor) -> Tensor:
        """The BatchNorm alone."""
        normed: Tensor = self.norm(features.reshape(-1, features.shape[-1]))
        return normed.view(features.shape)

    def forward(self, features: Tensor) -> Tensor:
        if self.training:
            return self.norm_rows(self.linear(features))
        scale, shift = running_map(self.norm)
        return F.linear(features, self.linear.weight * scale.unsqueeze(1), shift)


def row_layers(widths: Sequence[int]) -> nn.ModuleList:
    """A chain of RowLayers, one for each step between neighbouring widths."""
    return nn.ModuleList(RowLayer(a, b) for a, b in pairwise(widths))


class Head(nn.Module):
    """The classifier on top of the pooled features: 512-256-classes, with dropout before the last layer."""

    def __init__(
        self, inputs: int, outputs: int, widths: Sequence[int] = (512, 256), dropout: float = 0.3
    ) -> None:
        super().__init__()
        self.hidden = row_layers([inputs, *widths])
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(widths[-1], outputs)

    def forward(self, features: Tensor) -> Tensor:
        for layer in self.hidden:
            features = layer(features)
        logits: Tensor = self.output(self.dropout(features))
        return logits
