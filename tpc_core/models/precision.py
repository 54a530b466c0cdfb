"""Reduced precision: a variant of a model with a name, a digest and votes of its own.

Fewer bits round otherwise, so now and then the network answers otherwise: it is another base classifier h, and what
was measured or certified of the full one does not hold for it. Nothing switches it on but its name.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tpc_core.errors import unknown_name
from tpc_core.models.folded import Eager

FULL = "float32"
REDUCED = {"bfloat16": torch.bfloat16, "float16": torch.float16}


def split_precision(name: str) -> tuple[str, str]:
    """The checkpoint and the precision of a name: "pointnet64-noise@bfloat16", or without @ for float32."""
    checkpoint, at, precision = name.rpartition("@")
    if not at or "/" in precision or precision.endswith(".safetensors"):
        return name, FULL
    if precision not in REDUCED:
        raise unknown_name("precision", precision, list(REDUCED))
    return checkpoint, precision


def with_precision(name: str, precision: str) -> str:
    """The inverse of split_precision."""
    return name if precision == FULL else f"{name}@{precision}"


class Reduced:
    """A network whose matrix products are computed in fewer bits; what adds up many numbers stays in float32."""

    def __init__(self, module: nn.Module, precision: str) -> None:
        self.eager = Eager(module)
        self.dtype = REDUCED[precision]

    @torch.inference_mode()
    def __call__(self, points: Tensor) -> Tensor:
        with torch.autocast(points.device.type, self.dtype, cache_enabled=False):
            return self.eager(points).float()
