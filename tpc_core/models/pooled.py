"""Linear, BatchNorm and max over points in one step, without ever holding the wide activation.

Almost all arithmetic of a PointNet sits in its last per-point layer (128 -> 1,024) and the max that follows.
Written out, the (B*N, 1024) activation is stored, normalised, and its gradient sent back densely. But:

- the mean and variance of z = W h follow from the mean and covariance of h, so z need not be kept;
- the gradient that reaches z is one entry per (cloud, channel), at the arg max, plus what BatchNorm adds,
  which is affine in h, so both gradients need only h's covariance and a gather.

On one core this makes a training step of the whole network about four times faster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

CHUNK_ROWS = 256
"""Rows of the wide layer that are computed at once: 256 x 1,024 floats stay in the cache."""


def max_over_points(rows: Tensor, weight_t: Tensor, num_points: int) -> tuple[Tensor, Tensor]:
    """The largest value of rows @ weight_t over each cloud's points, and the row that reached it.

    rows: (B*N, K), weight_t: (K, C) -> values (B, C), flat row indices (B, C) int64.
    """
    clouds = rows.shape[0] // num_points
    step = max(1, CHUNK_ROWS // num_points)
    values = rows.new_empty(clouds, weight_t.shape[1])
    arg_max = torch.empty(clouds, weight_t.shape[1], dtype=torch.int64, device=rows.device)
    for start in range(0, clouds, step):
        stop = min(start + step, clouds)
        wide = rows[start * num_points : stop * num_points] @ weight_t
        # As a channels-last image of height N: max_pool2d is vectorised over channels, Tensor.max is not.
        image = wide.view(stop - start, num_points, 1, -1).permute(0, 3, 1, 2)
        value, index = F.max_pool2d(image, (num_points, 1), return_indices=True)
        values[start:stop] = value.flatten(1)
        arg_max[start:stop] = index.flatten(1)
    arg_max += num_points * torch.arange(clouds, device=rows.device).unsqueeze(1)
    return values, arg_max


def scatter_rows(values: Tensor, rows_of: Tensor, weight: Tensor, num_rows: int) -> Tensor:
    """Sum values[b, c] * weight[c] into row rows_of[b, c]; (B, C), (B, C), (C, K) -> (num_rows, K)."""
    flat = rows_of.reshape(-1)
    order = torch.argsort(flat, stable=True)
    first = torch.searchsorted(flat[order], torch.arange(num_rows, device=flat.device))
    # embedding_bag is a fused gather and sum; index_add_ would write every product to memory first.
    return F.embedding_bag(
        order % values.shape[1], weight, first, per_sample_weights=values.reshape(-1)[order], mode="sum"
    )


class _PooledStep(torch.autograd.Function):
    """max over points of BatchNorm(rows @ weight.T) with batch statistics, and its exact gradient."""

    @staticmethod
    def forward(
        ctx: Any, rows: Tensor, weight: Tensor, gamma: Tensor, beta: Tensor, num_points: int, eps: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        mean = rows.mean(dim=0)
        centred = rows - mean
        covariance = centred.T @ centred / rows.shape[0]
        weight_cov = weight @ covariance
        variance = (weight_cov * weight).sum(dim=1).clamp_min(0)
        inv_std = torch.rsqrt(variance + eps)
        scale = gamma * inv_std
        output_mean = weight @ mean
        values, arg_max = max_over_points(rows, (weight * scale.unsqueeze(1)).T.contiguous(), num_points)
        ctx.save_for_backward(rows, weight, mean, weight_cov, inv_std, scale, arg_max)
        ctx.mark_non_differentiable(output_mean, variance)
        return values + (beta - output_mean * scale), output_mean, variance

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, None, None]:
        grad = grads[0].contiguous()
        rows, weight, mean, weight_cov, inv_std, scale, arg_max = ctx.saved_tensors
        count = rows.shape[0]
        grad_beta = grad.sum(dim=0)
        # Per channel, the sum over clouds of grad * (the row at the arg max, centred).
        gathered = (
            F.embedding_bag(arg_max.T.contiguous(), rows, per_sample_weights=grad.T.contiguous(), mode="sum")
            - grad_beta.unsqueeze(1) * mean
        )
        grad_gamma = inv_std * (gathered * weight).sum(dim=1)
        grad_weight = scale.unsqueeze(1) * (gathered - (grad_gamma * inv_std).unsqueeze(1) * weight_cov)
        # BatchNorm's own part of dL/dz is -(a_c + b_c (z_c - mean_c)); through W it is affine in h.
        constant = (scale * grad_beta / count) @ weight
        slope = (weight * (scale * grad_gamma * inv_std / count).unsqueeze(1)).T @ weight
        grad_rows = scatter_rows(grad * scale, arg_max, weight, count)
        grad_rows = torch.addmm(grad_rows, rows, slope, alpha=-1).sub_(constant - mean @ slope)
        return grad_rows, grad_weight, grad_gamma, grad_beta, None, None


def _pooled_step(
    rows: Tensor, weight: Tensor, gamma: Tensor, beta: Tensor, num_points: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The pooled output, and the batch's mean and variance of the wide layer."""
    step: Any = _PooledStep  # torch does not type Function.apply
    pooled, mean, variance = step.apply(rows, weight, gamma, beta, num_points, eps)
    return pooled, mean, variance


@torch.no_grad()
def follow_batch(norm: nn.BatchNorm1d, mean: Tensor, variance: Tensor, count: int) -> None:
    """Let the running statistics follow the batch's, exactly as BatchNorm1d does."""
    assert norm.running_mean is not None
    assert norm.running_var is not None
    assert norm.num_batches_tracked is not None
    assert norm.momentum is not None
    norm.num_batches_tracked += 1
    norm.running_mean.lerp_(mean, norm.momentum)
    norm.running_var.lerp_(variance * (count / max(count - 1, 1)), norm.momentum)


def norm_map(
    norm: nn.BatchNorm1d, statistics: Callable[[], tuple[Tensor, Tensor]], count: int
) -> tuple[Tensor, Tensor]:
    """BatchNorm as scale and shift: of the batch's mean and variance while training, else of the running ones."""
    if not norm.training:
        return running_map(norm)
    mean, variance = statistics()
    follow_batch(norm, mean.detach(), variance.detach(), count)
    return _scale_and_shift(norm, mean, variance)


def running_map(norm: nn.BatchNorm1d) -> tuple[Tensor, Tensor]:
    """BatchNorm in eval mode as scale and shift."""
    assert norm.running_mean is not None
    assert norm.running_var is not None
    return _scale_and_shift(norm, norm.running_mean, norm.running_var)


def _scale_and_shift(norm: nn.BatchNorm1d, mean: Tensor, variance: Tensor) -> tuple[Tensor, Tensor]:
    scale = norm.weight * torch.rsqrt(variance + norm.eps)
    return scale, norm.bias - mean * scale


class PooledLayer(nn.Module):
    """A per-point linear layer with BatchNorm of which only the max over points is needed."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=False)
        self.norm = nn.BatchNorm1d(outputs)

    def forward(self, rows: Tensor, num_points: int) -> Tensor:
        """The max over each cloud's points, before any ReLU; (B*N, K) -> (B, C)."""
        if not self.training:
            wide: Tensor = self.norm(self.linear(rows))
            return wide.view(-1, num_points, wide.shape[1]).amax(dim=1)
        norm = self.norm
        pooled, mean, variance = _pooled_step(
            rows, self.linear.weight, norm.weight, norm.bias, num_points, norm.eps
        )
        follow_batch(norm, mean, variance, rows.shape[0])
        return pooled
