"""Curves in a point cloud (Xiang et al., ICCV 2021): guided walks, and what points learn from them."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tpc_core.models.layers import NormedLinear
from tpc_core.models.neighbours import gather


def pick_hard(scores: Tensor) -> Tensor:
    """A one-hot vector at the largest score, with the gradient of the softmax (straight-through)."""
    soft = scores.softmax(dim=-1)
    hard = torch.zeros_like(soft).scatter_(-1, soft.argmax(dim=-1, keepdim=True), 1.0)
    return hard + (soft - soft.detach())


class Walk(nn.Module):
    """Grows curves step by step: at each point a learned score chooses the neighbour to go to."""

    def __init__(self, width: int, length: int) -> None:
        super().__init__()
        self.length = length
        self.agent = NormedLinear(2 * width, 1)
        self.momentum = NormedLinear(2 * width, 2)

    def forward(self, features: Tensor, neighbours: Tensor, start: Tensor) -> Tensor:
        """The features along the curves; (B, N, C), (B, N, k), (B, S) -> (B, S, length, C)."""
        position = start
        state = gather(features, start)
        here = state
        curve = []
        for step in range(self.length):
            around_index = gather(neighbours, position)
            around = gather(features, around_index)
            if step:
                blend = self.momentum(torch.cat([here, state], dim=-1)).softmax(dim=-1)
                state = blend[..., :1] * here + blend[..., 1:] * state
            both = torch.cat([around, state.unsqueeze(2).expand_as(around)], dim=-1)
            scores = self.agent(both).squeeze(-1)
            if step:
                scores = scores * forwardness(here - state, around - here.unsqueeze(2))
            choice = pick_hard(scores)
            here = (choice.unsqueeze(2) @ around).squeeze(2)
            position = around_index.gather(2, choice.argmax(dim=2, keepdim=True)).squeeze(2)
            curve.append(here)
        return torch.stack(curve, dim=2)


@torch.no_grad()
def forwardness(direction: Tensor, steps: Tensor) -> Tensor:
    """How little a step turns back: 0 straight back, 1 from a right angle on (crossover suppression).

    direction: (B, S, C), steps: (B, S, k, C) -> (B, S, k).
    """
    dot = (steps @ direction.unsqueeze(-1)).squeeze(-1)
    square: Tensor = direction.square().sum(dim=-1, keepdim=True) * steps.square().sum(dim=-1)
    forward: Tensor = 1 + dot * square.clamp_min(1e-16).rsqrt()
    return forward.clamp(0, 1)


class CurveGrouping(nn.Module):
    """Chooses where curves start, by a learned score of every point, and walks them."""

    def __init__(self, width: int, curves: int, length: int) -> None:
        super().__init__()
        self.curves = curves
        self.attention = nn.Linear(width, 1, bias=False)
        self.walk = Walk(width, length)

    def forward(self, features: Tensor, neighbours: Tensor) -> Tensor:
        """(B, N, C), (B, N, k) -> curves (B, S, length, C)."""
        score = self.attention(features).sigmoid()
        start = score.squeeze(2).topk(min(self.curves, features.shape[1]), dim=1).indices
        curves: Tensor = self.walk(features * score, neighbours, start)
        return curves


class CurveAggregation(nn.Module):
    """Lets every point attend to the curves, as wholes and step by step, and adds what it learns."""

    def __init__(self, width: int) -> None:
        super().__init__()
        middle = max(1, width // 2)
        self.weigh = nn.Linear(width, 1, bias=False)
        self.key_inter = nn.Linear(width, middle, bias=False)
        self.key_intra = nn.Linear(width, middle, bias=False)
        self.query = nn.Linear(width, middle, bias=False)
        self.value_inter = nn.Linear(middle, middle, bias=False)
        self.value_intra = nn.Linear(middle, middle, bias=False)
        self.out = NormedLinear(2 * middle, width)

    def forward(self, features: Tensor, curves: Tensor) -> Tensor:
        """(B, N, C), (B, S, L, C) -> (B, N, C)."""
        weight = self.weigh(curves)
        inter = self.key_inter((curves * weight.softmax(dim=2)).sum(dim=2))
        intra = self.key_intra((curves * weight.softmax(dim=1)).sum(dim=1))
        query = self.query(features)
        from_inter = (query @ inter.transpose(1, 2)).softmax(dim=2) @ self.value_inter(inter)
        from_intra = (query @ intra.transpose(1, 2)).softmax(dim=2) @ self.value_intra(intra)
        learnt = self.out(torch.cat([from_inter, from_intra], dim=2))
        return F.leaky_relu(features + learnt, 0.2)
