"""Which points decide the max pool: the critical set of a PointNet."""

from __future__ import annotations

import copy

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tpc_core.models.pooled import PooledLayer, max_over_points


@torch.inference_mode()
def critical_counts(module: nn.Module, points: Tensor) -> NDArray[np.floating] | None:
    """How many pooled features each of the points (N, 3) decides; None for a network without a max pool.

    The last pooled layer of the network is the one meant: before it sit only the T-nets' own.
    """
    if not any(isinstance(layer, PooledLayer) for layer in module.modules()):
        return None
    caught: list[Tensor] = []
    own = copy.deepcopy(module)  # all visitors share the module: no hook may sit on it, not even for a moment
    pool = [layer for layer in own.modules() if isinstance(layer, PooledLayer)][-1]
    pool.register_forward_pre_hook(lambda _, inputs: caught.append(inputs[0]))
    own(points[None].float())
    variance = pool.norm.running_var
    assert variance is not None
    weight = pool.linear.weight * (pool.norm.weight * torch.rsqrt(variance + pool.norm.eps))[:, None]
    _, deciding = max_over_points(caught[-1], weight.T.contiguous(), len(points))
    return torch.bincount(deciding[0], minlength=len(points)).numpy().astype(np.float64)
