"""The numbers behind the moving figures of the Theory page: each shows what one theorem says."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tpc_core.statistics.e_test import log_e, needed_log_e
from tpc_core.teaching.worst_case import guaranteed_share

Array = NDArray[np.float64]

_TERMS = 60


@dataclass(frozen=True)
class WorstHalfSpace:
    """A half space x < edge that holds p_A of the noise, and what is left of it when the noise moves (in sigmas)."""

    edge: float
    shifts: Array
    kept: Array


def worst_half_space(p_a: float, shifts: Array) -> WorstHalfSpace:
    """The set that loses most among all sets of probability p_A."""
    return WorstHalfSpace(float(special.ndtri(p_a)), shifts, guaranteed_share(p_a, shifts))


def angle_density(sigma: float, angles: Array) -> Array:
    """The density of the rotation angle (radians) after Brownian motion on SO(3) until variance sigma^2 per axis.

    The heat kernel as a sum over representations, times the volume of rotations by that angle.
    """
    order = np.arange(_TERMS)
    weights = (2 * order + 1) * np.exp(-order * (order + 1) * sigma**2 / 2)
    half = angles[:, None] / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        characters = np.sin((2 * order + 1) * half) / np.sin(half)
    characters = np.where(np.abs(np.sin(half)) < 1e-12, 2 * order + 1, characters)
    return np.asarray((characters @ weights) * uniform_angle_density(angles))


def uniform_angle_density(angles: Array) -> Array:
    """The density of the angle of a uniform rotation."""
    return np.asarray((1 - np.cos(angles)) / math.pi)


@dataclass(frozen=True)
class EvidencePaths:
    """log10 of E after every vote, for some runs; a run passes where it reaches the bar, log10 of 1 / alpha."""

    totals: Array
    paths: Array
    """(runs, votes)."""
    bar: float

    @property
    def crossed(self) -> int:
        """How many runs ever reached the bar."""
        return int(np.sum(self.paths.max(axis=1) >= self.bar))


def evidence_paths(
    p_a: float, needed: float, alpha: float, votes: int, runs: int, seed: int = 0
) -> EvidencePaths:
    """Runs of the test on votes whose true p_A is known; with p_A at most `needed` few may ever cross."""
    draws = np.random.default_rng(seed).random((runs, votes)) < p_a
    totals = np.arange(1, votes + 1, dtype=np.float64)
    logs = log_e(np.cumsum(draws, axis=1), np.broadcast_to(totals, draws.shape), needed)
    return EvidencePaths(totals, np.asarray(logs / math.log(10)), needed_log_e(alpha) / math.log(10))
