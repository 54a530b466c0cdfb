"""The learning rate over a run, and the running average of the weights."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from tpc_core.training.config import Interval

FINAL_SHARE = 0.01
"""The cosine ends at this share of the peak, so that the last epoch still moves the weights."""

FIRST_SHARE = 0.01
"""The first box of interval training is this much of the last one."""


def learning_rate(step: int, steps_per_epoch: int, epochs: int, warmup: int, peak: float) -> float:
    """Linear warm-up over `warmup` epochs, then a cosine down to one hundredth of the peak."""
    warmup_steps = warmup * steps_per_epoch
    if step < warmup_steps:
        return peak * (step + 1) / warmup_steps
    rest = max(1, epochs * steps_per_epoch - warmup_steps)
    progress = min(1.0, (step - warmup_steps) / rest)
    return peak * (FINAL_SHARE + (1 - FINAL_SHARE) * 0.5 * (1 + math.cos(math.pi * progress)))


def box_size(step: int, steps: int, interval: Interval) -> float:
    """The eps of interval training at a step: it grows by the same factor in every step, until the ramp is over.

    The bounds of a random network are hundreds of times its answers: from the start they would be all it learns.
    """
    return float(interval.eps * FIRST_SHARE ** max(0.0, 1 - step / (interval.ramp * steps)))


class WeightAverage:
    """An exponential moving average (EMA) of a module's weights and running statistics."""

    def __init__(self, module: nn.Module, decay: float) -> None:
        self.decay = decay
        self.values: dict[str, Tensor] = {k: v.detach().clone() for k, v in module.state_dict().items()}

    @torch.no_grad()
    def update(self, module: nn.Module, step: int) -> None:
        """Move the average towards the module; early on it follows faster, to forget the random start."""
        share = 1 - min(self.decay, (1 + step) / (10 + step))
        floats: list[Tensor] = []
        targets: list[Tensor] = []
        for name, value in module.state_dict().items():
            if value.is_floating_point():
                floats.append(self.values[name])
                targets.append(value)
            else:
                self.values[name].copy_(value)
        torch._foreach_lerp_(floats, targets, share)
