"""Quick figures on the held-aside part: how often the votes agree, and what that would certify."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from scipy.special import ndtr
from scipy.stats import beta
from torch import Tensor, nn

from tpc_core.smoothing import (
    CoordinateSmoothing,
    ParameterSmoothing,
    RotationDiffusion,
    Smoothing,
    TorchNoise,
)
from tpc_core.training.clouds import Clouds
from tpc_core.training.intervals import interval_logits
from tpc_core.transforms import Linear

ALPHA = 0.001
SAMPLES = 1000
"""The estimate pretends that the votes had been this many, as in the paper."""

CERTAIN_EPS = (0.005, 0.01, 0.02)
"""Boxes over which an interval-trained network is measured."""

CLOUDS_AT_ONCE = 1024


@torch.no_grad()
def vote_shares(
    classify: Callable[[Tensor], Tensor], clouds: Clouds, smoothing: Smoothing, votes: int, seed: int
) -> tuple[Tensor, Tensor]:
    """The share of votes for the truth, and the largest share of any other class; one per object or point."""
    points = clouds.points[:, 0]
    truth = clouds.targets if clouds.targets.ndim == 1 else clouds.targets[:, 0]
    noise = TorchNoise(torch.Generator().manual_seed(seed))
    counts: Tensor | None = None
    for _ in range(votes):
        for low in range(0, len(points), CLOUDS_AT_ONCE):
            logits = classify(smoothing.perturb(points[low : low + CLOUDS_AT_ONCE], noise))
            if counts is None:
                counts = torch.zeros(*truth.shape, logits.shape[-1])
            cast = logits.argmax(dim=-1, keepdim=True)
            counts[low : low + CLOUDS_AT_ONCE].scatter_add_(
                -1, cast, torch.ones_like(cast, dtype=counts.dtype)
            )
    assert counts is not None
    shares = counts / votes
    right = shares.gather(-1, truth.long().unsqueeze(-1)).squeeze(-1)
    others = shares.scatter(-1, truth.long().unsqueeze(-1), 0.0).amax(dim=-1)
    return right.flatten(), others.flatten()


def needed_share(p_a: float) -> float:
    """The share of votes whose Clopper-Pearson bound at ALPHA exceeds p_a; above 1 if none does."""
    for count in range(math.ceil(p_a * SAMPLES), SAMPLES + 1):
        if beta.ppf(ALPHA, count, SAMPLES - count + 1) > p_a:
            return count / SAMPLES
    return 1.1


def certified_rows(smoothing: Smoothing) -> dict[str, float]:
    """For the paper's radii that this smoothing serves directly: the p_A that each needs."""
    if isinstance(smoothing, CoordinateSmoothing):
        return {f"l2 {radius}": float(ndtr(radius / smoothing.sigma)) for radius in (0.05, 0.1)}
    if isinstance(smoothing, RotationDiffusion):
        return {
            f"rotation {degrees}": float(ndtr(math.radians(degrees) / smoothing.effective_sigma))
            for degrees in (5, 10, 15)
        }
    # Linear maps do not add up, so their radius is not a plain multiple of sigma; p_A itself has to do.
    if not isinstance(smoothing, ParameterSmoothing) or isinstance(smoothing.transform, Linear):
        return {}
    rows = {}
    for edge in smoothing.transform.paper_radii:
        radii = smoothing.transform.parse_radius(edge)
        distance = math.hypot(*(r / s for r, s in zip(radii, smoothing.spreads, strict=True)))
        rows[f"{smoothing.transform.name} {smoothing.transform.describe_radius(radii)}"] = float(
            ndtr(distance)
        )
    return rows


@torch.no_grad()
def certain_rows(module: nn.Module, clouds: Clouds) -> dict[str, float]:
    """How many objects a network in eval mode keeps for certain over boxes, by intervals, in percent."""
    points, truth = clouds.points[:, 0], clouds.targets
    figures = {}
    for eps in (0.0, *CERTAIN_EPS):
        leads = [
            interval_logits(module, part, target, eps)[1]
            for part, target in zip(points.split(128), truth.split(128), strict=True)
        ]
        rivals = torch.cat(leads).scatter(1, truth.unsqueeze(1), -math.inf)
        figures[f"certain linf {eps}" if eps else "plain"] = round(
            100 * float((rivals.amax(dim=1) < 0).float().mean()), 2
        )
    return figures


def measured(
    classify: Callable[[Tensor], Tensor], clouds: Clouds, smoothing: Smoothing, votes: int, seed: int
) -> dict[str, float]:
    """Percentages: votes right, smoothed accuracy, and estimates of certified accuracy (for tuning only)."""
    right, others = vote_shares(classify, clouds, smoothing, votes, seed)

    def percent(passed: Tensor) -> float:
        return round(100 * float(passed.float().mean()), 2)

    figures = {"votes right": percent(right), "smoothed": percent(right > others)}
    if clouds.targets.ndim == 1:
        # The test split has about as many objects of every class; the train split has not.
        passed = (right > others).float()
        per_class = [passed[clouds.targets == label].mean() for label in clouds.targets.unique()]
        figures["smoothed, class mean"] = round(100 * float(torch.stack(per_class).mean()), 2)
    for share in (0.9, 0.95, 0.99):
        figures[f"p_A > {share}"] = percent(right > share)
    if votes > 100:
        for row, p_a in certified_rows(smoothing).items():
            figures[row] = percent(right >= needed_share(p_a))
    return figures
