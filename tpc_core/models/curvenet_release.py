"""CurveNet as its authors released it (tiangexiang/CurveNet), so that their weights give their answers.

The layers are those of `CurveNet`; four things about the release are its own. A walk may step to 20 neighbours beside
the point itself. Coarser stages begin at the first point and take the first 20 points in a ball. The numbers of points
are fixed (1,024, 1,024, 256, 64), whatever the size of the cloud. And the two shares of momentum are read across the
curves of a cloud: the release lays out (2, curves) and reads (curves, 2). That makes the order of the curves matter,
which the release leaves open; here the curve with the highest score comes first.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tpc_core.errors import unknown_name
from tpc_core.models.curvenet import Block, FirstFeatures, Surroundings
from tpc_core.models.curves import Walk
from tpc_core.models.layers import RowLayer
from tpc_core.models.neighbours import farthest_from_first, gather, largest_around, nearest
from tpc_core.models.pointnet2 import in_ball

NEIGHBOURS = 20
STAGES = ((1024, 64, 0.05), (1024, 128, 0.05), (256, 256, 0.1), (64, 512, 0.2))
"""Of each stage: how many points, how wide, and the radius that its points gather from."""
CURVES: dict[str, tuple[tuple[int, int] | None, ...]] = {
    "default": ((100, 5), (100, 5), None, None),
    "long": ((10, 30), None, None, None),
}
"""The release's two settings: how many curves a stage walks, and how many steps."""


class ReleasedWalk(Walk):
    """The walk of the release."""

    def blend(self, here: Tensor, state: Tensor, curves: int) -> Tensor:
        shares = super().blend(here, state, curves).view(-1, curves, 2)
        return shares.transpose(1, 2).reshape(-1, 2)


class ReleasedCurveNet(nn.Module):
    """(B, N, 3) -> (B, classes); made for 1,024 points, which it was trained on."""

    def __init__(self, classes: int, *, curves: str = "default") -> None:
        super().__init__()
        if curves not in CURVES:
            raise unknown_name("setting of curves", curves, list(CURVES))
        self.first = FirstFeatures(32)
        self.blocks = nn.ModuleList()
        width = 32
        for (_, wide, _), walked in zip(STAGES, CURVES[curves], strict=True):
            self.blocks.append(Block(width, wide, 2, walked, ReleasedWalk))
            self.blocks.append(Block(wide, wide, 4, walked, ReleasedWalk))
            width = wide
        self.last = RowLayer(width, 1024)
        self.hidden = RowLayer(2048, 512)
        self.dropout = nn.Dropout(0.5)
        self.output = nn.Linear(512, classes)

    def forward(self, points: Tensor) -> Tensor:
        around = _surroundings(points)
        features = self.first(around)
        for number, (count, _, radius) in enumerate(STAGES):
            if count < points.shape[1]:
                centres = gather(points, farthest_from_first(points, count))
                features = largest_around(features, in_ball(points, centres, radius, NEIGHBOURS))
                points, around = centres, _surroundings(centres)
            for block in self.blocks[2 * number : 2 * number + 2]:
                features = block(features, around)
        clouds, count, width = features.shape
        features = self.last(features.reshape(-1, width)).view(clouds, count, -1)
        pooled = torch.cat([features.amax(dim=1), features.mean(dim=1)], dim=1)
        logits: Tensor = self.output(self.dropout(self.hidden(pooled)))
        return logits


def _surroundings(points: Tensor) -> Surroundings:
    """20 neighbours to look at, the point among them, and 20 others to walk to."""
    index = nearest(points, NEIGHBOURS + 1)
    return Surroundings(points, index[..., :NEIGHBOURS], index[..., 1:])
