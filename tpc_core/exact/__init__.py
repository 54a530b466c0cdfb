"""Answers without probability: branch and bound over cells of parameters (THEORY section 9).

    network = network_of(model.module)                       # folded float32 weights, evaluated in float64
    problem = Problem(network, transform, cloud.points, region_of(transform, radii), label)
    settle(problem)                                          # certified, refuted or undecided
    robust_radius(problem)                                   # from both sides

What a certificate states: `network.digest` and `ARITHMETIC`, the verdict, the leaves as exact fractions of the box
around the region (`leaves.fractions`) with their margins, or the z of the counterexample. What a verifier does:
`covers` without the network, `check` with it.
"""

from __future__ import annotations

from tpc_core.bounds.network import ARITHMETIC, Network, network_of
from tpc_core.exact.cells import Cells, covers
from tpc_core.exact.check import check, check_counterexample
from tpc_core.exact.noise import NoiseAttack, SettledNoise, robust_noise_radius, settle_noise
from tpc_core.exact.parts import PartsBatch, PartsProblem, SettledParts, settle_parts, settle_parts_events
from tpc_core.exact.problem import Counterexample, Problem, region_of
from tpc_core.exact.radius import Closer, RobustRadius, robust_radius, robust_radius_events
from tpc_core.exact.search import Batch, Budget, Settled, Verdict, settle, settle_events

__all__ = [
    "ARITHMETIC",
    "Batch",
    "Budget",
    "Cells",
    "Closer",
    "Counterexample",
    "Network",
    "NoiseAttack",
    "PartsBatch",
    "PartsProblem",
    "Problem",
    "RobustRadius",
    "Settled",
    "SettledNoise",
    "SettledParts",
    "Verdict",
    "check",
    "check_counterexample",
    "covers",
    "network_of",
    "region_of",
    "robust_noise_radius",
    "robust_radius",
    "robust_radius_events",
    "settle",
    "settle_events",
    "settle_noise",
    "settle_parts",
    "settle_parts_events",
]
