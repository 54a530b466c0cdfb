"""The plain implementation that research code has: the yardstick for the engine, not a part of it.

A PointNet of Conv1d and BatchNorm1d modules in eval mode, and transforms in a Python loop, sample by sample.
It holds the weights of the checkpoint, so it is the same classifier: `benchmarks` checks the logits.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tpc_core import CoordinateSmoothing, Model, ParameterSmoothing
from tpc_core.models.layers import RowLayer
from tpc_core.models.pointnet import PointNet
from tpc_core.models.pooled import PooledLayer
from tpc_core.smoothing import Smoothing


class PlainPointNet(nn.Module):
    """PointNet as in its first public PyTorch implementations; (B, 3, N) -> (B, classes)."""

    def __init__(self, source: PointNet) -> None:
        super().__init__()
        per_point = [*source.points, source.pool]
        self.convolutions = nn.ModuleList(_convolution(layer) for layer in per_point)
        self.norms = nn.ModuleList(layer.norm for layer in per_point)
        self.hidden = nn.ModuleList(layer.linear for layer in source.head.hidden)
        self.hidden_norms = nn.ModuleList(layer.norm for layer in source.head.hidden)
        self.dropout = nn.Dropout(0.3)
        self.output = source.head.output

    def forward(self, clouds: Tensor) -> Tensor:
        features = clouds
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            features = torch.relu(norm(convolution(features)))
        pooled = torch.max(features, 2)[0]
        for linear, norm in zip(self.hidden, self.hidden_norms, strict=True):
            pooled = torch.relu(norm(linear(pooled)))
        return self.output(self.dropout(pooled))


def _convolution(layer: RowLayer | PooledLayer) -> nn.Conv1d:
    linear = layer.linear
    convolution = nn.Conv1d(linear.in_features, linear.out_features, 1, bias=False)
    convolution.weight.data = linear.weight.data[:, :, None].clone()
    return convolution


def plain_network(model: Model) -> nn.Module:
    """The checkpoint's PointNet, plainly written."""
    assert isinstance(model.module, PointNet)
    assert model.module.canonical == "none"
    return PlainPointNet(model.module).eval()


def plain_votes(
    network: nn.Module, smoothing: Smoothing, points: NDArray[np.float32], count: int, batch: int
) -> NDArray[np.int64]:
    """Votes by class: transform each sample in turn, stack, forward, count."""
    rng = np.random.default_rng(0)
    counts = np.zeros(40, dtype=np.int64)
    for start in range(0, count, batch):
        samples = [_transformed(points, smoothing, rng) for _ in range(min(batch, count - start))]
        clouds = torch.from_numpy(np.stack(samples)).float().transpose(2, 1)
        with torch.no_grad():
            predictions = network(clouds).argmax(1).numpy()
        for prediction in predictions:
            counts[prediction] += 1
    return counts


def _transformed(
    points: NDArray[np.float32], smoothing: Smoothing, rng: np.random.Generator
) -> NDArray[np.float32]:
    if isinstance(smoothing, CoordinateSmoothing):
        return points + rng.normal(0, smoothing.sigma, points.shape)
    assert isinstance(smoothing, ParameterSmoothing)
    assert smoothing.transform.name == "z-rotation"
    angle = rng.normal(0, smoothing.sigmas[0])
    cos, sin = np.cos(angle), np.sin(angle)
    return points @ np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]]).T
