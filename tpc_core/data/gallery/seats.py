"""Things to sit and lie on. Chairs face +y with the back at -y; sofas are long in y with the back at +x."""

from __future__ import annotations

import numpy as np

from tpc_core.data.gallery.curves import circle, smooth
from tpc_core.data.gallery.recipe import Recipe, part_ids
from tpc_core.data.gallery.solids import Solid, at_height, bar, box, column, joined, loft, slab, tube

CHAIR = part_ids("Chair")


def _wooden_chair() -> Solid:
    seat = box((0.44, 0.44, 0.04), (0, 0, 0.45), 0.02).part(CHAIR["seat"])
    legs, posts = [], []
    for x in (-0.19, 0.19):
        legs.append(bar((x, 0.19, 0), (x, 0.19, 0.44), 0.015, 0.022).part(CHAIR["leg"]))
        legs.append(bar((x, -0.22, 0), (x, -0.19, 0.44), 0.015, 0.022).part(CHAIR["leg"]))
        posts.append(bar((x, -0.2, 0.46), (x, -0.27, 0.96), 0.022, 0.016).part(CHAIR["back"]))
    slats = [
        box((0.38, 0.02, 0.08), (0, -0.2 - 0.07 * (z - 0.46) / 0.5, z), 0.004).part(CHAIR["back"])
        for z in (0.6, 0.75, 0.9)
    ]
    return joined([seat, *legs, *posts, *slats])


def _office_chair() -> Solid:
    arms_of_star = []
    for turn in range(5):
        angle = 90 + 72 * turn
        spoke = bar((0, 0, 0.1), (0.3, 0, 0.06), 0.028, 0.018).turned("z", angle)
        caster = column(0, 0.05, 0.025, sides=10).moved(0.29).turned("z", angle)
        arms_of_star += [spoke.part(CHAIR["leg"]), caster.part(CHAIR["leg"])]
    stem = column(0.08, 0.42, 0.03).part(CHAIR["leg"])
    seat = box((0.5, 0.48, 0.09), (0, 0, 0.46), 0.07).part(CHAIR["seat"])
    back = _curved_panel(0.46, 0.56, 0.06).moved(0, -0.25, 0.82).part(CHAIR["back"])
    spine = bar((0, -0.2, 0.44), (0, -0.29, 0.62), 0.03).part(CHAIR["back"])
    arms = []
    for x in (-0.29, 0.29):
        rest = box((0.06, 0.3, 0.035), (x, 0.0, 0.68), 0.015)
        post = bar((x, 0.02, 0.67), (x * 0.85, 0.02, 0.45), 0.018)
        arms += [rest.part(CHAIR["arm"]), post.part(CHAIR["arm"])]
    return joined([*arms_of_star, stem, seat, back, spine, *arms])


def _curved_panel(width: float, height: float, depth: float) -> Solid:
    """An upright cushion, hollow towards +y so that it hugs the back, a little narrower at the top."""
    across = np.linspace(-0.5, 0.5, 9)
    rings = []
    for level in np.linspace(-0.5, 0.5, 7):
        fullness = 1 - 0.5 * (2 * abs(level)) ** 4
        x = across * width * (1 - 0.12 * (level + 0.5)) * (0.85 + 0.15 * fullness)
        bend = 0.35 * width * across**2
        lean = -0.08 * level
        front = np.stack([x, bend + lean + depth / 2 * fullness, np.full(9, level * height)], axis=1)
        rear = np.stack([x, bend + lean - depth / 2 * fullness, np.full(9, level * height)], axis=1)
        rings.append(np.vstack([front[::-1], rear]))
    return loft(rings)


def _armchair() -> Solid:
    seat = box((0.52, 0.5, 0.1), (0, 0, 0.42), 0.04).part(CHAIR["seat"])
    back = box((0.52, 0.08, 0.5), (0, 0, 0), 0.03).turned("x", 10).moved(0, -0.26, 0.72).part(CHAIR["back"])
    pieces = [seat, back]
    for x in (-0.28, 0.28):
        pieces.append(bar((x, 0.22, 0), (x, 0.22, 0.63), 0.02).part(CHAIR["leg"]))
        pieces.append(bar((x, -0.26, 0), (x, -0.24, 0.63), 0.02).part(CHAIR["leg"]))
        pieces.append(box((0.055, 0.54, 0.035), (x, -0.01, 0.64), 0.015).part(CHAIR["arm"]))
    return joined(pieces)


