"""Curves that solids are made of: outlines in the plane, and smooth lines through given points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Curve = NDArray[np.float64]


def circle(radius: float, count: int = 24) -> Curve:
    """A circle about the origin, counter-clockwise: (count, 2)."""
    return ellipse(radius, radius, count)


def ellipse(radius_x: float, radius_y: float, count: int = 24) -> Curve:
    """An ellipse about the origin, counter-clockwise: (count, 2)."""
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    return np.stack([radius_x * np.cos(angles), radius_y * np.sin(angles)], axis=1)


def rectangle(width: float, depth: float, radius: float = 0.0, corner: int = 4) -> Curve:
    """A rectangle about the origin, counter-clockwise, with rounded corners if a radius is given."""
    half_x, half_y = width / 2 - radius, depth / 2 - radius
    corners = np.array([[half_x, half_y], [-half_x, half_y], [-half_x, -half_y], [half_x, -half_y]])
    if radius == 0:
        return corners
    quarter = np.linspace(0, np.pi / 2, corner)
    arcs = [
        centre + radius * np.stack([np.cos(quarter + turn), np.sin(quarter + turn)], axis=1)
        for centre, turn in zip(corners, np.arange(4) * np.pi / 2, strict=True)
    ]
    return np.concatenate(arcs)


def smooth(points: Sequence[Sequence[float]], steps: int = 5, *, closed: bool = False) -> Curve:
    """A Catmull-Rom curve through the points, in as many dimensions as they have."""
    given = np.asarray(points, dtype=np.float64)
    # An open curve is continued straight beyond its ends, so that it starts and ends at the given points.
    before = given[-1] if closed else 2 * given[0] - given[1]
    after = [given[0], given[1]] if closed else [2 * given[-1] - given[-2]]
    knots = np.vstack([before, given, *after])
    t = np.linspace(0, 1, steps, endpoint=False)[:, None]
    pieces = []
    for a, b, c, d in zip(knots, knots[1:], knots[2:], knots[3:], strict=False):
        pieces.append(
            0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)
        )
    curve = np.concatenate(pieces)
    return curve if closed else np.vstack([curve, given[-1]])
