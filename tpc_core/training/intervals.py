"""Interval training: the worst margins of a PointNet over a box around every cloud, with their gradient.

Centre and radius go through the network beside the plain cloud: c' = W c + b, r' = |W| r, ReLU and max over points at
both ends. BatchNorm takes its statistics from the plain pass and is folded into the weights, so the bounds are those of
the network that will be shipped. A box smaller than the claim lies where one step of an attack finds the worst answer
(small boxes, Mueller et al., ICLR 2023): less is lost by intervals, more is left to the bounds that prove.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tpc_core.errors import UnsupportedRequest
from tpc_core.models.layers import RowLayer
from tpc_core.models.pointnet import PointNet
from tpc_core.models.pooled import CHUNK_ROWS, PooledLayer, max_over_points, norm_map, scatter_rows


def interval_logits(
    module: nn.Module, points: Tensor, targets: Tensor, eps: float, middle: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The plain logits, and for every class the most it can lead the target by within the box.

    (B, N, 3), (B,) -> (B, C), (B, C); the target's own lead is 0. In training mode, BatchNorm follows the plain cloud.
    The box is around `middle`, by default the cloud itself.
    """
    if not isinstance(module, PointNet) or module.canonical != "none" or _has_tnets(module):
        raise UnsupportedRequest("interval training needs a PointNet without T-nets and canonical pose")
    num_points = points.shape[1]
    plain = points.reshape(-1, 3)
    centre = plain if middle is None else middle.reshape(-1, 3)
    radius = torch.full_like(plain, eps)
    for layer in module.points:
        assert isinstance(layer, RowLayer)
        plain, centre, radius = _row_step(layer, plain, centre, radius)
    weight, bias = _folded_pool(module.pool, plain)
    plain = torch.relu(_max_rows(plain, weight, num_points) + bias)
    lower, upper = _max_intervals(centre, radius, weight, num_points)
    centre, radius = _after_relu(lower + bias, upper + bias)
    for layer in module.head.hidden:
        assert isinstance(layer, RowLayer)
        plain, centre, radius = _row_step(layer, plain, centre, radius)
    output = module.head.output
    logits: Tensor = output(module.head.dropout(plain))
    return logits, worst_leads(output.weight, output.bias, centre, radius, targets)


def worst_middle(
    module: nn.Module, points: Tensor, targets: Tensor, size: float, generator: torch.Generator
) -> Tensor:
    """Clouds within `size` of the given ones that the network answers worse: a random start, one signed step."""
    training = module.training
    module.eval()
    start = size * (2 * torch.rand(points.shape, generator=generator) - 1)
    moving = (points + start).requires_grad_()
    (gradient,) = torch.autograd.grad(F.cross_entropy(module(moving), targets), moving)
    module.train(training)
    return points + (start + 1.25 * size * gradient.sign()).clamp_(-size, size)


def worst_leads(weight: Tensor, bias: Tensor, centre: Tensor, radius: Tensor, targets: Tensor) -> Tensor:
    """The largest value of logit j minus the target's over a box of features; (B, K) -> (B, C)."""
    classes = len(weight)
    middle = F.linear(centre, weight, bias)
    # |W_j - W_y| for all pairs of classes: fewer than there are clouds times classes.
    apart = (weight - weight.unsqueeze(1)).abs().flatten(0, 1)
    reach = (radius @ apart.T).view(-1, classes, classes)[torch.arange(len(targets)), targets]
    return middle - middle.gather(1, targets.unsqueeze(1)) + reach


def _has_tnets(module: PointNet) -> bool:
    return module.input_tnet is not None or module.feature_tnet is not None


