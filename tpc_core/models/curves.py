"""Curves in a point cloud (Xiang et al., ICCV 2021): guided walks, and what points learn from them."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tpc_core.models.layers import NormedLinear
from tpc_core.models.neighbours import flat_rows


class _Choose(torch.autograd.Function):
    """The row with the largest score, with the gradient of the softmax for the scores (straight-through)."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, rows: Tensor, candidates: Tensor) -> tuple[Tensor, Tensor]:
        best = scores.argmax(dim=1, keepdim=True)
        chosen = candidates.gather(1, best).squeeze(1)
        ctx.save_for_backward(scores, rows, candidates, chosen)
        ctx.mark_non_differentiable(best)
        return rows.index_select(0, chosen), best

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        scores, rows, candidates, chosen = ctx.saved_tensors
        grad = grads[0].contiguous()
        soft = scores.softmax(dim=1)
        around = rows.index_select(0, candidates.reshape(-1)).view(*candidates.shape, -1)
        gain = (around @ grad.unsqueeze(2)).squeeze(2)
        to_scores = soft * (gain - (soft * gain).sum(dim=1, keepdim=True))
        return to_scores, torch.zeros_like(rows).index_add_(0, chosen, grad), None


def choose(scores: Tensor, rows: Tensor, candidates: Tensor) -> tuple[Tensor, Tensor]:
    """The candidate row with the largest score, and its place among them.

    scores (M, k), rows (R, C), candidates (M, k) -> (M, C), (M, 1). Forwards the choice is hard; backwards the scores
    get the gradient of their softmax.
    """
    step: Any = _Choose  # torch does not type Function.apply
    row, best = step.apply(scores, rows, candidates)
    return row, best


class Walk(nn.Module):
    """Grows curves step by step: at each point a learned score chooses the neighbour to go to."""

    def __init__(self, width: int, length: int) -> None:
        super().__init__()
        self.length = length
        self.agent = NormedLinear(2 * width, 1)
        self.momentum = NormedLinear(2 * width, 2)

    def forward(self, features: Tensor, neighbours: Tensor, start: Tensor) -> Tensor:
        """The features along the curves; (B, N, C), (B, N, k), (B, S) -> (B, S, length, C)."""
        rows = features.flatten(0, 1)
        around = flat_rows(neighbours, features.shape[1]).flatten(0, 1)
        position = flat_rows(start, features.shape[1]).flatten()
        # The agent's score is linear in neighbour and state: each point is multiplied once, not once per step.
        of_neighbour, of_state = self.agent.linear.weight.squeeze(0).chunk(2)
        pull = rows @ of_neighbour
        state = here = rows.index_select(0, position)
        curve = []
        for step in range(self.length):
            candidates = around.index_select(0, position)
            if step:
                blend = self.blend(here, state, start.shape[1])
                state = blend[:, :1] * here + blend[:, 1:] * state
            scores = pull.take(candidates) + (state @ of_state).unsqueeze(1)
            scores = self.agent.norm_rows(scores.unsqueeze(2)).squeeze(2)
            if step:
                scores = scores * forwardness(here - state, rows, candidates, here)
            here, best = choose(scores, rows, candidates)
            position = candidates.gather(1, best).squeeze(1)
            curve.append(here)
        return torch.stack(curve, dim=1).view(*start.shape, self.length, -1)

    def blend(self, here: Tensor, state: Tensor, curves: int) -> Tensor:
        """How much of where it is and of where it was a curve goes on with; (M, C), (M, C) -> (M, 2)."""
        shares: Tensor = self.momentum(torch.cat([here, state], dim=1)).softmax(dim=1)
        return shares


@torch.no_grad()
def forwardness(direction: Tensor, rows: Tensor, candidates: Tensor, here: Tensor) -> Tensor:
    """How little a step from here turns back: 0 straight back, 1 from a right angle on (crossover suppression).

    direction (M, C), rows (R, C), candidates (M, k), here (M, C) -> (M, k).
    """
    steps = rows.index_select(0, candidates.reshape(-1)).view(*candidates.shape, -1) - here.unsqueeze(1)
    dot = (steps @ direction.unsqueeze(2)).squeeze(2)
    square: Tensor = direction.square().sum(dim=1, keepdim=True) * steps.square().sum(dim=2)
    forward: Tensor = 1 + dot * square.clamp_min(1e-16).rsqrt()
    return forward.clamp(0, 1)


class CurveGrouping(nn.Module):
    """Chooses where curves start, by a learned score of every point, and walks them."""

    def __init__(self, width: int, curves: int, length: int, walk: type[Walk] = Walk) -> None:
        super().__init__()
        self.curves = curves
        self.attention = nn.Linear(width, 1, bias=False)
        self.walk = walk(width, length)

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
