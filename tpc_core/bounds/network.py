"""The network that certain claims are about: folded float32 weights, evaluated in float64, named by a digest.

`evaluate` is the function itself. Bounds of it (`affine`, `backward`) hold for this evaluation in any order of
summation, and for the same network in real numbers.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from tpc_core.bounds.refusal import require_bounded
from tpc_core.models.folded import Affine, fold_norm
from tpc_core.models.layers import RowLayer
from tpc_core.models.segmentation import PointNetSegmentation
from tpc_core.transforms.forms import UNIT

ARITHMETIC = "float64"
"""How the network is evaluated: float32 weights and clouds, everything computed in float64."""


@dataclass(frozen=True)
class Dense:
    """rows @ weight + bias, (K, C) and (C,) in float64; for bounds: |weight|, transpose, norms (rounded up)."""

    weight: Tensor
    bias: Tensor
    absolute: Tensor
    transposed: Tensor
    single: Tensor
    """The weight in float32, which it is exactly."""
    norm: float
    bias_norm: float
    column_norms: Tensor
    terms: int
    """How many products one output sums up."""

    @property
    def rounding(self) -> float:
        """What evaluating the layer loses, and computing its bounds once more, relative to |weight| |rows| + |bias|."""
        return 2 * (self.terms + 8) * UNIT

    def __call__(self, rows: Tensor) -> Tensor:
        if rows.dtype == torch.float32:
            return torch.addmm(self.bias.float(), rows, self.single)
        return torch.addmm(self.bias, rows, self.weight)


def dense(affine: Affine) -> Dense:
    """A folded layer in float64."""
    return _dense(affine.weight.double().contiguous(), affine.bias.double(), len(affine.weight))


def _dense(weight: Tensor, bias: Tensor, terms: int) -> Dense:
    columns: Tensor = torch.linalg.vector_norm(weight, dim=0) * (1 + 1e-12)
    return Dense(
        weight,
        bias,
        weight.abs(),
        weight.T.contiguous(),
        weight.float(),
        _norm(weight),
        _norm(bias),
        columns,
        terms,
    )


def _norm(values: Tensor) -> float:
    return math.sqrt(float(values.square().sum())) * (1 + 1e-12)


@dataclass(frozen=True)
class Network:
    """A PointNet or its segmentation twin, layer by layer.

    `points` act on every point, then `pool` and the max over points; then `head` and `output`. For part segmentation
    the head acts on every point again, and its first layer reads [local features, pooled features]: `local` counts the
    layers after which the first of the local features are taken.
    """

    points: tuple[Dense, ...]
    pool: Dense
    pool_relu: bool
    head: tuple[Dense, ...]
    output: Dense
    local: int | None
    """None for a classifier."""
    digest: str
    joint: tuple[Dense, Dense] | None
    """For part segmentation, the head's first layer in two: on a point's own features, and on the pooled ones."""

    @property
    def classes(self) -> int:
        """How many classes, or parts, there are."""
        return int(self.output.weight.shape[1])

    @property
    def segments(self) -> bool:
        """Whether it labels points rather than clouds."""
        return self.local is not None

    @torch.inference_mode()
    def evaluate(self, points: Tensor) -> Tensor:
        """The logits of clouds (B, N, 3) in float64: (B, classes), or (B, N, parts)."""
        pieces = points.double().split(max(1, 4096 // points.shape[1]))
        return torch.cat([self.differentiable(piece) for piece in pieces])

    @torch.inference_mode()
    def estimate(self, points: Tensor) -> Tensor:
        """About the same in float32, at twice the speed: says where it is worth to look, and proves nothing."""
        pieces = points.float().split(max(1, 4096 // points.shape[1]))
        return torch.cat([self.differentiable(piece) for piece in pieces])

    def differentiable(self, points: Tensor) -> Tensor:
        """The same for a small batch, in its own precision, with gradients where they are wanted."""
        clouds, count = points.shape[:2]
        rows = points.reshape(-1, 3)
        local = rows
        for number, layer in enumerate(self.points):
            rows = torch.relu(layer(rows))
            if number + 1 == self.local:
                local = rows
        pooled = self.pool(rows).view(clouds, count, -1).amax(dim=1)
        features = torch.relu(pooled) if self.pool_relu else pooled
        if self.segments:
            shared = features.repeat_interleave(count, dim=0)
            features = torch.cat([local, rows, shared], dim=1)
        for layer in self.head:
            features = torch.relu(layer(features))
        logits = self.output(features)
        return logits.view(clouds, count, -1) if self.segments else logits


def network_of(module: nn.Module) -> Network:
    """The network of a module in eval mode, or an UnsupportedRequest that says why it cannot be bounded."""
    net = require_bounded(module)
    segments = isinstance(net, PointNetSegmentation)
    hidden = net.parts if isinstance(net, PointNetSegmentation) else net.head.hidden
    output = net.output if isinstance(net, PointNetSegmentation) else net.head.output
    folded = {
        "points": [_fold(layer) for layer in net.points],
        "pool": [fold_norm(net.pool.linear, net.pool.norm)],
        "head": [_fold(layer) for layer in hidden],
        "output": [Affine(output.weight.detach().T.contiguous(), output.bias.detach())],
    }
    head = tuple(dense(layer) for layer in folded["head"])
    return Network(
        points=tuple(dense(layer) for layer in folded["points"]),
        pool=dense(folded["pool"][0]),
        pool_relu=net.pool_relu,
        head=head,
        output=dense(folded["output"][0]),
        local=net.layers_before_tnet if segments else None,
        digest=_digest(folded, net.pool_relu, net.layers_before_tnet if segments else None),
        joint=_in_two(head[0], net.pool.linear.out_features) if segments else None,
    )


def _in_two(layer: Dense, pooled: int) -> tuple[Dense, Dense]:
    """The layer on a point's own features, without bias, and that on the pooled ones; each rounds like the whole."""
    own, shared = layer.weight[:-pooled].contiguous(), layer.weight[-pooled:].contiguous()
    return _dense(own, torch.zeros_like(layer.bias), layer.terms), _dense(shared, layer.bias, layer.terms)


def _fold(layer: nn.Module) -> Affine:
    assert isinstance(layer, RowLayer)
    return fold_norm(layer.linear, layer.norm)


def _digest(folded: dict[str, list[Affine]], pool_relu: bool, local: int | None) -> str:
    """The sha256 of the folded float32 weights with the order in which they act."""
    content = hashlib.sha256(f"{ARITHMETIC} {pool_relu} {local}".encode())
    for name, layers in folded.items():
        for layer in layers:
            content.update(f"{name} {tuple(layer.weight.shape)}".encode())
            content.update(layer.weight.numpy().astype("<f4").tobytes())
            content.update(layer.bias.numpy().astype("<f4").tobytes())
    return content.hexdigest()