def _row_step(
    layer: RowLayer, plain: Tensor, centre: Tensor, radius: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Linear, BatchNorm and ReLU for the plain rows and for the box around them."""
    linear: Tensor = layer.linear(plain)

    def statistics() -> tuple[Tensor, Tensor]:
        mean = linear.mean(dim=0)
        return mean, (linear - mean).square().mean(dim=0)  # var_mean is several times slower along this axis

    scale, bias = norm_map(layer.norm, statistics, len(plain))
    weight = layer.linear.weight * scale.unsqueeze(1)
    middle, reach = F.linear(centre, weight, bias), F.linear(radius, weight.abs())
    return torch.relu(linear * scale + bias), *_after_relu(middle - reach, middle + reach)


def _after_relu(lower: Tensor, upper: Tensor) -> tuple[Tensor, Tensor]:
    """Centre and radius of the ReLU of an interval."""
    lower, upper = 0.5 * torch.relu(lower), 0.5 * torch.relu(upper)
    return upper + lower, upper - lower


def _folded_pool(layer: PooledLayer, rows: Tensor) -> tuple[Tensor, Tensor]:
    """The wide layer as one affine map, (C, K) and (C,).

    Its statistics follow from the mean and covariance of the rows, so the wide activation is not needed.
    """
    weight = layer.linear.weight

    def statistics() -> tuple[Tensor, Tensor]:
        mean = rows.mean(dim=0)
        centred = rows - mean
        covariance = centred.T @ centred / len(rows)
        return weight @ mean, ((weight @ covariance) * weight).sum(dim=1).clamp_min(0)

    scale, bias = norm_map(layer.norm, statistics, len(rows))
    return weight * scale.unsqueeze(1), bias


def _gathered(grad: Tensor, rows_of: Tensor, rows: Tensor) -> Tensor:
    """Per channel, the sum over clouds of grad times the row that reached the max; (B, C) -> (C, K)."""
    return F.embedding_bag(rows_of.T.contiguous(), rows, per_sample_weights=grad.T.contiguous(), mode="sum")


class _MaxRows(torch.autograd.Function):
    """max over points of rows @ weight.T; its gradient has one entry per cloud and channel."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor, num_points: int) -> Tensor:
        values, arg_max = max_over_points(rows, weight.T.contiguous(), num_points)
        ctx.save_for_backward(rows, weight, arg_max)
        return values

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        rows, weight, arg_max = ctx.saved_tensors
        grad = grads[0].contiguous()
        return scatter_rows(grad, arg_max, weight, len(rows)), _gathered(grad, arg_max, rows), None


class _MaxIntervals(torch.autograd.Function):
    """max over points of both ends of centre @ weight.T +- radius @ |weight|.T, without the wide activation."""

    @staticmethod
    def forward(
        ctx: Any, centre: Tensor, radius: Tensor, weight: Tensor, num_points: int
    ) -> tuple[Tensor, Tensor]:
        lower, upper, rows_low, rows_up = _interval_maxima(centre, radius, weight, num_points)
        ctx.save_for_backward(centre, radius, weight, rows_low, rows_up)
        return lower, upper

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        centre, radius, weight, rows_low, rows_up = ctx.saved_tensors
        low, up = (grad.contiguous() for grad in grads)
        count, width = centre.shape
        # Both inputs at once: rows [c, r], weights [W, -|W|] for the lower ends and [W, |W|] for the upper.
        both, size = torch.cat([centre, radius], dim=1), weight.abs()
        to_low = scatter_rows(low, rows_low, torch.cat([weight, -size], dim=1), count)
        to_both = to_low.add_(scatter_rows(up, rows_up, torch.cat([weight, size], dim=1), count))
        of_low, of_up = _gathered(low, rows_low, both), _gathered(up, rows_up, both)
        to_weight = of_low[:, :width] + of_up[:, :width]
        to_weight += weight.sign() * (of_up[:, width:] - of_low[:, width:])
        return to_both[:, :width], to_both[:, width:], to_weight, None


def _interval_maxima(
    centre: Tensor, radius: Tensor, weight: Tensor, num_points: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Lower and upper ends after the max, and the rows that reached them; each (B, C)."""
    clouds = len(centre) // num_points
    weight_t = weight.T.contiguous()
    size_t = weight_t.abs()
    ends = [centre.new_empty(clouds, len(weight)) for _ in range(2)]
    rows = [torch.empty(clouds, len(weight), dtype=torch.int64) for _ in range(2)]
    step = max(1, CHUNK_ROWS // num_points)
    for start in range(0, clouds, step):
        stop = min(start + step, clouds)
        part = slice(start * num_points, stop * num_points)
        middle, reach = centre[part] @ weight_t, radius[part] @ size_t
        for end, row, wide in zip(ends, rows, (middle - reach, middle.add_(reach)), strict=True):
            # As a channels-last image of height N, as in max_over_points.
            image = wide.view(stop - start, num_points, 1, -1).permute(0, 3, 1, 2)
            value, index = F.max_pool2d(image, (num_points, 1), return_indices=True)
            end[start:stop], row[start:stop] = value.flatten(1), index.flatten(1)
    first = num_points * torch.arange(clouds).unsqueeze(1)
    return ends[0], ends[1], rows[0] + first, rows[1] + first


def _max_rows(rows: Tensor, weight: Tensor, num_points: int) -> Tensor:
    step: Any = _MaxRows  # torch does not type Function.apply
    values: Tensor = step.apply(rows, weight, num_points)
    return values


def _max_intervals(centre: Tensor, radius: Tensor, weight: Tensor, num_points: int) -> tuple[Tensor, Tensor]:
    step: Any = _MaxIntervals
    lower, upper = step.apply(centre, radius, weight, num_points)
    return lower, upper
