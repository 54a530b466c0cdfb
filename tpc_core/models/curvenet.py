"""CurveNet (Xiang et al., ICCV 2021): local features, and curves that carry features across the shape.

`CurveNet(classes)` has the widths of the paper; `compact=True` is a narrower network with fewer neighbours
and curves that a CPU can train at 64 points. Clouds of any size pass: stages keep a share of the points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tpc_core.errors import unknown_name
from tpc_core.models.canonical import CANONICAL
from tpc_core.models.curves import CurveAggregation, CurveGrouping, Walk
from tpc_core.models.layers import NormedLinear, RowLayer
from tpc_core.models.neighbours import farthest_subset, gather, largest_around, nearest
from tpc_core.models.pooled import norm_map

SLOPE = 0.2


@dataclass(frozen=True)
class Stage:
    """Two blocks at one resolution: what share of the points is left, how wide, and how far a point looks."""

    share: float
    width: int
    radius: float
    curves: tuple[int, int] | None


PAPER = (
    Stage(1.0, 64, 0.2, (100, 5)),
    Stage(1.0, 128, 0.3, (100, 5)),
    Stage(0.25, 256, 0.5, None),
    Stage(0.0625, 512, 1.0, None),
)
COMPACT = (
    Stage(1.0, 64, 0.5, (16, 5)),
    Stage(0.5, 128, 0.7, (16, 5)),
    Stage(0.25, 256, 1.0, None),
)


@dataclass(frozen=True)
class Surroundings:
    """The points of a stage (B, N, 3), the neighbours of each (B, N, k), itself first, and where a walk may step."""

    points: Tensor
    neighbours: Tensor
    steps: Tensor

    @classmethod
    def of(cls, points: Tensor, count: int) -> Surroundings:
        """The `count` nearest neighbours of every point; a walk steps to all of them but the point itself."""
        neighbours = nearest(points, count)
        return cls(points, neighbours, neighbours[..., 1:])

    @cached_property
    def moments(self) -> tuple[Tensor, Tensor]:
        """Mean (6,) and covariance (6, 6) of all pairs (point, neighbour)."""
        around = gather(self.points, self.neighbours)
        pairs = torch.cat([self.points.unsqueeze(2).expand_as(around), around], dim=3).flatten(0, 2)
        mean = pairs.mean(dim=0)
        pairs = pairs - mean
        return mean, pairs.T @ pairs / len(pairs)


def relative_positions(layer: NormedLinear, around: Surroundings) -> tuple[Tensor, Tensor]:
    """BatchNorm(W [p, q, q - p]) for every point p and neighbour q, as a sum of what q and what p contributes.

    Each (B, N, C). It is affine in p and q, and BatchNorm's statistics follow from the moments of the pairs, so nothing
    is computed pair by pair.
    """
    own, other, difference = layer.linear.weight.chunk(3, dim=1)
    weight = torch.cat([own - difference, other + difference], dim=1)

    def statistics() -> tuple[Tensor, Tensor]:
        mean, covariance = around.moments
        return weight @ mean, ((weight @ covariance) * weight).sum(dim=1).clamp_min(0)

    scale, shift = norm_map(layer.norm, statistics, around.neighbours.numel())
    of_point, of_neighbour = (weight * scale.unsqueeze(1)).chunk(2, dim=1)
    return F.linear(around.points, of_neighbour), F.linear(around.points, of_point, shift)


class FirstFeatures(nn.Module):
    """Features of every point from the positions of its neighbours (LPFA at the input)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.position = NormedLinear(9, width)

    def forward(self, around: Surroundings) -> Tensor:
        of_neighbour, of_point = relative_positions(self.position, around)
        # What p contributes and the activation are monotone: the max comes first.
        return F.leaky_relu(largest_around(of_neighbour, around.neighbours) + of_point, SLOPE)


