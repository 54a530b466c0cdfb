"""What a house is fitted with: bath, toilet, door, cooker hood, mantelpiece. And a tent for the garden."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tpc_core.data.gallery.curves import ellipse, rectangle, smooth
from tpc_core.data.gallery.recipe import Recipe
from tpc_core.data.gallery.solids import Solid, at_height, bar, box, ellipsoid, joined, loft, slab, tube


def _bathtub() -> Solid:
    """Long in y: up the outside, over the rim, down into the basin."""
    levels = [
        (0.62, 1.36, 0.0),
        (0.7, 1.5, 0.1),
        (0.78, 1.64, 0.5),
        (0.86, 1.74, 0.54),
        (0.86, 1.74, 0.58),
        (0.72, 1.58, 0.58),
        (0.62, 1.42, 0.4),
        (0.52, 1.22, 0.14),
        (0.44, 1.1, 0.1),
    ]
    rings = [at_height(rectangle(w, d, 0.2, 6), z) for w, d, z in levels]
    tap = tube(smooth([(0, -0.8, 0.57), (0, -0.8, 0.72), (0, -0.72, 0.76), (0, -0.64, 0.72)]), 0.02, 8)
    return joined([loft(rings), tap])


def _oval(width: float, depth: float, y: float, z: float) -> NDArray[np.float64]:
    """A level oval ring about (0, y, z)."""
    return np.asarray(at_height(ellipse(width / 2, depth / 2, 24), z) + np.array([0, y, 0]))


def _toilet() -> Solid:
    bowl = loft(
        [
            _oval(0.24, 0.5, 0.02, 0),
            _oval(0.22, 0.46, 0.02, 0.1),
            _oval(0.24, 0.44, 0.06, 0.2),
            _oval(0.36, 0.52, 0.1, 0.34),
            _oval(0.38, 0.54, 0.1, 0.4),
            _oval(0.28, 0.42, 0.1, 0.4),
            _oval(0.2, 0.3, 0.1, 0.25),
            _oval(0.1, 0.14, 0.1, 0.2),
        ]
    )
    lid = slab(ellipse(0.18, 0.21, 24), 0, 0.02).turned("x", 96).moved(0, -0.14, 0.62)
    bridge = box((0.3, 0.24, 0.12), (0, -0.22, 0.36), 0.03)
    tank = box((0.46, 0.2, 0.36), (0, -0.29, 0.6), 0.03)
    cover = box((0.5, 0.23, 0.04), (0, -0.29, 0.8), 0.02)
    return joined([bowl, lid, bridge, tank, cover])


def _door() -> Solid:
    leaf = box((0.84, 0.045, 2.0), (0, 0, 1.0))
    pieces = [leaf]
    for x in (-0.2, 0.2):
        pieces += [box((0.26, 0.06, h), (x, 0, z), 0.012) for z, h in ((0.5, 0.7), (1.42, 0.85))]
    pieces += [box((0.08, 0.12, 2.08), (x, 0, 1.04)) for x in (-0.46, 0.46)]
    pieces.append(box((1.0, 0.12, 0.08), (0, 0, 2.08)))
    pieces += [ellipsoid((0.03, 0.03, 0.03), (0.35, y, 0.98), 12) for y in (-0.07, 0.07)]
    return joined(pieces)


def _ridge_tent() -> Solid:
    """Two sloping sheets over a ridge along y, on four low walls."""
    section = np.array([(-0.75, 0), (-0.7, 0.18), (0, 0.85), (0.7, 0.18), (0.75, 0)])
    rings = []
    for y, sag in ((-0.95, 1.0), (-0.5, 0.97), (0, 0.95), (0.5, 0.97), (0.95, 1.0)):
        rings.append(np.column_stack([section[:, 0], np.full(5, y), section[:, 1] * sag]))
    poles = [bar((0, y, 0), (0, y, 0.9), 0.012, sides=8) for y in (-0.95, 0.95)]
    return joined([loft(rings), *poles])


def _range_hood() -> Solid:
    rim = box((0.9, 0.5, 0.06), (0, 0.25, 0.03))
    hood = loft(
        [
            at_height(rectangle(w, d) + np.array([0, d / 2]), z)
            for w, d, z in ((0.9, 0.5, 0.06), (0.3, 0.28, 0.3))
        ]
    )
    flue = box((0.28, 0.26, 0.5), (0, 0.13, 0.53))
    return joined([rim, hood, flue])


def _mantel() -> Solid:
    pieces = [
        box((1.7, 0.3, 0.06), (0, 0, 1.2), 0.015),
        box((1.6, 0.24, 0.05), (0, 0, 1.14)),
        box((1.5, 0.2, 0.22), (0, 0, 1.0)),
    ]
    for x in (-0.62, 0.62):
        pieces += [
            box((0.26, 0.2, 0.9), (x, 0, 0.45)),
            box((0.3, 0.24, 0.14), (x, 0, 0.07)),
            box((0.16, 0.22, 0.6), (x, 0, 0.5)),
        ]
    return joined(pieces)


RECIPES = [
    Recipe("bathtub-1", "bathtub", "Bathtub", _bathtub),
    Recipe("toilet-1", "toilet", "Toilet", _toilet),
    Recipe("door-1", "door", "Panelled door", _door),
    Recipe("tent-1", "tent", "Ridge tent", _ridge_tent),
    Recipe("range_hood-1", "range_hood", "Cooker hood", _range_hood),
    Recipe("mantel-1", "mantel", "Mantelpiece", _mantel),
]
