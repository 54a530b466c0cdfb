"""PointNet part segmentation (Qi et al., CVPR 2017): a part label for every point."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tpc_core.errors import unknown_name
from tpc_core.models.canonical import CANONICAL
from tpc_core.models.layers import RowLayer, row_layers
from tpc_core.models.pointnet import TNet, apply_matrix
from tpc_core.models.pooled import PooledLayer


class PointNetSegmentation(nn.Module):
    """Every point sees its own features and the cloud's pooled ones; (B, N, 3) -> (B, N, parts).

    Per point 64-64-64-128-1024, max; then [64 local, 128 local, 1024 pooled]-256-128-parts.
    """

    def __init__(
        self, parts: int = 50, *, tnets: bool = False, canonical: str = "none", wide: int = 1024
    ) -> None:
        super().__init__()
        if canonical not in CANONICAL:
            raise unknown_name("canonical pose", canonical, list(CANONICAL))
        self.canonical = canonical
        self.input_tnet = TNet(3) if tnets else None
        self.feature_tnet = TNet(64) if tnets else None
        self.points = row_layers([3, 64, 64, 64, 128])
        self.layers_before_tnet = 2
        self.pool_relu = True
        self.pool = PooledLayer(128, wide)
        self.parts = row_layers([64 + 128 + wide, 256, 128])
        self.output = nn.Linear(128, parts)

    def forward(self, points: Tensor) -> Tensor:
        clouds, num_points = points.shape[:2]
        rows = CANONICAL[self.canonical](points).reshape(-1, 3)
        if self.input_tnet is not None:
            rows = apply_matrix(rows, self.input_tnet(rows, num_points), num_points)
        for layer in self.points[: self.layers_before_tnet]:
            rows = layer(rows)
        if self.feature_tnet is not None:
            rows = apply_matrix(rows, self.feature_tnet(rows, num_points), num_points)
        local = rows
        for layer in self.points[self.layers_before_tnet :]:
            rows = layer(rows)
        pooled = torch.relu(self.pool(rows, num_points))
        rows = self._joined(torch.cat([local, rows], dim=1), pooled, num_points)
        for layer in self.parts[1:]:
            rows = layer(rows)
        logits: Tensor = self.output(rows)
        return logits.view(clouds, num_points, -1)

    def _joined(self, local: Tensor, pooled: Tensor, num_points: int) -> Tensor:
        """The first layer on [local, pooled] of every point; the pooled share is computed once per cloud."""
        first = self.parts[0]
        assert isinstance(first, RowLayer)
        weight = first.linear.weight
        shared = pooled @ weight[:, local.shape[1] :].T
        rows = local @ weight[:, : local.shape[1]].T
        rows = (rows.view(-1, num_points, rows.shape[1]) + shared.unsqueeze(1)).view(rows.shape)
        return torch.relu(first.norm(rows))
