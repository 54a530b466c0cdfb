"""DGCNN (Wang et al., ACM TOG 2019): edge convolutions over neighbours found anew in feature space."""

from __future__ import annotations

from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tpc_core.errors import unknown_name
from tpc_core.models.canonical import CANONICAL
from tpc_core.models.layers import NormedLinear
from tpc_core.models.neighbours import largest_around, nearest
from tpc_core.models.pooled import norm_map

SLOPE = 0.2


class EdgeConvolution(nn.Module):
    """The max over neighbours j of leaky_relu(norm(W [x_j - x_i, x_i])); (B, N, K) -> (B, N, C)."""

    def __init__(self, inputs: int, outputs: int, neighbours: int) -> None:
        super().__init__()
        self.neighbours = neighbours
        self.edge = NormedLinear(2 * inputs, outputs)

    def forward(self, features: Tensor) -> Tensor:
        index = nearest(features.detach(), self.neighbours)
        # W [x_j - x_i, x_i] = A x_j + (B - A) x_i: one product per point, not one per edge.
        of_other, of_own = self.edge.linear.weight.chunk(2, dim=1)
        other, own = features @ of_other.T, features @ (of_own - of_other).T
        scale, shift = norm_map(self.edge.norm, lambda: edge_moments(other, own, index), index.numel())
        # What x_i contributes and the activation are monotone: the max comes first, and no edge is ever held.
        return F.leaky_relu(largest_around(other * scale, index) + (own * scale + shift), SLOPE)


def edge_moments(other: Tensor, own: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and variance of other_j + own_i over all edges, from sums over points; (B, N, C), (B, N, k) -> (C,)."""
    clouds, num_points, neighbours = index.shape
    linked = other.new_zeros(clouds, num_points, num_points).scatter_(2, index, 1.0)
    weight = linked.sum(dim=1).unsqueeze(2) / index.numel()  # the share of edges that lead to a point
    mean_other, mean_own = (weight * other).sum(dim=(0, 1)), own.mean(dim=(0, 1))
    other, own = other - mean_other, own - mean_own
    both = own * (own * neighbours + 2 * (linked @ other))
    variance = (weight * other.square()).sum(dim=(0, 1)) + both.sum(dim=(0, 1)) / index.numel()
    return mean_other + mean_own, variance.clamp_min(0)


class DGCNN(nn.Module):
    """Edge convolutions 64-64-128-256, joined to 1,024, max and mean, 512-256-classes.

    (B, N, 3) -> (B, classes).
    """

    def __init__(
        self,
        classes: int,
        *,
        neighbours: int = 20,
        wide: int = 1024,
        canonical: str = "none",
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        if canonical not in CANONICAL:
            raise unknown_name("canonical pose", canonical, list(CANONICAL))
        self.canonical = canonical
        widths = [3, 64, 64, 128, 256]
        self.edges = nn.ModuleList(EdgeConvolution(a, b, neighbours) for a, b in pairwise(widths))
        self.join = NormedLinear(sum(widths[1:]), wide)
        self.hidden = nn.ModuleList([NormedLinear(2 * wide, 512), NormedLinear(512, 256)])
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(256, classes)

    def forward(self, points: Tensor) -> Tensor:
        features = CANONICAL[self.canonical](points)
        stages = []
        for edge in self.edges:
            features = edge(features)
            stages.append(features)
        joined = F.leaky_relu(self.join(torch.cat(stages, dim=2)), SLOPE)
        features = torch.cat([joined.amax(dim=1), joined.mean(dim=1)], dim=1)
        for layer in self.hidden:
            features = self.dropout(F.leaky_relu(layer(features), SLOPE))
        logits: Tensor = self.output(features)
        return logits
