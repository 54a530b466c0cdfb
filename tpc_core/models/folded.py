"""The fast path of PointNets: BatchNorm folded into the weights, points as rows, the wide layer in chunks.

Certification is millions of forward passes, so its speed is the speed of this file. It computes the same
function as the eager module (tests hold them to 1e-4); only the order of float operations differs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from tpc_core.models.brought.adapter import Adapter
from tpc_core.models.canonical import CANONICAL
from tpc_core.models.layers import Head, RowLayer
from tpc_core.models.pointnet import PointNet, TNet, apply_matrix
from tpc_core.models.pooled import PooledLayer
from tpc_core.models.segmentation import PointNetSegmentation
from tpc_core.models.structure import is_as_written


@dataclass(frozen=True)
class Pieces:
    """How many points go through the layers together.

    On a CPU they are few, so that what a layer writes is still in the cache when the next one reads it, and the
    1,024-wide activation never travels through memory. Other devices need much work at once.
    """

    rows: int
    """Through a network that has more to compute per cloud than its last layers (T-nets, say)."""
    narrow: int
    """Through the layers before the 1,024-wide one, where nothing else comes between."""
    wide: int
    """Through the 1,024-wide one."""
    columns: int
    """Of its channels, how many are computed at a time."""


def pieces(device: torch.device) -> Pieces:
    """The sizes that were fastest (`make bench`); on other devices than a CPU, what fits into 300 MB."""
    return Pieces(4096, 1024, 1024, 512) if device.type == "cpu" else Pieces(1 << 17, 1 << 17, 1 << 16, 1024)


Classifier = Callable[[Tensor], Tensor]


class Scratch(threading.local):
    """The memory that a layer writes to, used again by the same thread in its next pass.

    Fresh memory would have to be fetched into the cache each time, which costs a tenth of the whole pass. What is
    in it is gone with the next pass, so nothing of it may leave the network.
    """

    def __init__(self) -> None:
        self._held: Tensor | None = None

    def take(self, rows: int, width: int, like: Tensor) -> Tensor:
        """Space for (rows, width) floats on the device of `like`."""
        if like.device.type != "cpu":  # other devices keep what was freed by themselves
            return like.new_empty(rows, width)
        if self._held is None or self._held.numel() < rows * width:
            self._held = like.new_empty(rows * width)
        return self._held[: rows * width].view(rows, width)


@dataclass(frozen=True)
class Affine:
    """A linear layer with all that is affine folded in: rows @ weight + bias; (K, C) and (C,)."""

    weight: Tensor
    bias: Tensor

    def __call__(self, rows: Tensor) -> Tensor:
        return torch.addmm(self.bias, rows, self.weight)


def fold_norm(linear: nn.Linear, norm: nn.BatchNorm1d) -> Affine:
    """Linear followed by BatchNorm in eval mode, as one affine map (folded in float64, kept in float32)."""
    assert norm.running_mean is not None
    assert norm.running_var is not None
    scale = norm.weight.double() * torch.rsqrt(norm.running_var.double() + norm.eps)
    bias = norm.bias.double() - norm.running_mean.double() * scale
    if linear.bias is not None:
        bias = bias + linear.bias.double() * scale
    weight = (linear.weight.double() * scale.unsqueeze(1)).T
    return Affine(weight.float().contiguous().detach(), bias.float().detach())


class FoldedRows:
    """A chain of RowLayers, folded; (R, K) -> (R, C)."""

    def __init__(self, layers: Sequence[nn.Module]) -> None:
        rows = [layer for layer in layers if isinstance(layer, RowLayer)]
        self.layers = [fold_norm(layer.linear, layer.norm) for layer in rows]
        # Two are enough: a layer writes to the one that its predecessor has read, which is still in the cache.
        self.scratch = Scratch(), Scratch()

    def __call__(self, rows: Tensor) -> Tensor:
        for number, layer in enumerate(self.layers):
            out = self.scratch[number % 2].take(rows.shape[0], layer.weight.shape[1], rows)
            rows = torch.addmm(layer.bias, rows, layer.weight, out=out).relu_()
        return rows


class FoldedPool:
    """A PooledLayer and the ReLU behind it, folded; (B*N, K) -> (B, C)."""

    def __init__(self, layer: PooledLayer, *, relu: bool = True) -> None:
        self.affine = fold_norm(layer.linear, layer.norm)
        columns = pieces(self.affine.weight.device).columns
        self.parts = [part.contiguous() for part in self.affine.weight.split(columns, dim=1)]
        self.relu = relu
        self.scratch = Scratch()

    def __call__(self, rows: Tensor, num_points: int) -> Tensor:
        """The max comes before bias and ReLU: both are monotone, and N times less work after it."""
        clouds = rows.shape[0] // num_points
        limit = pieces(rows.device).wide
        pooled = rows.new_empty(clouds, self.affine.weight.shape[1])
        step = max(1, limit // num_points)
        for start in range(0, clouds, step):
            stop = min(start + step, clouds)
            piece = rows[start * num_points : stop * num_points]
            column = 0
            for weight in self.parts:
                buffer = self.scratch.take(min(limit, len(piece)), weight.shape[1], rows)
                out = pooled[start:stop, column : column + weight.shape[1]]
                column += weight.shape[1]
                if len(piece) <= limit:
                    wide = torch.mm(piece, weight, out=buffer)
                    torch.amax(wide.view(stop - start, num_points, -1), dim=1, out=out)
                else:
                    _max_of_long(piece, weight, buffer, out[0])
        pooled.add_(self.affine.bias)
        return pooled.relu_() if self.relu else pooled


def _max_of_long(rows: Tensor, weight: Tensor, buffer: Tensor, pooled: Tensor) -> None:
    """The max of rows @ weight over the points of one cloud that is larger than the buffer: (N, K) -> (C,)."""
    for number, piece in enumerate(rows.split(len(buffer))):
        wide = torch.mm(piece, weight, out=buffer[: len(piece)])
        if number == 0:
            torch.amax(wide, dim=0, out=pooled)
        else:
            torch.maximum(pooled, wide.amax(dim=0), out=pooled)


class FoldedHead:
    """A Head in eval mode, folded; (B, K) -> (B, C)."""

    def __init__(self, head: Head) -> None:
        self.hidden = FoldedRows(list(head.hidden))
        self.output = Affine(head.output.weight.detach().T.contiguous(), head.output.bias.detach())

    def __call__(self, features: Tensor) -> Tensor:
        return self.output(self.hidden(features))


class FoldedTNet:
    """A TNet, folded; (B*N, size) -> (B, size, size)."""

    def __init__(self, tnet: TNet) -> None:
        self.size = tnet.size
        self.points = FoldedRows(list(tnet.points))
        self.pool = FoldedPool(tnet.pool)
        self.head = FoldedHead(tnet.head)
        self.identity = torch.eye(tnet.size, device=tnet.head.output.weight.device)

    def __call__(self, rows: Tensor, num_points: int) -> Tensor:
        matrix = self.head(self.pool(self.points(rows), num_points))
        return matrix.view(-1, self.size, self.size) + self.identity


class FoldedTrunk:
    """All that a PointNet does per point: rows after two layers, rows after all, and the pooled features.

    Who does not need the first (`local`) gets no promise about them: all layers are then one chain, if they can be.
    """

    def __init__(self, module: PointNet | PointNetSegmentation, *, local: bool) -> None:
        self.canonical = CANONICAL[module.canonical]
        self.input_tnet = FoldedTNet(module.input_tnet) if module.input_tnet is not None else None
        self.feature_tnet = FoldedTNet(module.feature_tnet) if module.feature_tnet is not None else None
        layers = list(module.points)
        cut = module.layers_before_tnet if local or self.feature_tnet is not None else len(layers)
        self.first, self.second = FoldedRows(layers[:cut]), FoldedRows(layers[cut:])
        self.pool = FoldedPool(module.pool, relu=module.pool_relu)

    def __call__(self, points: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        num_points = points.shape[1]
        rows = self.canonical(points).reshape(-1, 3)
        if self.input_tnet is not None:
            rows = apply_matrix(rows, self.input_tnet(rows, num_points), num_points)
        local = self.first(rows)
        if self.feature_tnet is not None:
            local = apply_matrix(local, self.feature_tnet(local, num_points), num_points)
        rows = self.second(local)
        return local, rows, self.pool(rows, num_points)


def blocks(points: Tensor, rows: int) -> Sequence[Tensor]:
    """The batch in pieces of this many points, or of one cloud where it has more."""
    return torch.split(points, max(1, rows // points.shape[1]))


class FoldedPointNet:
    """A PointNet classifier in eval mode, folded; (B, N, 3) -> (B, classes)."""

    def __init__(self, module: PointNet) -> None:
        self.trunk = FoldedTrunk(module, local=False)
        self.head = FoldedHead(module.head)
        self.tnets = module.input_tnet is not None or module.feature_tnet is not None

    @torch.inference_mode()
    def __call__(self, points: Tensor) -> Tensor:
        sizes = pieces(points.device)
        pooled = [
            self.trunk(block)[2] for block in blocks(points, sizes.rows if self.tnets else sizes.narrow)
        ]
        return self.head(torch.cat(pooled))


class FoldedSegmentation:
    """A PointNet segmenter in eval mode, folded; (B, N, 3) -> (B, N, parts)."""

    def __init__(self, module: PointNetSegmentation) -> None:
        self.trunk = FoldedTrunk(module, local=True)
        first = module.parts[0]
        assert isinstance(first, RowLayer)
        folded = fold_norm(first.linear, first.norm)
        # The pooled features are the same for all points of a cloud: their share is computed once a cloud.
        local_width = folded.weight.shape[0] - module.pool.linear.out_features
        self.local = folded.weight[:local_width].contiguous()
        self.shared = Affine(folded.weight[local_width:].contiguous(), folded.bias)
        self.parts = FoldedRows(list(module.parts)[1:])
        self.output = Affine(module.output.weight.detach().T.contiguous(), module.output.bias.detach())

    @torch.inference_mode()
    def __call__(self, points: Tensor) -> Tensor:
        return torch.cat([self._block(block) for block in blocks(points, pieces(points.device).rows)])

    def _block(self, points: Tensor) -> Tensor:
        clouds, num_points = points.shape[:2]
        local, rows, pooled = self.trunk(points)
        per_point = (torch.cat([local, rows], dim=1) @ self.local).view(clouds, num_points, -1)
        rows = (per_point + self.shared(pooled).unsqueeze(1)).relu_().view(clouds * num_points, -1)
        return self.output(self.parts(rows)).view(clouds, num_points, -1)


class Eager:
    """Any other module, already in eval mode, in pieces that keep the memory small."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module

    @torch.inference_mode()
    def __call__(self, points: Tensor) -> Tensor:
        return torch.cat([self.module(block) for block in blocks(points, pieces(points.device).rows)])


def fast_path(module: nn.Module) -> Classifier:
    """The fastest callable that computes the same logits as the module in eval mode."""
    if isinstance(module, PointNet) and is_as_written(module):
        return FoldedPointNet(module)
    if isinstance(module, PointNetSegmentation) and is_as_written(module):
        return FoldedSegmentation(module)
    if isinstance(module, Adapter) and isinstance(module.network, nn.Module):
        network = module.network
        return Eager(Adapter(fast_path(network), module.frame) if is_as_written(network) else module)
    return Eager(module)
