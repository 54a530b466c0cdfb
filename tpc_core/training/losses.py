"""The training loss: cross-entropy over noisy clouds, with consistency between noises of the same cloud."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from tpc_core.training.config import Consistency


def smoothed_loss(
    logits: Tensor, targets: Tensor, consistency: Consistency, label_smoothing: float
) -> Tensor:
    """Mean cross-entropy plus lambda KL(mean || each) plus eta H(mean) (Jeong and Shin, 2020, equation 7).

    logits: (m*B, C) with the m noises of the batch one after another; targets: classes (B,), or shares of the
    classes for every cloud (B, C) or for every noisy cloud (m*B, C).
    """
    noises = consistency.noises
    if len(targets) < len(logits):
        targets = torch.cat([targets] * noises)
    loss = F.cross_entropy(logits, targets, label_smoothing=label_smoothing)
    if noises == 1 or (consistency.weight == 0 and consistency.entropy == 0):
        return loss
    log_p = F.log_softmax(logits, dim=1).view(noises, -1, logits.shape[1])
    mean = log_p.exp().mean(dim=0)
    log_mean = mean.clamp_min(1e-20).log()
    entropy = -(mean * log_mean).sum(dim=1).mean()
    divergence = (mean * (log_mean - log_p.mean(dim=0))).sum(dim=1).mean()
    return loss + consistency.weight * divergence + consistency.entropy * entropy


def taught(targets: Tensor, answers: Tensor, teaching: float) -> Tensor:
    """Targets in part from teachers: (1 - t) truth + t answers; classes (B,) or shares (B, C), (m*B, C)."""
    shares = F.one_hot(targets, answers.shape[1]).to(answers.dtype) if targets.ndim == 1 else targets
    return (1 - teaching) * torch.cat([shares] * (len(answers) // len(shares))) + teaching * answers


def correct_share(logits: Tensor, targets: Tensor, noises: int) -> Tensor:
    """The share of rows whose largest logit is the target."""
    return (logits.argmax(dim=1) == targets.repeat(noises)).to(torch.float32).mean()
