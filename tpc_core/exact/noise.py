"""Every coordinate moves on its own, by at most r: one pass proves it, a few steps of an attack may refute it."""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch
from torch import Tensor

from tpc_core.bounds.margins import classifier_margins
from tpc_core.bounds.network import Network
from tpc_core.exact.problem import CLEAR
from tpc_core.exact.search import Verdict
from tpc_core.transforms import CoordinateNoise

LINF = CoordinateNoise("linf")


@dataclass(frozen=True)
class NoiseAttack:
    """A cloud (N, 3) float64 within the radius that the network, evaluated in float64, gives to another class."""

    cloud: Tensor
    rival: int
    margin: float


@dataclass(frozen=True)
class SettledNoise:
    """The verdict on all clouds within an l-infinity radius; `margin` is a lower bound over all of them."""

    verdict: Verdict
    margin: float
    counterexample: NoiseAttack | None
    seconds: float


def settle_noise(
    network: Network, points: Tensor, radius: float, label: int, *, steps: int = 20
) -> SettledNoise:
    """Does the network answer `label` for every cloud whose coordinates differ from points (N, 3) by at most radius?"""
    started = time.monotonic()
    margin = float(classifier_margins(network, LINF.ball_form(points, radius), label).lower[0])
    found = None if margin > 0 else attack_noise(network, points, radius, label, steps)
    verdict: Verdict = "certified" if margin > 0 else "undecided" if found is None else "refuted"
    return SettledNoise(verdict, margin, found, time.monotonic() - started)


def attack_noise(
    network: Network, points: Tensor, radius: float, label: int, steps: int
) -> NoiseAttack | None:
    """Signed gradient steps down the margin, kept within the radius; the worst cloud if its margin is negative."""
    centre = points.to(torch.float64)
    lower, upper = centre - radius, centre + radius
    cloud = centre.clone()
    for number in range(steps):
        with torch.enable_grad():
            moving = cloud.clone().requires_grad_()
            logits = network.differentiable(moving.unsqueeze(0))[0]
            rivals = logits.masked_fill(torch.arange(len(logits)) == label, -torch.inf)
            (gradient,) = torch.autograd.grad(logits[label] - rivals.max(), moving)
        step = radius * (2.0 if number == 0 else 0.25)
        cloud = torch.minimum(torch.maximum(cloud - step * gradient.sign(), lower), upper)
        logits = network.evaluate(cloud.unsqueeze(0))[0]
        margins = (logits[label] - logits).masked_fill_(torch.arange(len(logits)) == label, torch.inf)
        # Rounding of the ends may leave the ball by a hair; a cloud counts only if it is inside.
        if float(margins.min()) < -CLEAR and float((cloud - centre).abs().max()) <= radius:
            return NoiseAttack(cloud, int(margins.argmin()), float(margins.min()))
    return None


def robust_noise_radius(
    network: Network, points: Tensor, label: int, *, largest: float = 0.1, halvings: int = 12
) -> tuple[float, float | None]:
    """The l-infinity radius up to which the class is proved, by bisection, and the smallest one that was refuted.

    Between the two nothing is known: with 3 N free numbers there is nothing to split.
    """
    certified, refuted, low, high = 0.0, None, 0.0, largest
    for _ in range(halvings):
        middle = (low + high) / 2
        result = settle_noise(network, points, middle, label)
        if result.verdict == "certified":
            certified = low = middle
        else:
            high = middle
            if result.verdict == "refuted":
                refuted = middle
    return certified, refuted
