"""Which radius to ask about first: one that takes some cells, or the one that a good model reaches."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tpc_core.certify.cover import planned_votes
from tpc_core.certify.prepare import prepare
from tpc_core.cloud import Cloud
from tpc_core.covers import Prices
from tpc_core.errors import TpcError
from tpc_core.proofs import CoverProof
from tpc_core.question import DEFAULTS
from tpc_core.smoothing import Cover, OneProbability, rule_for
from tpc_core.transforms import Transform
from tpc_core.votes import BaseClassifier

MOST_CELLS = 48
"""Cells of a first question: enough to watch, and over in seconds."""

MOST_VOTES = 40_000
GOOD_MODEL = 0.97
"""A p_A that votes prove in a moment where a model is sure of an object."""

_STEPS = 40
_SMALL = 1e-3


def propose_radius(model: BaseClassifier, cloud: Cloud, transform: Transform) -> dict[str, float]:
    """A radius for a first question about this object, in edge units; the geometry decides, and no vote is cast.

    By cells: the largest radius whose first cells are few enough to watch. By one probability: what a model reaches
    that is sure of the object. By a group: everything, which is what such a certificate is about.
    """
    whole = tuple(p.to_internal(p.largest_radius) for p in transform.radii)
    towards = _direction(transform, model, cloud, whole)
    pairs = zip(transform.radii, towards, strict=True)
    named = {p.name: min(p.to_edge(r), p.largest_radius) for p, r in pairs}
    run = prepare(model, cloud, transform, named, DEFAULTS)
    rule = run.claim.rule
    if isinstance(rule, OneProbability):
        found = rule.largest(GOOD_MODEL, towards)
        factor = min(f / r for f, r in zip(found, towards, strict=True))
    elif isinstance(run.proof, CoverProof):
        factor = _by_cells(run.proof)
    else:
        factor = 1.0
    return {
        p.name: _nice(min(p.to_edge(r * factor), p.largest_radius))
        for p, r in zip(transform.radii, towards, strict=True)
    }


def _direction(
    transform: Transform, model: BaseClassifier, cloud: Cloud, whole: Sequence[float]
) -> tuple[float, ...]:
    """The proportions of a region with several radii: each alone moves the cloud equally far, or as in the paper."""
    if len(whole) == 1:
        return tuple(whole)
    points = np.asarray(cloud.array, dtype=np.float64)
    rule = rule_for(transform, model.smoothing, points)
    if isinstance(rule, Cover) and len(whole) == transform.dim:
        ends = np.diag(whole) * _SMALL
        moved = rule.reach(np.zeros_like(ends), -ends, ends, np.linalg.norm(ends, axis=1))
        parts = tuple(w / max(float(m), 1e-12) for w, m in zip(whole, moved, strict=True))
    elif transform.paper_radii:
        last = transform.paper_radii[-1]
        parts = tuple(p.to_internal(v) for p, v in zip(transform.radii, last, strict=True))
    else:
        parts = tuple(whole)
    stretch = min(w / part for w, part in zip(whole, parts, strict=True))
    return tuple(stretch * part for part in parts)


def _by_cells(proof: CoverProof) -> float:
    """The largest part of the region, halved step by step, that few cells cover for a fair number of votes."""
    prices = Prices(proof.alpha, proof.region.dim)
    factor = 1.0
    for _ in range(_STEPS):
        region = proof.scaled(factor)
        try:
            if proof.lattice.count_first_cells(region) <= MOST_CELLS:
                cells = proof.lattice.first_cells(region)
                if planned_votes(prices, cells) <= MOST_VOTES:
                    return factor
        except TpcError:  # a taper that turns the cloud inside out, say
            pass
        factor *= 0.8
    return factor


def _nice(value: float) -> float:
    """Two digits, rounded down."""
    if value <= 0:
        return value
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.floor(value / step + 1e-9) * step:.3g}")