def _bar_stool() -> Solid:
    seat = slab(circle(0.19, 28), 0.68, 0.75, 0.02)
    pieces = [seat]
    for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        pieces.append(bar((0.17 * x, 0.17 * y, 0), (0.11 * x, 0.11 * y, 0.69), 0.018))
    ring = np.vstack([circle(0.205, 29), circle(0.205, 29)[:1]])
    pieces.append(tube(at_height(ring, 0.25), 0.012, 8))
    return joined(pieces)


def _sofa(seats: int, length: float) -> Solid:
    base = box((0.82, length, 0.2), (0, 0, 0.2), 0.03)
    back = box((0.22, length, 0.5), (0, 0, 0), 0.05).turned("y", 6).moved(0.33, 0, 0.5)
    pieces = [base, back]
    for y in (-length / 2, length / 2):
        pieces.append(box((0.86, 0.2, 0.46), (0, y, 0.34), 0.05))
    inner = length - 0.2
    for place in range(seats):
        y = -inner / 2 + inner * (place + 0.5) / seats
        pieces.append(box((0.62, inner / seats - 0.02, 0.16), (-0.1, y, 0.38), 0.05))
        cushion = box((0.14, inner / seats - 0.04, 0.34), (0, 0, 0), 0.05)
        pieces.append(cushion.turned("y", 10).moved(0.2, y, 0.6))
    for x in (-0.34, 0.34):
        pieces += [column(0, 0.1, 0.03, sides=12).moved(x, y) for y in (-length / 2, length / 2)]
    return joined(pieces)


def _bed(headboard: float, footboard: float) -> Solid:
    pieces = [
        box((1.5, 2.0, 0.16), (0, 0, 0.24), 0.03),
        box((1.46, 1.94, 0.22), (0, 0, 0.42), 0.07),
        box((1.5, 1.2, 0.03), (0, 0.38, 0.54), 0.01),
        box((1.6, 0.07, headboard), (0, -1.03, headboard / 2), 0.02),
    ]
    if footboard:
        pieces.append(box((1.6, 0.06, footboard), (0, 1.03, footboard / 2), 0.02))
    for x in (-0.36, 0.36):
        pieces.append(box((0.6, 0.36, 0.14), (0, 0, 0), 0.06).turned("x", 18).moved(x, -0.74, 0.6))
    for x in (-0.7, 0.7):
        pieces += [column(0, 0.18, 0.04, sides=12).moved(x, y) for y in (-0.92, 0.92)]
    return joined(pieces)


def _bench() -> Solid:
    pieces = [box((1.5, 0.09, 0.035), (0, y, 0.45), 0.01) for y in (-0.15, -0.04, 0.07, 0.18)]
    pieces += [box((1.5, 0.03, 0.09), (0, -0.23 - 0.25 * (z - 0.5), z), 0.008) for z in (0.58, 0.7, 0.82)]
    for x in (-0.62, 0.62):
        side = smooth(
            [(x, 0.2, 0), (x, 0.19, 0.3), (x, 0.16, 0.43), (x, -0.1, 0.42), (x, -0.22, 0.5), (x, -0.31, 0.88)]
        )
        pieces.append(tube(side, 0.025, 8))
        pieces.append(bar((x, -0.28, 0), (x, -0.16, 0.43), 0.025))
    return joined(pieces)


RECIPES = [
    Recipe("chair-1", "chair", "Wooden chair", _wooden_chair, "Chair"),
    Recipe("chair-2", "chair", "Office chair", _office_chair, "Chair"),
    Recipe("chair-3", "chair", "Armchair", _armchair, "Chair"),
    Recipe("stool-1", "stool", "Bar stool", _bar_stool),
    Recipe("sofa-1", "sofa", "Three-seat sofa", lambda: _sofa(3, 2.0)),
    Recipe("sofa-2", "sofa", "Two-seat sofa", lambda: _sofa(2, 1.5)),
    Recipe("bed-1", "bed", "Double bed", lambda: _bed(1.0, 0)),
    Recipe("bed-2", "bed", "Bed with a footboard", lambda: _bed(0.95, 0.6)),
    Recipe("bench-1", "bench", "Garden bench", _bench),
]
