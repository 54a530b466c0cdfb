"""People, upright, arms along x."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tpc_core.data.gallery.curves import smooth
from tpc_core.data.gallery.recipe import Recipe
from tpc_core.data.gallery.solids import Solid, Vector, ellipsoid, joined, revolved, tube


def _limb(path: Sequence[Vector], start: float, end: float) -> Solid:
    """A bar along a smooth path that thins from one radius to another."""
    points = smooth(path)
    return tube(points, np.linspace(start, end, len(points)), 12)


def _person() -> Solid:
    arm = [(0.17, 0, 1.4), (0.25, 0, 1.3), (0.3, -0.01, 1.08), (0.33, 0.05, 0.85)]
    torso = revolved(
        smooth(
            [
                (0.02, 0.8),
                (0.15, 0.84),
                (0.165, 0.95),
                (0.14, 1.1),
                (0.17, 1.3),
                (0.18, 1.42),
                (0.06, 1.49),
                (0.05, 1.55),
            ]
        ),
        20,
    )
    head = ellipsoid((0.085, 0.1, 0.125), (0, 0.01, 1.67), 16)
    left_leg = _limb([(0.085, 0, 0.92), (0.1, 0, 0.5), (0.1, -0.01, 0.1), (0.1, 0, 0.03)], 0.085, 0.045)
    foot = ellipsoid((0.045, 0.13, 0.04), (0.1, 0.06, 0.04), 12)
    left_arm = _limb(arm, 0.052, 0.034)
    hand = ellipsoid((0.04, 0.04, 0.06), arm[-1], 10)
    side = joined([left_leg, foot, left_arm, hand])
    return joined([torso.scaled(1, 0.65, 1), head, side, side.mirrored()])


RECIPES = [
    Recipe("person-1", "person", "Standing person", _person),
]
