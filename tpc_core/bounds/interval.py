"""Intervals through a PointNet in torch, with gradients: for training towards certain bounds.

Every coordinate of every point varies on its own between a lower and an upper end. This is ordinary float32 without
outward rounding, so it trains and estimates; what proves is in `network`.

BatchNorm normalises by the statistics of the plain pass through the middle of the box (or, in eval mode, by the running
ones): then bounds and plain answers are of one and the same function, and folding BatchNorm afterwards changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from tpc_core.bounds.refusal import require_bounded
from tpc_core.models.layers import RowLayer
from tpc_core.models.pointnet import PointNet
from tpc_core.models.pooled import PooledLayer
from tpc_core.models.segmentation import PointNetSegmentation


@dataclass(frozen=True)
class Interval:
    """What the plain pass answers in the middle of the box, and the ends between which all answers lie.

    All of one shape: (B, classes), or (B, N, parts). `plain` has its own gradient: train on both.
    """

    plain: Tensor
    lower: Tensor
    upper: Tensor

    def relu(self) -> Interval:
        return Interval(torch.relu(self.plain), torch.relu(self.lower), torch.relu(self.upper))


def interval_logits(module: nn.Module, lower: Tensor, upper: Tensor) -> Interval:
    """The ends of every logit over all clouds between `lower` and `upper`, both (B, N, 3).

    In train mode the running statistics follow the plain pass, exactly as they would in module(middle).
    """
    features, output = _before_output(module, lower, upper)
    return _affine(features, output.weight, output.bias)


def interval_margins(module: nn.Module, lower: Tensor, upper: Tensor, classes: Tensor) -> Interval:
    """The ends of logit[class] - logit[rival] for every rival: the last layer is merged with the difference.

    classes: (B,), or (B, N) for part segmentation. The class itself has the margin zero, so `-margins.lower` can stand
    in for the logits of the worst case in a cross-entropy.
    """
    features, output = _before_output(module, lower, upper)
    flat = classes.reshape(-1)
    rows = Interval(*(t.reshape(len(flat), -1) for t in (features.plain, features.lower, features.upper)))
    # (R, K) rows and, for each row, a weight of its own (C, K): of its class less that of every rival.
    weight = output.weight[flat].unsqueeze(1) - output.weight
    bias = output.bias[flat].unsqueeze(1) - output.bias
    centre, radius = (rows.lower + rows.upper) / 2, (rows.upper - rows.lower) / 2
    middle = torch.einsum("rk,rck->rc", centre, weight) + bias
    reach = torch.einsum("rk,rck->rc", radius, weight.abs())
    plain = torch.einsum("rk,rck->rc", rows.plain, weight) + bias
    shape = (*classes.shape, len(output.weight))
    return Interval(plain.view(shape), (middle - reach).view(shape), (middle + reach).view(shape))


def _before_output(module: nn.Module, lower: Tensor, upper: Tensor) -> tuple[Interval, nn.Linear]:
    """The features that the last layer reads: (B, K), or (B, N, K) for part segmentation."""
    net = require_bounded(module)
    clouds, num_points = lower.shape[:2]
    rows = Interval(((lower + upper) / 2).reshape(-1, 3), lower.reshape(-1, 3), upper.reshape(-1, 3))
    local = rows
    for number, layer in enumerate(net.points):
        rows = _row_layer(rows, layer)
        if number + 1 == net.layers_before_tnet:
            local = rows
    pooled = _pool(rows, net.pool, num_points)
    if net.pool_relu:
        pooled = pooled.relu()
    if isinstance(net, PointNetSegmentation):
        joined = _row_layer(_join(local, rows, pooled, num_points), net.parts[0])
        for layer in net.parts[1:]:
            joined = _row_layer(joined, layer)
        shape = (clouds, num_points, -1)
        return Interval(
            joined.plain.view(shape), joined.lower.view(shape), joined.upper.view(shape)
        ), net.output
    return _head(pooled, net), net.head.output


def _head(features: Interval, net: PointNet) -> Interval:
    for layer in net.head.hidden:
        features = _row_layer(features, layer)
    # One mask for all three, or the ends would be those of another network than the plain answer.
    kept = net.head.dropout(torch.ones_like(features.plain))
    return Interval(features.plain * kept, features.lower * kept, features.upper * kept)


def _affine(rows: Interval, weight: Tensor, bias: Tensor) -> Interval:
    return Interval(nn.functional.linear(rows.plain, weight, bias), *_ends(rows, weight, bias))


def _row_layer(rows: Interval, layer: nn.Module) -> Interval:
    """Linear, BatchNorm with the plain pass's statistics, ReLU."""
    assert isinstance(layer, RowLayer)
    plain = layer.linear(rows.plain)
    if layer.training:
        mean, variance = plain.mean(dim=0), plain.var(dim=0, unbiased=False)
    else:
        mean, variance = _running(layer.norm)
    weight, bias = _folded(layer.linear.weight, layer.norm, mean, variance)
    return Interval(layer.norm(plain), *_ends(rows, weight, bias)).relu()


def _pool(rows: Interval, layer: PooledLayer, num_points: int) -> Interval:
    """The wide layer and the max over points: the largest lower end, the largest upper end."""
    weight = layer.linear.weight
    if layer.training:
        # Mean and variance of W h from those of h: the wide plain activation is never written out (see `pooled`).
        middle = rows.plain.mean(dim=0)
        centred = rows.plain - middle
        mean = weight @ middle
        variance = ((weight @ (centred.T @ centred / len(centred))) * weight).sum(dim=1).clamp_min(0)
    else:
        mean, variance = _running(layer.norm)
    lower, upper = _ends(rows, *_folded(weight, layer.norm, mean, variance))
    shape = (-1, num_points, len(weight))
    plain = layer(rows.plain, num_points)
    return Interval(plain, lower.view(shape).amax(dim=1), upper.view(shape).amax(dim=1))


def _ends(rows: Interval, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """c' = W c + b, r' = |W| r."""
    centre = nn.functional.linear((rows.lower + rows.upper) / 2, weight, bias)
    reach = nn.functional.linear((rows.upper - rows.lower) / 2, weight.abs())
    return centre - reach, centre + reach


def _folded(weight: Tensor, norm: nn.BatchNorm1d, mean: Tensor, variance: Tensor) -> tuple[Tensor, Tensor]:
    scale = norm.weight * torch.rsqrt(variance + norm.eps)
    return weight * scale.unsqueeze(1), norm.bias - mean * scale


def _running(norm: nn.BatchNorm1d) -> tuple[Tensor, Tensor]:
    assert norm.running_mean is not None
    assert norm.running_var is not None
    return norm.running_mean, norm.running_var


def _join(local: Interval, rows: Interval, pooled: Interval, num_points: int) -> Interval:
    """Every point's own features beside those of its cloud."""

    def joined(a: Tensor, b: Tensor, shared: Tensor) -> Tensor:
        return torch.cat([a, b, shared.repeat_interleave(num_points, dim=0)], dim=1)

    return Interval(
        joined(local.plain, rows.plain, pooled.plain),
        joined(local.lower, rows.lower, pooled.lower),
        joined(local.upper, rows.upper, pooled.upper),
    )
