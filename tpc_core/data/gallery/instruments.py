"""Guitars, lying flat with the head towards -y, and pianos with the keys towards +y."""

from __future__ import annotations

import numpy as np

from tpc_core.data.gallery.curves import Curve, circle, smooth
from tpc_core.data.gallery.recipe import Recipe, part_ids
from tpc_core.data.gallery.solids import Solid, at_height, bar, box, column, joined, loft, slab, tube

GUITAR = part_ids("Guitar")


def _mirrored(half: list[tuple[float, float]]) -> Curve:
    """A smooth outline, counter-clockwise, from its right half as seen from above, head end last."""
    whole = [*half, *((-x, y) for x, y in half[-2:0:-1])]
    return smooth(whole, 4, closed=True)[::-1]


def _neck_and_head(start: float, end: float, z: float) -> list[Solid]:
    """The neck from the body at `start` to the nut at `end`, then the head with its six pegs."""
    neck = loft(
        [
            np.array(
                [
                    (x * w, y, z + dz)
                    for x, dz in (
                        (0.5, 0),
                        (0.35, -0.022),
                        (-0.35, -0.022),
                        (-0.5, 0),
                        (-0.5, 0.008),
                        (0.5, 0.008),
                    )
                ]
            )
            for y, w in ((end, 0.044), (start, 0.058))
        ]
    ).part(GUITAR["neck"])
    outline = np.array(
        [
            (0.025, 0),
            (0.04, -0.04),
            (0.042, -0.17),
            (0.02, -0.19),
            (-0.02, -0.19),
            (-0.042, -0.17),
            (-0.04, -0.04),
            (-0.025, 0),
        ]
    )
    head = slab(outline[::-1], -0.012, 0.004).turned("x", 8).moved(0, end, z).part(GUITAR["head"])
    pegs = [
        bar((side * 0.03, end - y, z - 0.02), (side * 0.07, end - y, z - 0.02), 0.007, sides=8).part(
            GUITAR["head"]
        )
        for side in (-1, 1)
        for y in (0.05, 0.1, 0.15)
    ]
    return [neck, head, *pegs]


def _electric_guitar() -> Solid:
    half = [
        (0, 0.42),
        (0.1, 0.41),
        (0.16, 0.34),
        (0.165, 0.24),
        (0.125, 0.12),
        (0.14, 0.02),
        (0.15, -0.06),
        (0.11, -0.07),
        (0.06, 0.0),
        (0, 0.01),
    ]
    outline = _mirrored(half)
    body = slab(outline, -0.022, 0.022, 0.008)
    pickups = [box((0.085, 0.025, 0.008), (0, y, 0.026)) for y in (0.09, 0.16, 0.23)]
    bridge = box((0.09, 0.03, 0.012), (0, 0.29, 0.028))
    knobs = [column(0.022, 0.034, 0.011, sides=10).moved(0.1, y) for y in (0.22, 0.28, 0.34)]
    pieces = [piece.part(GUITAR["body"]) for piece in (body, *pickups, bridge, *knobs)]
    return joined([*pieces, *_neck_and_head(0.05, -0.44, 0.024)])


def _acoustic_guitar() -> Solid:
    half = [
        (0, 0.48),
        (0.11, 0.47),
        (0.18, 0.4),
        (0.185, 0.3),
        (0.13, 0.19),
        (0.13, 0.12),
        (0.145, 0.05),
        (0.11, 0.0),
        (0, -0.015),
    ]
    outline = _mirrored(half)
    body = slab(outline, -0.05, 0.05, 0.006)
    ring = np.vstack([circle(0.05, 24), circle(0.05, 24)[:1]]) + np.array([0, 0.14])
    rosette = tube(at_height(ring, 0.051), 0.005, 6)
    bridge = box((0.15, 0.03, 0.014), (0, 0.33, 0.056))
    pieces = [piece.part(GUITAR["body"]) for piece in (body, rosette, bridge)]
    return joined([*pieces, *_neck_and_head(0.02, -0.42, 0.055)])


def _grand_outline() -> Curve:
    """The top of a grand piano: straight at -x, the bent side at +x, the keys at +y."""
    bent = smooth(
        [
            (0.74, 0.35),
            (0.72, 0.0),
            (0.5, -0.35),
            (0.3, -0.6),
            (0.08, -1.0),
            (-0.3, -1.2),
            (-0.65, -1.1),
            (-0.74, -0.85),
        ],
        4,
    )
    return np.vstack([[(-0.74, 0.35)], bent[::1]])[::-1]


def _grand_piano() -> Solid:
    outline = _grand_outline()
    case = slab(outline, 0.66, 0.98)
    keybed = box((1.48, 0.32, 0.12), (0, 0.5, 0.68))
    keys = box((1.26, 0.15, 0.03), (0, 0.56, 0.755))
    cheeks = [box((0.1, 0.3, 0.2), (x, 0.5, 0.8), 0.02) for x in (-0.69, 0.69)]
    lid = slab(outline + np.array([0.74, 0]), 0, 0.03).turned("y", -38).moved(-0.74, 0, 0.99)
    prop = bar((0.45, -0.1, 0.98), (0.2, -0.1, 1.68), 0.012)
    desk = box((0.75, 0.02, 0.2), (0, 0, 0)).turned("x", 20).moved(0, 0.22, 1.08)
    legs = [
        joined([column(0, 0.66, 0.04, 0.07, 14), column(0, 0.06, 0.05, sides=14)]).moved(x, y)
        for x, y in ((-0.6, 0.45), (0.6, 0.45), (-0.3, -0.85))
    ]
    lyre = joined([box((0.2, 0.05, 0.5), (0, 0.25, 0.4)), box((0.26, 0.2, 0.04), (0, 0.3, 0.12))])
    return joined([case, keybed, keys, *cheeks, lid, prop, desk, *legs, lyre])


def _upright_piano() -> Solid:
    pieces = [
        box((1.5, 0.36, 1.22), (0, -0.16, 0.64)),
        box((1.56, 0.42, 0.04), (0, -0.15, 1.27), 0.01),
        box((1.5, 0.34, 0.1), (0, 0.18, 0.64)),
        box((1.3, 0.15, 0.03), (0, 0.24, 0.7)),
        box((0.9, 0.02, 0.22), (0, 0.05, 1.0)),
        box((1.5, 0.4, 0.06), (0, -0.14, 0.03)),
    ]
    for x in (-0.7, 0.7):
        pieces.append(box((0.1, 0.3, 0.18), (x, 0.18, 0.72), 0.02))
        pieces.append(column(0.04, 0.6, 0.03, 0.05, 12).moved(x, 0.28))
        pieces.append(box((0.1, 0.46, 0.06), (x, 0.14, 0.03)))
    return joined(pieces)


RECIPES = [
    Recipe("guitar-1", "guitar", "Electric guitar", _electric_guitar, "Guitar"),
    Recipe("guitar-2", "guitar", "Acoustic guitar", _acoustic_guitar, "Guitar"),
    Recipe("piano-1", "piano", "Grand piano", _grand_piano),
    Recipe("piano-2", "piano", "Upright piano", _upright_piano),
]
