"""PointNet++ (Qi et al., NeurIPS 2017) for classification, in plain torch operations.

Layers carry the names of the common public release (Pointnet_Pointnet2_pytorch, yanx27), so that its weights load as
they are. One thing differs: that release begins its farthest-point samples at a random point, which makes the answer
to a cloud random; here they begin at the first one, as the compiled operators of the paper do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tpc_core.errors import unknown_name
from tpc_core.models.neighbours import farthest_from_first, gather


@dataclass(frozen=True)
class Scale:
    """One neighbourhood of a stage: how far it reaches, how many points it keeps, and its layers."""

    radius: float
    keep: int
    widths: tuple[int, ...]


@dataclass(frozen=True)
class Stage:
    """A set abstraction: how many centres, and their neighbourhoods."""

    centres: int
    scales: tuple[Scale, ...]


STAGES = {
    "single": (
        Stage(512, (Scale(0.2, 32, (64, 64, 128)),)),
        Stage(128, (Scale(0.4, 64, (128, 128, 256)),)),
    ),
    "multi": (
        Stage(
            512,
            (Scale(0.1, 16, (32, 32, 64)), Scale(0.2, 32, (64, 64, 128)), Scale(0.4, 128, (64, 96, 128))),
        ),
        Stage(
            128,
            (
                Scale(0.2, 32, (64, 64, 128)),
                Scale(0.4, 64, (128, 128, 256)),
                Scale(0.8, 128, (128, 128, 256)),
            ),
        ),
    ),
}
"""Single-scale (SSG) and multi-scale grouping (MSG)."""

LAST = (256, 512, 1024)


class Layers(nn.Module):
    """Shared layers with BatchNorm and ReLU on (B, C, k, S), then the max over the k neighbours."""

    def __init__(self, widths: Sequence[int]) -> None:
        super().__init__()
        self.mlp_convs = nn.ModuleList(nn.Conv2d(a, b, 1) for a, b in pairwise(widths))
        self.mlp_bns = nn.ModuleList(nn.BatchNorm2d(b) for b in widths[1:])

    def forward(self, grouped: Tensor) -> Tensor:
        for convolution, norm in zip(self.mlp_convs, self.mlp_bns, strict=True):
            grouped = F.relu(norm(convolution(grouped)))
        return grouped.amax(dim=2)


class ManyScales(nn.Module):
    """The layers of several neighbourhoods side by side; their features are joined."""

    def __init__(self, inputs: int, scales: Sequence[Scale]) -> None:
        super().__init__()
        stacks = [[inputs + 3, *scale.widths] for scale in scales]
        self.conv_blocks = nn.ModuleList(
            nn.ModuleList(nn.Conv2d(a, b, 1) for a, b in pairwise(widths)) for widths in stacks
        )
        self.bn_blocks = nn.ModuleList(
            nn.ModuleList(nn.BatchNorm2d(b) for b in widths[1:]) for widths in stacks
        )

    def forward(self, grouped: Sequence[Tensor]) -> Tensor:
        joined = []
        for features, convolutions, norms in zip(grouped, self.conv_blocks, self.bn_blocks, strict=True):
            assert isinstance(convolutions, nn.ModuleList)
            assert isinstance(norms, nn.ModuleList)
            for convolution, norm in zip(convolutions, norms, strict=True):
                features = F.relu(norm(convolution(features)))
            joined.append(features.amax(dim=2))
        return torch.cat(joined, dim=1)


class PointNet2(nn.Module):
    """(B, N, 3) -> (B, classes); `grouping` is "single" or "multi"."""

    def __init__(self, classes: int, *, grouping: str = "single") -> None:
        super().__init__()
        if grouping not in STAGES:
            raise unknown_name("grouping", grouping, list(STAGES))
        self.stages = STAGES[grouping]
        self.multi = grouping == "multi"
        first, second = self.stages
        outputs = [sum(scale.widths[-1] for scale in stage.scales) for stage in self.stages]
        self.sa1: nn.Module = (
            ManyScales(0, first.scales) if self.multi else Layers([3, *first.scales[0].widths])
        )
        self.sa2: nn.Module = (
            ManyScales(outputs[0], second.scales)
            if self.multi
            else Layers([outputs[0] + 3, *second.scales[0].widths])
        )
        self.sa3 = Layers([outputs[1] + 3, *LAST])
        self.fc1, self.bn1, self.drop1 = nn.Linear(1024, 512), nn.BatchNorm1d(512), nn.Dropout(0.4)
        self.fc2, self.bn2 = nn.Linear(512, 256), nn.BatchNorm1d(256)
        self.drop2 = nn.Dropout(0.5 if self.multi else 0.4)
        self.fc3 = nn.Linear(256, classes)

    def forward(self, points: Tensor) -> Tensor:
        features: Tensor | None = None
        for stage, layers in zip(self.stages, (self.sa1, self.sa2), strict=True):
            centres = gather(points, farthest_from_first(points, stage.centres))
            grouped = [self._grouped(points, centres, features, scale) for scale in stage.scales]
            features = layers(grouped if self.multi else grouped[0]).transpose(1, 2)
            points = centres
        assert features is not None
        whole = torch.cat([points, features], dim=2).transpose(1, 2).unsqueeze(3)
        rows = self.sa3(whole).squeeze(2)
        rows = self.drop1(F.relu(self.bn1(self.fc1(rows))))
        rows = self.drop2(F.relu(self.bn2(self.fc2(rows))))
        logits: Tensor = self.fc3(rows)
        return logits

    def _grouped(self, points: Tensor, centres: Tensor, features: Tensor | None, scale: Scale) -> Tensor:
        """Neighbours of every centre, relative to it, with their features: (B, C, k, S)."""
        index = in_ball(points, centres, scale.radius, scale.keep)
        relative = gather(points, index) - centres.unsqueeze(2)
        if features is None:
            return relative.permute(0, 3, 2, 1)
        around = gather(features, index)
        # The release joins them in this order for one scale and in the other for several.
        both = [around, relative] if self.multi else [relative, around]
        return torch.cat(both, dim=3).permute(0, 3, 2, 1)


def in_ball(points: Tensor, centres: Tensor, radius: float, keep: int) -> Tensor:
    """The first `keep` points within the radius of every centre, the first of them repeated: (B, S, keep)."""
    count = points.shape[1]
    # The same product form as the release: a point at the very edge must fall on the same side.
    distance = -2 * centres @ points.transpose(1, 2)
    distance += centres.square().sum(dim=2).unsqueeze(2)
    distance += points.square().sum(dim=2).unsqueeze(1)
    number = torch.arange(count, device=points.device).expand(distance.shape)
    number = torch.where(distance > radius**2, count, number)
    index = number.sort(dim=2).values[:, :, :keep]
    first = index[:, :, :1]
    return torch.where(index == count, first, index).clamp_max(count - 1)
