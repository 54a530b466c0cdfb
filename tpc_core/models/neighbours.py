"""Neighbourhoods in a batch of clouds: nearest points, gathering by index, farthest-point subsets."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor


def nearest(points: Tensor, count: int, centres: Tensor | None = None) -> Tensor:
    """The `count` nearest points of every centre; (B, N, D), (B, M, D) -> (B, M, min(count, N))."""
    centres = points if centres is None else centres
    # |c|^2 is the same for all candidates of a centre, so it does not change their order.
    scores = 2 * centres @ points.transpose(1, 2) - points.square().sum(dim=2).unsqueeze(1)
    return scores.topk(min(count, points.shape[1]), dim=2).indices


def flat_rows(index: Tensor, num_points: int) -> Tensor:
    """Indices into all clouds' points one after another; (B, ...) -> (B, ...)."""
    offset = num_points * torch.arange(len(index), device=index.device)
    return index + offset.view(-1, *[1] * (index.ndim - 1))


def gather(features: Tensor, index: Tensor) -> Tensor:
    """Pick rows of each cloud by index; (B, N, C), (B, ...) -> (B, ..., C)."""
    width = features.shape[2]
    flat = flat_rows(index, features.shape[1]).reshape(-1)
    return features.reshape(-1, width).index_select(0, flat).view(*index.shape, width)


class _LargestRows(torch.autograd.Function):
    """The largest of the chosen rows, channel by channel; its gradient goes to the rows that were the largest."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, chosen: Tensor) -> Tensor:
        count, width = chosen.shape[1], rows.shape[1]
        around = rows.index_select(0, chosen.reshape(-1)).view(-1, count, 1, width)
        # As a channels-last image of height k: max_pool2d is vectorised over channels, Tensor.max is not.
        value, place = F.max_pool2d(around.permute(0, 3, 1, 2), (count, 1), return_indices=True)
        ctx.save_for_backward(chosen.gather(1, place.flatten(1)))
        ctx.rows = len(rows)
        return value.flatten(1)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (largest,) = ctx.saved_tensors
        grad = grads[0].contiguous()
        return grad.new_zeros(ctx.rows, grad.shape[1]).scatter_add_(0, largest, grad), None


def largest_around(features: Tensor, index: Tensor) -> Tensor:
    """The max over each point's neighbours; (B, N, C), (B, M, k) -> (B, M, C)."""
    step: Any = _LargestRows  # torch does not type Function.apply
    chosen = flat_rows(index, features.shape[1]).flatten(0, 1)
    largest: Tensor = step.apply(features.flatten(0, 1), chosen)
    return largest.view(*index.shape[:2], -1)


def farthest_subset(points: Tensor, count: int) -> Tensor:
    """A farthest-point sample of every cloud, from the point farthest out; (B, N, 3) -> (B, count)."""
    out = (points - points.mean(dim=1, keepdim=True)).square().sum(dim=2)
    return _farthest(points, count, out.argmax(dim=1))


def farthest_from_first(points: Tensor, count: int) -> Tensor:
    """The same, from the first point of the cloud on."""
    return _farthest(points, count, torch.zeros(len(points), dtype=torch.int64, device=points.device))


@torch.no_grad()
def _farthest(points: Tensor, count: int, current: Tensor) -> Tensor:
    nearest_chosen = torch.full(points.shape[:2], torch.inf, dtype=points.dtype, device=points.device)
    rows = torch.arange(len(points), device=points.device)
    chosen = []
    for _ in range(count):
        chosen.append(current)
        distance = (points - points[rows, current].unsqueeze(1)).square().sum(dim=2)
        nearest_chosen = torch.minimum(nearest_chosen, distance)
        current = nearest_chosen.argmax(dim=1)
    return torch.stack(chosen, dim=1)
