"""PointNet (Qi et al., CVPR 2017) as the TPC paper uses it, with and without T-nets."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tpc_core.errors import unknown_name
from tpc_core.models.canonical import CANONICAL
from tpc_core.models.layers import Head, row_layers
from tpc_core.models.pooled import PooledLayer


class TNet(nn.Module):
    """Predicts a square matrix from a cloud's rows, to be applied to every row; starts as the identity."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.points = row_layers([size, 64, 128])
        self.pool = PooledLayer(128, 1024)
        self.head = Head(1024, size * size, dropout=0.0)
        nn.init.zeros_(self.head.output.weight)
        nn.init.zeros_(self.head.output.bias)

    def forward(self, rows: Tensor, num_points: int) -> Tensor:
        """(B*N, size) -> (B, size, size)."""
        features = rows
        for layer in self.points:
            features = layer(features)
        pooled = torch.relu(self.pool(features, num_points))
        matrix: Tensor = self.head(pooled).view(-1, self.size, self.size)
        return matrix + torch.eye(self.size, dtype=rows.dtype, device=rows.device)


def apply_matrix(rows: Tensor, matrix: Tensor, num_points: int) -> Tensor:
    """Multiply each cloud's rows by its own matrix; (B*N, K), (B, K, K) -> (B*N, K)."""
    return (rows.view(-1, num_points, rows.shape[1]) @ matrix).view(rows.shape)


class PointNet(nn.Module):
    """Per-point 64-64-64-128-1024, max over points, then 512-256-classes; (B, N, 3) -> (B, classes).

    `short` (64-128-1024), `feature_tnet` and `pool_relu=False` are how common public implementations differ;
    `wide` stands for another number than 1024.
    """

    def __init__(
        self,
        classes: int,
        *,
        tnets: bool = False,
        feature_tnet: bool | None = None,
        short: bool = False,
        pool_relu: bool = True,
        wide: int = 1024,
        canonical: str = "none",
        dropout: float = 0.3,
    ) -> None:
        super().__init__()
        if canonical not in CANONICAL:
            raise unknown_name("canonical pose", canonical, list(CANONICAL))
        self.canonical = canonical
        self.input_tnet = TNet(3) if tnets else None
        self.feature_tnet = TNet(64) if (tnets if feature_tnet is None else feature_tnet) else None
        self.points = row_layers([3, 64, 128] if short else [3, 64, 64, 64, 128])
        self.layers_before_tnet = 1 if short else 2
        self.pool_relu = pool_relu
        self.pool = PooledLayer(128, wide)
        self.head = Head(wide, classes, dropout=dropout)

    def forward(self, points: Tensor) -> Tensor:
        num_points = points.shape[1]
        rows = CANONICAL[self.canonical](points).reshape(-1, 3)
        if self.input_tnet is not None:
            rows = apply_matrix(rows, self.input_tnet(rows, num_points), num_points)
        for layer in self.points[: self.layers_before_tnet]:
            rows = layer(rows)
        if self.feature_tnet is not None:
            rows = apply_matrix(rows, self.feature_tnet(rows, num_points), num_points)
        for layer in self.points[self.layers_before_tnet :]:
            rows = layer(rows)
        pooled: Tensor = self.pool(rows, num_points)
        logits: Tensor = self.head(torch.relu(pooled) if self.pool_relu else pooled)
        return logits
