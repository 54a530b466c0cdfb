"""Certificates that rest on one probability: additive transforms, rotations, l2, l-infinity and linear maps."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from typing import Literal

from scipy import special

from tpc_core import streams
from tpc_core.certificate.schema import Prediction, Reason, SingleEvidence
from tpc_core.certify.events import Event, VotesCounted
from tpc_core.certify.ledger import stage_ledger
from tpc_core.certify.run import Outcome, Run, Tally, cast_stage
from tpc_core.smoothing import RotationDiffusion
from tpc_core.statistics import samples_to_reach, upper_bound
from tpc_core.statistics.linear_shift import linear_radius, required_p_a
from tpc_core.transforms import Transform

ROUND_DOWN = 1 - 1e-9


class Rule(ABC):
    """How a lower bound of p_A becomes a radius, and a radius a bound that is needed."""

    name: Literal["parameter", "l2", "linear", "diffusion"]

    @abstractmethod
    def needed(self, radii: tuple[float, ...]) -> float:
        """The p_A that must be exceeded to certify these radii."""

    @abstractmethod
    def largest(self, p_a: float, radii: tuple[float, ...]) -> tuple[float, ...]:
        """The largest radii along the ray through `radii` that p_A certifies; zeros where none."""


@dataclass(frozen=True)
class ParameterRule(Rule):
    """sqrt(sum (alpha_i / sigma_i)^2) < Phi^-1(p_A) (the paper's additive corollary, with p_B = 1 - p_A)."""

    sigmas: tuple[float, ...]
    name = "parameter"

    def needed(self, radii: tuple[float, ...]) -> float:
        distance = math.hypot(*(r / s for r, s in zip(radii, self.sigmas, strict=True)))
        return min(float(special.ndtr(distance * (1 + 1e-12))) + 1e-15, 1.0)

    def largest(self, p_a: float, radii: tuple[float, ...]) -> tuple[float, ...]:
        if p_a <= 0.5:
            return tuple(0.0 for _ in radii)
        unit = math.hypot(*(r / s for r, s in zip(radii, self.sigmas, strict=True)))
        factor = float(special.ndtri(p_a)) / unit * ROUND_DOWN
        return tuple(factor * r for r in radii)


@dataclass(frozen=True)
class L2Rule(Rule):
    """||z||_2 < sigma Phi^-1(p_A); `stretch` turns the claimed norm into l2 (sqrt(3N) for l-infinity)."""

    sigma: float
    stretch: float
    slack: float
    name = "l2"

    def needed(self, radii: tuple[float, ...]) -> float:
        distance = (radii[0] * self.stretch + self.slack) / self.sigma
        return min(float(special.ndtr(distance * (1 + 1e-12))) + 1e-15, 1.0)

    def largest(self, p_a: float, radii: tuple[float, ...]) -> tuple[float, ...]:
        if p_a <= 0.5:
            return (0.0,)
        radius = (self.sigma * float(special.ndtri(p_a)) - self.slack) / self.stretch * ROUND_DOWN
        return (max(radius, 0.0),)


@dataclass(frozen=True)
class LinearRule(Rule):
    """The joint Neyman-Pearson check of scale and shift (THEORY section 5)."""

    sigma: float
    name = "linear"

    def needed(self, radii: tuple[float, ...]) -> float:
        return required_p_a(self.sigma, radii[0])

    def largest(self, p_a: float, radii: tuple[float, ...]) -> tuple[float, ...]:
        return (linear_radius(p_a, self.sigma),)


@dataclass(frozen=True)
class DiffusionRule(Rule):
    """omega < sigma_eff Phi^-1(p_A), sigma_eff^2 = 2 (exp(sigma^2/2) - 1): every rotation by an angle below omega.

    q(y | Rx), as a function of R, is the heat flow of an indicator on SO(3), whose Ricci curvature is 1/2 where
    distances are angles. There Phi^-1(q) is Lipschitz with constant 1 / sigma_eff (Bakry and Ledoux 1996).
    """

    smoothing: RotationDiffusion
    transform: Transform
    name = "diffusion"

    def needed(self, radii: tuple[float, ...]) -> float:
        angle = self.transform.turning_angle(radii)
        assert angle is not None
        reach = float(special.ndtr(angle / self.smoothing.effective_sigma * (1 + 1e-12)))
        # What is drawn may miss the heat kernel by the sampling error, at the cloud and at the attacked one.
        return min(reach + 2 * self.smoothing.sampling_error + 1e-15, 1.0)

    def largest(self, p_a: float, radii: tuple[float, ...]) -> tuple[float, ...]:
        end = self.transform.radii[0]
        low, high = 0.0, end.to_internal(end.largest_radius)
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if p_a > self.needed((middle,)) else (low, middle)
        return (low * ROUND_DOWN,)


def certify_single(run: Run, prediction: Prediction, rule: Rule) -> Generator[Event, None, Outcome]:
    """Count votes in stages until the bound passes what is needed, or never will."""
    needed = 0.5 if run.largest else rule.needed(run.radii)
    tally = Tally(streams.SINGLE, run.cloud.points, prediction.index)
    best = 0.0
    for stage, size in enumerate(run.monitor.sizes):
        finished = yield from cast_stage(run, tally, size)
        if not finished:
            break
        best = max(best, run.monitor.bound(tally.n_a, stage, run.alpha))
        yield VotesCounted(None, tally.n, tally.n_a, best, run.control.samples)
        if (best > needed and not run.largest) or upper_bound(tally.n_a, tally.n, 1e-3) <= needed:
            break
    radii = _largest(rule, best, run.radii) if run.largest else None
    certified = max(radii) > 0 if radii is not None else best > needed
    evidence = SingleEvidence(rule=rule.name, readings=tally.readings, lower_bound=best, needed=needed)
    ledger = stage_ledger(run.monitor, len(tally.readings), run.alpha)
    reasons = [] if certified else [_reason(run, tally, needed)]
    return Outcome("certified" if certified else "undecided", evidence, ledger, reasons, radii)


def _largest(rule: Rule, p_a: float, radii: tuple[float, ...]) -> tuple[float, ...]:
    """The largest radii up to where the search ends: past half a turn, "within 259 degrees" says nothing new."""
    return tuple(min(found, end) for found, end in zip(rule.largest(p_a, radii), radii, strict=True))


def _reason(run: Run, tally: Tally, needed: float) -> Reason:
    stopped = run.control.stop_reason()
    if stopped is not None:
        return stopped
    estimate = tally.n_a / tally.n if tally.n else 0.0
    if tally.n and upper_bound(tally.n_a, tally.n, 1e-3) <= needed:
        text = f"p_A is about {estimate:.4f} and {needed:.4f} is needed: no number of samples would help"
        return Reason(code="not-confident", message=f"{text}; try a smaller radius or another sigma")
    more = samples_to_reach(needed, estimate, run.alpha) if tally.n else None
    hint = f"; about {more:,} samples would settle it" if more else "; try a smaller radius"
    if not run.afford((run.monitor.sizes[0] if not tally.n else tally.n) + 1):
        return Reason(code="budget", message=f"the budget of samples ended at p_A about {estimate:.4f}{hint}")
    return Reason(
        code="not-confident",
        message=f"p_A is about {estimate:.4f}, its lower bound does not pass the needed {needed:.4f}{hint}",
    )
