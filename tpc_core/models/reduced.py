"""The network of a variant of reduced precision; `precision.py` has its names."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tpc_core.models.folded import Eager


class Reduced:
    """A network whose matrix products are computed in fewer bits; what adds up many numbers stays in float32."""

    def __init__(self, module: nn.Module, precision: str) -> None:
        self.eager = Eager(module)
        self.dtype = {"bfloat16": torch.bfloat16, "float16": torch.float16}[precision]

    @torch.inference_mode()
    def __call__(self, points: Tensor) -> Tensor:
        with torch.autocast(points.device.type, self.dtype, cache_enabled=False):
            return self.eager(points).float()
