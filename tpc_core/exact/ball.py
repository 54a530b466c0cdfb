"""Every coordinate moves on its own, by at most r: one pass proves most balls, a few steps of an attack refute others.

What is left gets sharper bounds (`bounds.ball_cases`) and a longer attack.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from tpc_core.bounds.ball_cases import ball_margin
from tpc_core.bounds.margins import classifier_margins
from tpc_core.bounds.network import Network
from tpc_core.exact.problem import CLEAR, Counterexample, require_classes
from tpc_core.exact.search import Verdict
from tpc_core.transforms import CoordinateNoise

LINF = CoordinateNoise("linf")
STEPS = 20
STARTS, LONGER = 6, 60
"""Of the longer attack: clouds that it begins with, and steps."""
HALVINGS = 14
"""Of the largest radius that one pass proves: it is found to a ten-thousandth of where the search ends."""
FURTHER = 7
"""Of what lies beyond, where a step takes up to a second."""
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

    def sharper(self, part: float) -> float:
        """The same with backward bounds and cases: at most a second, where a pass takes milliseconds."""
        return ball_margin(self.network, LINF.ball_form(self.points, part * self.radius), self.label)

    def again(self, part: float) -> float:
        """The bound that `settle` finds where there is no counterexample: of the pass, or, if that is none, sharper."""
        found = self.bound(part)
        return found if found > 0 else max(found, self.sharper(part))

    def at(self, displacement: Tensor) -> tuple[float, int]:
        """The margin to the nearest rival of the cloud moved by (N, 3) float64, and that rival."""
        logits = self.network.evaluate((self.exact_points + displacement).unsqueeze(0))[0]
        margins = logits[self.label] - logits
        margins[self.label] = torch.inf
        worst, rival = margins.min(dim=0)
        return float(worst), int(rival)

    def attack(self, part: float, starts: int = 1, steps: int = STEPS) -> Counterexample | None:
        """Signed gradient steps down the margin, kept within the part of the radius; None where none gets below.

        The first cloud starts as it is, the others anywhere in the ball.
        """
        size = part * self.radius
        generator = torch.Generator().manual_seed(0)
        shape = (starts, *self.exact_points.shape)
        moved = size * (2 * torch.rand(shape, generator=generator, dtype=torch.float64) - 1)
        moved[0] = 0
        rival_mask = torch.arange(self.network.classes) != self.label
        for number in range(steps + 1):
            with torch.enable_grad():
                moving = moved.clone().requires_grad_()
                logits = self.network.differentiable(self.exact_points + moving)
                margins = logits[:, self.label] - logits[:, rival_mask].amax(dim=1)
                (gradient,) = torch.autograd.grad(margins.sum(), moving)
            worst = int(margins.argmin())
            if float(margins[worst].detach()) < -CLEAR:
                margin, rival = self.at(moved[worst])
                if margin < -CLEAR:
                    return Counterexample(tuple(moved[worst].flatten().tolist()), rival, margin)
            step = size * (2.0 if number == 0 else 0.25 if number < STEPS else 0.06)
            moved = (moved - step * gradient.sign()).clamp_(-size, size)
        return None

    def pass_alone(self, part: float) -> tuple[float, Counterexample | None]:
        """One pass, and nothing more."""
        return self.bound(part), None

    def settle(self, part: float) -> tuple[float, Counterexample | None]:
        """The best bound within the part of the radius, and a counterexample if one is found; cheap things first."""
        margin = self.bound(part)
        if margin > 0:
            return margin, None
        found = self.attack(part) or self.attack(part, STARTS, LONGER)
        return (margin, found) if found is not None else (self.again(part), None)


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
    """The verdict on a ball: one pass through the network, and more where that does not prove it."""
    started = time.monotonic()
    margin, found = problem.settle(1.0)
    if margin > 0:
        return SettledBall(1.0, margin, None, 1, time.monotonic() - started)
    reason = UNDECIDED if found is None else ""
    return SettledBall(0.0, margin, found, 1, time.monotonic() - started, reason)


def largest_ball(problem: BallProblem, *, cancelled: Callable[[], bool] = lambda: False) -> SettledBall:
    """The largest part of the radius that is proved, and the smallest attack found beyond it.

    Bisection by one pass each, then, from where that ends, by all that there is.
    """
    started = time.monotonic()
    part, margin, found, bounded = 0.0, 0.0, None, 0

    def ended(reason: str) -> SettledBall:
        return SettledBall(part, margin, found, bounded, time.monotonic() - started, reason)

    for settle, halvings in ((problem.pass_alone, HALVINGS), (problem.settle, FURTHER)):
        high = middle = 1.0
        for _ in range(halvings + 1):
            if part == 1.0:
                break
            if cancelled():
                return ended("cancelled")
            bound, against = settle(middle)
            bounded += 1
            if bound > 0:
                part, margin = middle, bound
            else:
                high = middle
                found = against or found
            middle = (part + high) / 2
    return ended(UNDECIDED if part == 0.0 else "")
