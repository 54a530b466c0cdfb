"""PointMLP (Ma et al., ICLR 2022) for classification, in plain torch operations.

Layers carry the names of the authors' release (pointMLP-pytorch), so that its weights load as they are. One thing
differs: the release divides by the spread of the whole batch, so that the answer to a cloud depends on its company;
here each cloud has a spread of its own, which is what the release computes when it sees one cloud at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from tpc_core.errors import unknown_name
from tpc_core.models.neighbours import farthest_from_first, gather


@dataclass(frozen=True)
class Size:
    """The widths of one of the two published networks."""

    embed: int
    expansion: float
    growth: tuple[int, ...]
    blocks: tuple[int, ...]
    neighbours: int = 24


SIZES = {
    "full": Size(64, 1.0, (2, 2, 2, 2), (2, 2, 2, 2)),
    "elite": Size(32, 0.25, (2, 2, 2, 1), (1, 1, 2, 1)),
}


def _layer(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv1d(inputs, outputs, 1, bias=False), nn.BatchNorm1d(outputs), nn.ReLU())


class Layer(nn.Module):
    """Linear, BatchNorm and ReLU under the release's name."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.net = _layer(inputs, outputs)

    def forward(self, rows: Tensor) -> Tensor:
        answer: Tensor = self.net(rows)
        return answer


class Residual(nn.Module):
    """Two layers that add to what they were given."""

    def __init__(self, width: int, expansion: float) -> None:
        super().__init__()
        middle = int(width * expansion)
        self.net1 = _layer(width, middle)
        self.net2 = nn.Sequential(nn.Conv1d(middle, width, 1, bias=False), nn.BatchNorm1d(width))

    def forward(self, rows: Tensor) -> Tensor:
        return torch.relu(self.net2(self.net1(rows)) + rows)


class Operation(nn.Module):
    """A chain of residual blocks, after a first layer where there is one."""

    def __init__(self, inputs: int | None, width: int, blocks: int, expansion: float) -> None:
        super().__init__()
        if inputs is not None:
            self.transfer = Layer(inputs, width)
        self.operation = nn.Sequential(*(Residual(width, expansion) for _ in range(blocks)))

    def forward(self, rows: Tensor) -> Tensor:
        answer: Tensor = self.operation(self.transfer(rows) if hasattr(self, "transfer") else rows)
        return answer


class Grouper(nn.Module):
    """The nearest points of every centre, relative to it, in units of the cloud's own spread."""

    def __init__(self, width: int, neighbours: int) -> None:
        super().__init__()
        self.neighbours = neighbours
        self.affine_alpha = nn.Parameter(torch.ones(1, 1, 1, width))
        self.affine_beta = nn.Parameter(torch.zeros(1, 1, 1, width))

    def forward(self, points: Tensor, features: Tensor, centres: int) -> tuple[Tensor, Tensor]:
        chosen = farthest_from_first(points, centres)
        new_points, anchors = gather(points, chosen), gather(features, chosen).unsqueeze(2)
        distance = torch.cdist(new_points, points)
        index = distance.topk(min(self.neighbours, points.shape[1]), dim=2, largest=False).indices
        relative = gather(features, index) - anchors
        spread = relative.flatten(1).std(dim=1).view(-1, 1, 1, 1)
        relative = self.affine_alpha * (relative / (spread + 1e-5)) + self.affine_beta
        return new_points, torch.cat([relative, anchors.expand_as(relative)], dim=3)


class PointMLP(nn.Module):
    """(B, N, 3) -> (B, classes); each of the four stages keeps half of the points."""

    def __init__(self, classes: int, *, size: str = "full") -> None:
        super().__init__()
        if size not in SIZES:
            raise unknown_name("size of PointMLP", size, list(SIZES))
        chosen = SIZES[size]
        self.embedding = Layer(3, chosen.embed)
        self.local_grouper_list, self.pre_blocks_list, self.pos_blocks_list = (
            nn.ModuleList(),
            nn.ModuleList(),
            nn.ModuleList(),
        )
        width = chosen.embed
        for growth, blocks in zip(chosen.growth, chosen.blocks, strict=True):
            self.local_grouper_list.append(Grouper(width, chosen.neighbours))
            self.pre_blocks_list.append(Operation(2 * width, width * growth, blocks, chosen.expansion))
            width *= growth
            self.pos_blocks_list.append(Operation(None, width, blocks, chosen.expansion))
        self.classifier = nn.Sequential(
            nn.Linear(width, 512), nn.BatchNorm1d(512), nn.ReLU(), nn.Dropout(0.5),
            nn.Linear(512, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Dropout(0.5), nn.Linear(256, classes),
        )  # fmt: skip

    def forward(self, points: Tensor) -> Tensor:
        features = self.embedding(points.transpose(1, 2)).transpose(1, 2)
        stages = zip(self.local_grouper_list, self.pre_blocks_list, self.pos_blocks_list, strict=True)
        for group, before, after in stages:
            points, grouped = group(points, features, max(1, points.shape[1] // 2))
            clouds, centres, around, width = grouped.shape
            rows = before(grouped.permute(0, 1, 3, 2).reshape(clouds * centres, width, around)).amax(dim=2)
            features = after(rows.view(clouds, centres, -1).transpose(1, 2)).transpose(1, 2)
        logits: Tensor = self.classifier(features.amax(dim=1))
        return logits