class LocalFeatures(nn.Module):
    """Local point feature aggregation (LPFA): differences to the neighbours, and their positions."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.position = NormedLinear(9, width)
        self.mix = NormedLinear(width, width)

    def forward(self, features: Tensor, around: Surroundings) -> Tensor:
        of_neighbour, of_point = relative_positions(self.position, around)
        edges = gather(features + of_neighbour, around.neighbours) + (of_point - features).unsqueeze(2)
        local = self.mix(F.leaky_relu_(edges, SLOPE))
        return F.leaky_relu(local, SLOPE).mean(dim=2)


class Block(nn.Module):
    """A curve intervention convolution (CIC): narrow, walk curves, look around, widen, add."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        narrowing: int,
        curves: tuple[int, int] | None,
        walk: type[Walk] = Walk,
    ) -> None:
        super().__init__()
        planes = inputs // narrowing
        self.narrow = NormedLinear(inputs, planes)
        self.grouping = CurveGrouping(planes, *curves, walk) if curves else None
        self.aggregation = CurveAggregation(planes) if curves else None
        self.local = LocalFeatures(planes)
        self.widen = NormedLinear(planes, outputs)
        self.shortcut = NormedLinear(inputs, outputs) if inputs != outputs else None

    def forward(self, features: Tensor, around: Surroundings) -> Tensor:
        """(B, N, C) -> (B, N, C')."""
        narrow = F.leaky_relu(self.narrow(features), SLOPE)
        if self.grouping is not None and self.aggregation is not None and around.steps.shape[2] > 0:
            curves = self.grouping(narrow, around.steps)
            narrow = self.aggregation(narrow, curves)
        wide = self.widen(self.local(narrow, around))
        shortcut = features if self.shortcut is None else self.shortcut(features)
        return F.leaky_relu(wide + shortcut, SLOPE)


def masked_max(features: Tensor, points: Tensor, centres: Tensor, radius: float, neighbours: int) -> Tensor:
    """The max of the features of the points within the radius of each centre, which counts itself."""
    index = nearest(points, neighbours, centres)
    far = (gather(points, index) - centres.unsqueeze(2)).square().sum(dim=3) > radius**2
    index = torch.where(far, index[..., :1], index)
    return largest_around(features, index)


class CurveNet(nn.Module):
    """(B, N, 3) -> (B, classes)."""

    def __init__(
        self,
        classes: int,
        *,
        compact: bool = False,
        neighbours: int | None = None,
        canonical: str = "none",
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        if canonical not in CANONICAL:
            raise unknown_name("canonical pose", canonical, list(CANONICAL))
        self.canonical = canonical
        self.neighbours = neighbours or (10 if compact else 20)
        self.stages = COMPACT if compact else PAPER
        self.first = FirstFeatures(32)
        self.blocks = nn.ModuleList()
        width = 32
        for stage in self.stages:
            self.blocks.append(Block(width, stage.width, 2, stage.curves))
            self.blocks.append(Block(stage.width, stage.width, 4, stage.curves))
            width = stage.width
        self.last = RowLayer(width, width)
        self.hidden = RowLayer(2 * width, width)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(width, classes)

    def forward(self, points: Tensor) -> Tensor:
        points = CANONICAL[self.canonical](points)
        total = points.shape[1]
        around = Surroundings.of(points, self.neighbours)
        features = self.first(around)
        for number, stage in enumerate(self.stages):
            count = max(min(8, total), round(total * stage.share))
            if count < points.shape[1]:
                centres = gather(points, farthest_subset(points, count))
                features = masked_max(features, points, centres, stage.radius, self.neighbours)
                points, around = centres, Surroundings.of(centres, self.neighbours)
            for block in self.blocks[2 * number : 2 * number + 2]:
                features = block(features, around)
        clouds, count, width = features.shape
        features = self.last(features.reshape(-1, width)).view(clouds, count, width)
        pooled = torch.cat([features.amax(dim=1), features.mean(dim=1)], dim=1)
        logits: Tensor = self.output(self.dropout(self.hidden(pooled)))
        return logits
