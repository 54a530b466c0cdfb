"""The plain implementation that research code has: the yardstick for the engine, not a part of it.

A PointNet of Conv1d, BatchNorm1d and MaxPool1d modules in eval mode, and transforms in a Python loop, sample by sample,
with the operations that the released program of the paper takes for each. It holds the weights of the checkpoint, so
it is the same classifier: `benchmarks` checks the logits.
"""

from __future__ import annotations

import math

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
    """PointNet as the released program has it, with a bias before each BatchNorm; (B, 3, N) -> (B, classes)."""

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
        pooled = nn.functional.max_pool1d(features, features.shape[2]).flatten(1)
        for linear, norm in zip(self.hidden, self.hidden_norms, strict=True):
            pooled = torch.relu(norm(linear(pooled)))
        return self.output(self.dropout(pooled))


def _convolution(layer: RowLayer | PooledLayer) -> nn.Conv1d:
    linear = layer.linear
    convolution = nn.Conv1d(linear.in_features, linear.out_features, 1)
    convolution.weight.data = linear.weight.data[:, :, None].clone()
    nn.init.zeros_(convolution.bias)
    return convolution


def plain_network(model: Model) -> nn.Module:
    """The checkpoint's PointNet, plainly written."""
    assert isinstance(model.module, PointNet)
    assert model.module.canonical == "none"
    return PlainPointNet(model.module).eval()


def plain_votes(
    network: nn.Module, smoothing: Smoothing, points: Tensor, count: int, batch: int
) -> NDArray[np.int64]:
    """Votes by class: repeat the cloud, transform the copies one by one, forward, count one by one."""
    counts = np.zeros(40, dtype=np.int64)
    with torch.no_grad():
        for start in range(0, count, batch):
            copies = points.repeat(min(batch, count - start), 1, 1)
            predictions = network(_shaken(copies, smoothing).transpose(2, 1)).argmax(1)
            for prediction in predictions.numpy():
                counts[prediction] += 1
    return counts


def _shaken(copies: Tensor, smoothing: Smoothing) -> Tensor:
    """Noise is drawn for the whole batch, as everybody does; a transform goes from sample to sample."""
    if isinstance(smoothing, CoordinateSmoothing):
        return copies + smoothing.sigma * torch.randn_like(copies)
    assert isinstance(smoothing, ParameterSmoothing)
    assert smoothing.transform.name == "z-rotation"
    turned = torch.zeros_like(copies)
    for number in range(len(copies)):
        angle = float(torch.randn(1)) * smoothing.spreads[0]
        cos, sin = math.cos(angle), math.sin(angle)
        matrix = torch.tensor([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
        turned[number] = torch.matmul(matrix, copies[number].unsqueeze(-1)).squeeze(-1)
    return turned
