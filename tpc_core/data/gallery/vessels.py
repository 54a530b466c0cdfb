"""Things turned on the wheel: bottles, bowls, cups, vases, cones. And what grows in a pot."""

from __future__ import annotations

import numpy as np

from tpc_core.data.gallery.curves import smooth
from tpc_core.data.gallery.recipe import Recipe, part_ids
from tpc_core.data.gallery.solids import Solid, Vector, box, joined, loft, revolved, tube

MUG = part_ids("Mug")


def _bottle(outline: list[Vector]) -> Solid:
    return revolved(smooth(outline, 4), 28)


def _open_vessel(outline: list[Vector], wall: float) -> Solid:
    """Up the outside, over the rim and down the inside to a floor."""
    outside = smooth(outline, 4)
    inside = outside[::-1] - np.array([wall, 0])
    inside = inside[inside[:, 1] > outside[0, 1] + wall]
    return revolved(np.vstack([outside, inside]), 32)


def _mug() -> Solid:
    body = _open_vessel([(0.036, 0), (0.042, 0.008), (0.043, 0.05), (0.043, 0.1)], 0.004).part(MUG["body"])
    grip = smooth(
        [
            (0.042, 0, 0.085),
            (0.062, 0, 0.088),
            (0.075, 0, 0.07),
            (0.074, 0, 0.042),
            (0.06, 0, 0.022),
            (0.042, 0, 0.022),
        ]
    )
    return joined([body, tube(grip, 0.0055, 10).part(MUG["handle"])])


def _traffic_cone() -> Solid:
    base = box((0.4, 0.4, 0.03), (0, 0, 0.015), 0.03)
    return joined([base, revolved([(0.15, 0.03), (0.025, 0.7), (0.018, 0.71)], 32)])


def _plain_cone() -> Solid:
    return revolved([(0.5, 0), (0.5, 0.02), (0, 1.0)], 40)


def _leaf(turn: float, reach: float, rise: float, width: float) -> Solid:
    """A blade that rises from the middle and bends outwards under its own weight."""
    t = np.linspace(0, 1, 8)
    spine = np.stack([reach * t**1.3, np.zeros(8), rise * (1.9 * t - 1.3 * t**2)], axis=1)
    ahead = np.gradient(spine, axis=0)
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    across = np.array([0.0, 1.0, 0.0])
    rings = []
    for point, direction, half in zip(spine, ahead, width * np.sin(np.pi * (0.12 + 0.86 * t)), strict=True):
        above = 0.004 * np.cross(direction, across)
        rings.append(point + np.array([half * across, above, -half * across, -above]))
    return loft(rings).turned("z", turn)


def _potted_plant() -> Solid:
    pot = _open_vessel([(0.1, 0), (0.13, 0.12), (0.15, 0.24), (0.17, 0.25), (0.17, 0.29)], 0.015)
    soil = revolved([(0.14, 0.24), (0.14, 0.25)], 24)
    leaves = []
    for layer, (count, reach, rise, width) in enumerate(
        ((9, 0.36, 0.3, 0.05), (8, 0.28, 0.52, 0.045), (6, 0.15, 0.68, 0.04))
    ):
        for number in range(count):
            turn = 360 * (number + 0.37 * layer) / count
            leaves.append(_leaf(turn, reach, rise, width).moved(z=0.25))
    return joined([pot, soil, *leaves])


def _vase(outline: list[Vector]) -> Solid:
    return _open_vessel(outline, 0.008)


RECIPES = [
    Recipe(
        "bottle-1",
        "bottle",
        "Wine bottle",
        lambda: _bottle(
            [
                (0.03, 0),
                (0.037, 0.005),
                (0.037, 0.08),
                (0.037, 0.17),
                (0.03, 0.205),
                (0.0145, 0.23),
                (0.0135, 0.28),
                (0.016, 0.283),
                (0.016, 0.295),
                (0.012, 0.3),
            ]
        ),
    ),
    Recipe(
        "bottle-2",
        "bottle",
        "Beer bottle",
        lambda: _bottle(
            [
                (0.028, 0),
                (0.031, 0.005),
                (0.031, 0.06),
                (0.031, 0.12),
                (0.024, 0.15),
                (0.014, 0.175),
                (0.013, 0.215),
                (0.015, 0.22),
                (0.013, 0.23),
            ]
        ),
    ),
    Recipe(
        "bowl-1",
        "bowl",
        "Bowl",
        lambda: _open_vessel([(0.05, 0), (0.055, 0.012), (0.1, 0.03), (0.14, 0.07), (0.155, 0.115)], 0.005),
    ),
    Recipe("cup-1", "cup", "Mug", _mug, "Mug"),
    Recipe(
        "vase-1",
        "vase",
        "Bellied vase",
        lambda: _vase(
            [(0.06, 0), (0.09, 0.05), (0.115, 0.14), (0.1, 0.22), (0.055, 0.29), (0.045, 0.33), (0.07, 0.38)]
        ),
    ),
    Recipe("cone-1", "cone", "Traffic cone", _traffic_cone),
    Recipe("cone-2", "cone", "Cone", _plain_cone),
    Recipe("plant-1", "plant", "Potted plant", _potted_plant),
]
