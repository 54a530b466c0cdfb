"""From a bound of p_A to a radius, where one probability decides: exact, or off a table where that costs too much."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tpc_core.certify.single import LinearRule, Rule

_PARTS = (0.25, 0.5, 0.75, 1.0, 1.5)
"""Parts of the radius asked for at which the needed p_A of linear maps is computed: a second of quadrature each."""

_LARGEST_LINEAR = 0.94


def certified_part(rule: Rule, p_a: float, radii: Sequence[float]) -> float:
    """The part of the radii that a bound certifies, rounded down."""
    if isinstance(rule, LinearRule):
        within = (part for part in reversed(_PARTS) if part <= 1)
        return next((part for part in within if p_a > _needed(rule, part, radii[0])), 0.0)
    found = rule.largest(p_a, tuple(radii))
    return max(min(r / asked for r, asked in zip(found, radii, strict=True)), 0.0)


def forecast_part(rule: Rule, p_a: float, radii: Sequence[float]) -> float:
    """About the same, for forecasts: read between the entries of the table."""
    if not isinstance(rule, LinearRule):
        return certified_part(rule, p_a, radii)
    table = [(0.0, 0.5), *_table(rule, radii[0])]
    return float(np.interp(p_a, [needed for _, needed in table], [part for part, _ in table]))


def _table(rule: LinearRule, asked: float) -> list[tuple[float, float]]:
    """(part, needed p_A); what is needed is remembered by radius, so the same numbers are asked for again."""
    parts = [part for part in _PARTS if part * asked < _LARGEST_LINEAR]
    return [(part, _needed(rule, part, asked)) for part in parts]


def _needed(rule: LinearRule, part: float, asked: float) -> float:
    return rule.needed((asked if part == 1 else float(f"{part * asked * (1 + 1e-9):.10g}"),))
