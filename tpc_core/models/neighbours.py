"""Neighbourhoods in a batch of clouds: nearest points, gathering by index, farthest-point subsets."""

from __future__ import annotations

import torch
from torch import Tensor


def nearest(points: Tensor, count: int, centres: Tensor | None = None) -> Tensor:
    """The `count` nearest points of every centre; (B, N, D), (B, M, D) -> (B, M, min(count, N))."""
    centres = points if centres is None else centres
    # |c|^2 is the same for all candidates of a centre, so it does not change their order.
    scores = 2 * centres @ points.transpose(1, 2) - points.square().sum(dim=2).unsqueeze(1)
    return scores.topk(min(count, points.shape[1]), dim=2).indices


def gather(features: Tensor, index: Tensor) -> Tensor:
    """Pick rows of each cloud by index; (B, N, C), (B, ...) -> (B, ..., C)."""
    clouds, num_points, width = features.shape
    offset = num_points * torch.arange(clouds, device=index.device)
    flat = (index + offset.view(-1, *[1] * (index.ndim - 1))).reshape(-1)
    return features.reshape(-1, width).index_select(0, flat).view(*index.shape, width)


@torch.no_grad()
def farthest_subset(points: Tensor, count: int) -> Tensor:
    """A farthest-point sample of every cloud, from the point farthest out; (B, N, 3) -> (B, count)."""
    distance = (points - points.mean(dim=1, keepdim=True)).square().sum(dim=2)
    current = distance.argmax(dim=1)
    nearest_chosen = torch.full_like(distance, torch.inf)
    rows = torch.arange(len(points), device=points.device)
    chosen = []
    for _ in range(count):
        chosen.append(current)
        distance = (points - points[rows, current].unsqueeze(1)).square().sum(dim=2)
        nearest_chosen = torch.minimum(nearest_chosen, distance)
        current = nearest_chosen.argmax(dim=1)
    return torch.stack(chosen, dim=1)
