"""Answers without probability: branch and bound over cells of parameters (docs/theory.md, "Certain answers").

    network = network_of(model.module)                       # folded float32 weights, evaluated in float64
    problem = Problem(network, transform, cloud.points, region_of(transform, radii), label)
    settle(problem)                                          # certified, refuted or undecided
    robust_radius(problem)                                   # from both sides
    settle_ball(BallProblem(network, cloud.points, 0.01, label))   # every coordinate on its own
    settle_parts(PartsProblem(network, transform, cloud.points, region, labels))   # point by point

What a certificate states: `network.digest` and `ARITHMETIC`, the verdict, the leaves as exact fractions of the box
around the region (`leaves.fractions`) with their margins, or the z of the counterexample. What a verifier does:
`covers` without the network, `check` with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpc_core.door import open_door

if TYPE_CHECKING:
    from tpc_core.bounds.network import ARITHMETIC, Network, network_of
    from tpc_core.exact.ball import BallProblem, SettledBall, largest_ball, settle_ball
    from tpc_core.exact.cells import Cells, covered_factor, covers
    from tpc_core.exact.check import (
        check,
        check_ball,
        check_ball_counterexample,
        check_counterexample,
        check_margins,
        check_point_counterexample,
        check_point_margins,
    )
    from tpc_core.exact.parts import PartsBatch, PartsProblem, SettledParts, settle_parts, settle_parts_events
    from tpc_core.exact.problem import Counterexample, Problem
    from tpc_core.exact.radius import Closer, RobustRadius, robust_radius, robust_radius_events
    from tpc_core.exact.regions import region_of
    from tpc_core.exact.search import Batch, Budget, Settled, Verdict, settle, settle_events

# Whoever reads a certificate needs the cells, and no PyTorch.
open_door(
    __name__,
    {
        "tpc_core.bounds.network": ("ARITHMETIC", "Network", "network_of"),
        "tpc_core.exact.ball": ("BallProblem", "SettledBall", "largest_ball", "settle_ball"),
        "tpc_core.exact.cells": ("Cells", "covered_factor", "covers"),
        "tpc_core.exact.check": (
            "check",
            "check_ball",
            "check_ball_counterexample",
            "check_counterexample",
            "check_margins",
            "check_point_counterexample",
            "check_point_margins",
        ),
        "tpc_core.exact.parts": (
            "PartsBatch",
            "PartsProblem",
            "SettledParts",
            "settle_parts",
            "settle_parts_events",
        ),
        "tpc_core.exact.problem": ("Counterexample", "Problem"),
        "tpc_core.exact.radius": ("Closer", "RobustRadius", "robust_radius", "robust_radius_events"),
        "tpc_core.exact.regions": ("region_of",),
        "tpc_core.exact.search": ("Batch", "Budget", "Settled", "Verdict", "settle", "settle_events"),
    },
)

__all__ = [
    "ARITHMETIC",
    "BallProblem",
    "Batch",
    "Budget",
    "Cells",
    "Closer",
    "Counterexample",
    "Network",
    "PartsBatch",
    "PartsProblem",
    "Problem",
    "RobustRadius",
    "Settled",
    "SettledBall",
    "SettledParts",
    "Verdict",
    "check",
    "check_ball",
    "check_ball_counterexample",
    "check_counterexample",
    "check_margins",
    "check_point_counterexample",
    "check_point_margins",
    "covered_factor",
    "covers",
    "largest_ball",
    "network_of",
    "region_of",
    "robust_radius",
    "robust_radius_events",
    "settle",
    "settle_ball",
    "settle_events",
    "settle_parts",
    "settle_parts_events",
]
