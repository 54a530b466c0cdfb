"""Every coordinate moves on its own, by at most r: one pass proves it, a few steps of an attack may refute it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from tpc_core.bounds.margins import classifier_margins
from tpc_core.bounds.network import Network
from tpc_core.exact.problem import CLEAR, Counterexample, require_classes
from tpc_core.exact.search import Verdict
from tpc_core.transforms import CoordinateNoise

LINF = CoordinateNoise("linf")
STEPS = 20
HALVINGS = 14
"""Of the largest radius: it is found to a ten-thousandth of where the search ends."""
UNDECIDED = "the bounds are too wide"


@dataclass(frozen=True)
class BallProblem:
    """Does the network answer `label` for every cloud whose coordinates differ from points (N, 3) by at most r?"""

    network: Network
    points: Tensor
    radius: float
    label: int

    def __post_init__(self) -> None:
        require_classes(self.network)

    @cached_property
    def exact_points(self) -> Tensor:
        return self.points.to(torch.float64)

    def bound(self, part: float) -> float:
        """No rival comes nearer than this within the part of the radius."""
        form = LINF.ball_form(self.points, part * self.radius)
        return float(classifier_margins(self.network, form, self.label).lower[0])

    def at(self, displacement: Tensor) -> tuple[float, int]:
        """The margin to the nearest rival of the cloud moved by (N, 3) float64, and that rival."""
        logits = self.network.evaluate((self.exact_points + displacement).unsqueeze(0))[0]
        margins = logits[self.label] - logits
        margins[self.label] = torch.inf
        worst, rival = margins.min(dim=0)
        return float(worst), int(rival)

    def attack(self, part: float, steps: int = STEPS) -> Counterexample | None:
        """Signed gradient steps down the margin, kept within the part of the radius; None where none gets below."""
        size = part * self.radius
        moved = torch.zeros_like(self.exact_points)
        for number in range(steps):
            with torch.enable_grad():
                moving = moved.clone().requires_grad_()
                logits = self.network.differentiable((self.exact_points + moving).unsqueeze(0))[0]
                rivals = logits.masked_fill(torch.arange(len(logits)) == self.label, -torch.inf)
                (gradient,) = torch.autograd.grad(logits[self.label] - rivals.max(), moving)
            step = size * (2.0 if number == 0 else 0.25)
            moved = (moved - step * gradient.sign()).clamp_(-size, size)
            margin, rival = self.at(moved)
            if margin < -CLEAR:
                return Counterexample(tuple(moved.flatten().tolist()), rival, margin)
        return None


@dataclass(frozen=True)
class SettledBall:
    """Within `part` of the radius (0: nothing is proved) no rival comes nearer than `margin`.

    The counterexample lies beyond it: between the two nothing is known, for 3 N free numbers cannot be split.
    """

    part: float
    margin: float
    counterexample: Counterexample | None
    bounded: int
    seconds: float
    reason: str = ""
    """Why nothing was decided, or no more."""

    @property
    def verdict(self) -> Verdict:
        """On the whole radius."""
        if self.part == 1.0:
            return "certified"
        return "undecided" if self.counterexample is None else "refuted"


def settle_ball(problem: BallProblem) -> SettledBall:
    """The verdict on a ball: one pass through the network, and an attack where that does not prove it."""
    started = time.monotonic()
    margin = problem.bound(1.0)
    if margin > 0:
        return SettledBall(1.0, margin, None, 1, time.monotonic() - started)
    found = problem.attack(1.0)
    reason = UNDECIDED if found is None else ""
    return SettledBall(0.0, margin, found, 1, time.monotonic() - started, reason)


def largest_ball(problem: BallProblem, *, cancelled: Callable[[], bool] = lambda: False) -> SettledBall:
    """The largest part of the radius that is proved, by bisection, and the smallest attack found beyond it."""
    started = time.monotonic()
    part, margin, found, bounded = 0.0, 0.0, None, 0
    low, high, middle = 0.0, 1.0, 1.0
    for _ in range(HALVINGS + 1):
        if cancelled():
            return SettledBall(part, margin, found, bounded, time.monotonic() - started, "cancelled")
        bound = problem.bound(middle)
        bounded += 1
        if bound > 0:
            part = low = middle
            margin = bound
        else:
            high = middle
            found = problem.attack(middle) or found
        if part == 1.0:
            break
        middle = (low + high) / 2
    reason = UNDECIDED if part == 0.0 else ""
    return SettledBall(part, margin, found, bounded, time.monotonic() - started, reason)
