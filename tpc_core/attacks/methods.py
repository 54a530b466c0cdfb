"""Four ways to look for an attack. Each returns the parameters it likes best, most harmful first."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from tpc_core.attacks.space import Space
from tpc_core.attacks.victim import Victim
from tpc_core.errors import unknown_name

Array = NDArray[np.float64]
Cancelled = Callable[[], bool]


@dataclass(frozen=True)
class Candidate:
    """A parameter and the margin that the victim has left there."""

    z: Array
    margin: float
    method: str


def random_search(
    victim: Victim, space: Space, tries: int, rng: np.random.Generator, cancelled: Cancelled
) -> list[Candidate]:
    """The extremes of the region, then random points of it."""
    points = np.concatenate([space.extremes(), space.sample(max(tries - len(space.extremes()), 1), rng)])
    return _ranked(victim, points[:tries], "random", cancelled)


def grid_search(
    victim: Victim, space: Space, tries: int, rng: np.random.Generator, cancelled: Cancelled
) -> list[Candidate]:
    """A regular grid over the region, boundary included; random directions where the dimension is too high."""
    steps = int(tries ** (1 / space.dim)) if space.dim <= 6 else 0
    if steps < 2:
        return _ranked(victim, space.project(1.5 * space.sample(tries, rng)), "grid", cancelled)
    axes = [np.linspace(-h, h, steps) for h in space.half_widths]
    points = space.project(np.array(list(itertools.product(*axes))))
    return _ranked(victim, points, "grid", cancelled)


def gradient_search(
    victim: Victim, space: Space, tries: int, rng: np.random.Generator, cancelled: Cancelled
) -> list[Candidate]:
    """Walk downhill on the margin from several starts, staying inside the region (projected gradient)."""
    steps = min(20, tries)
    starts = max(1, min(8, tries // steps))
    seeds = np.concatenate([space.extremes()[: starts // 2], space.sample(starts, rng)])[:starts]
    z = 0.7 * seeds
    widths = np.broadcast_to(space.half_widths, z.shape)
    best: list[Candidate] = []
    for step in range(steps):
        if cancelled():
            break
        here = torch.from_numpy(z).requires_grad_(True)
        margins = victim.loss(here)
        if not margins.requires_grad:
            return []  # a classifier without gradients leaves this search to the others
        (gradient,) = torch.autograd.grad(margins.sum(), here)
        slope = gradient.numpy() * widths
        length = np.linalg.norm(slope, axis=1, keepdims=True)
        reach = widths if space.dim <= 16 else widths * np.sqrt(space.dim)
        pace = 0.5 * (1 - step / steps) + 0.05
        z = space.project(z - pace * reach * slope / np.maximum(length, 1e-12))
        best += [
            Candidate(row.copy(), float(m), "gradient") for row, m in zip(z, margins.detach(), strict=True)
        ]
    promising = np.array([c.z for c in sorted(best, key=lambda c: c.margin)[: 2 * starts]])
    return _ranked(victim, promising, "gradient", cancelled)


def boundary_search(
    victim: Victim, space: Space, tries: int, rng: np.random.Generator, cancelled: Cancelled
) -> list[Candidate]:
    """Start on the boundary, then step from the most harmful point found along the boundary, ever shorter."""
    starts = _onto_boundary(space, space.sample(max(1, tries // 2), rng))
    found = _ranked(victim, starts, "boundary", cancelled)
    best = found[0] if found else None
    for left in range(tries - len(starts), 0, -1):
        if best is None or cancelled():
            break
        # The steps shorten with what is left to try, so that the last ones only polish.
        step = _onto_boundary(space, best.z + left / tries * space.sample(1, rng))
        candidate = Candidate(step[0], float(victim.margins(step)[0]), "boundary")
        best = min(best, candidate, key=lambda known: known.margin)
        found.append(candidate)
    return sorted(found, key=lambda candidate: candidate.margin)


def _onto_boundary(space: Space, z: Array) -> Array:
    """Points pushed outwards until the region stops them."""
    return space.project(4.0 * z)


def _ranked(victim: Victim, points: Array, method: str, cancelled: Cancelled) -> list[Candidate]:
    found: list[Candidate] = []
    for start in range(0, len(points), victim.at_once):
        if cancelled():
            break
        piece = points[start : start + victim.at_once]
        found += [Candidate(z, float(m), method) for z, m in zip(piece, victim.margins(piece), strict=True)]
    return sorted(found, key=lambda candidate: candidate.margin)


Method = Callable[[Victim, Space, int, np.random.Generator, Cancelled], list[Candidate]]
METHODS: dict[str, Method] = {
    "random": random_search,
    "grid": grid_search,
    "gradient": gradient_search,
    "boundary": boundary_search,
}


def method(name: str) -> Method:
    """The search of a name."""
    if name not in METHODS:
        raise unknown_name("attack", name, list(METHODS))
    return METHODS[name]
