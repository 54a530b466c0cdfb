"""Aeroplanes and cars, nose towards +y, as most of ModelNet40 has them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tpc_core.data.gallery.curves import ellipse, smooth
from tpc_core.data.gallery.recipe import Recipe, part_ids
from tpc_core.data.gallery.solids import Solid, Vector, column, ellipsoid, joined, loft, revolved

PLANE, CAR = part_ids("Airplane"), part_ids("Car")


def _fuselage(length: float, radius: float) -> Solid:
    """A tube along y, round at the nose and drawn up to a point at the tail."""
    stations = smooth(
        [
            (-0.5, 0.12, 0.55),
            (-0.4, 0.45, 0.35),
            (-0.22, 0.93, 0.05),
            (0, 1, 0),
            (0.3, 1, 0),
            (0.42, 0.85, -0.05),
            (0.48, 0.5, -0.15),
            (0.5, 0.05, -0.22),
        ],
        3,
    )
    rings = []
    for along, size, rise in stations:
        outline = ellipse(radius * size, radius * size, 20)
        # x to the right and z up, counter-clockwise as seen from the nose.
        rings.append(
            np.column_stack([-outline[:, 0], np.full(20, along * length), outline[:, 1] + rise * radius])
        )
    return loft(rings)


def _wing(root: Vector, tip: Vector, root_chord: float, tip_chord: float, thickness: float) -> Solid:
    """A tapered wing between two points; its section is a flat drop, blunt towards +y."""
    section = smooth(
        [(0.5, 0), (0.3, 0.5), (-0.1, 0.4), (-0.5, 0), (-0.1, -0.4), (0.3, -0.5)], 3, closed=True
    )
    rings = []
    for point, chord in ((root, root_chord), (tip, tip_chord)):
        place = np.asarray(point, dtype=np.float64)
        flat = np.column_stack(
            [np.zeros(len(section)), section[:, 0] * chord, section[:, 1] * thickness * chord]
        )
        rings.append(flat + place)
    return loft(rings)


def _airliner(engines: Sequence[float], length: float, span: float) -> Solid:
    radius, half = 0.055 * length, span / 2
    pieces = [_fuselage(length, radius).part(PLANE["body"])]
    sweep = 0.17 * length
    wing = _wing((0.02, 0.03, -0.03), (half, 0.03 - sweep, 0.05), 0.24 * length, 0.06 * length, 0.1)
    pieces += [wing.part(PLANE["wing"]), wing.mirrored().part(PLANE["wing"])]
    rear = -0.43 * length
    plane = _wing(
        (0, rear, 0.04), (0.19 * span, rear - 0.06 * length, 0.06), 0.1 * length, 0.04 * length, 0.1
    )
    pieces += [plane.part(PLANE["tail"]), plane.mirrored().part(PLANE["tail"])]
    fin = _wing((0, rear, 0), (0.15 * length, rear - 0.08 * length, 0), 0.14 * length, 0.06 * length, 0.1)
    pieces.append(fin.turned("y", -90).moved(z=0.04).part(PLANE["tail"]))
    for place in engines:
        x = place * half
        y = 0.03 - sweep * place + 0.09 * length
        profile = [(0.024, -0.09), (0.034, -0.03), (0.036, 0.04), (0.03, 0.07), (0.02, 0.06)]
        pod = revolved([(r * length, h * length) for r, h in profile], 14).turned("x", -90)
        pod = pod.moved(x, y, -0.03 + 0.08 * place - 0.035 * length).part(PLANE["engine"])
        pieces += [pod, pod.mirrored()]
    return joined(pieces)


def _car(roof: Sequence[Vector], width: float, hood: tuple[float, float], top: tuple[float, float]) -> Solid:
    """A car from its side view: `roof` is the (y, z) line from bumper to bumper, swept across the width."""
    body = _car_body(roof, width)
    middle, up = body.centres(), body.normals()[:, 2] > 0.75
    body = body.part(CAR["body"])
    for word, (rear, front) in (("hood", hood), ("roof", top)):
        body = body.part_where(up & (middle[:, 1] > rear) & (middle[:, 1] < front), CAR[word])
    pieces = [body]
    length = float(roof[-1][0] - roof[0][0])
    for x in (-1, 1):
        for y in (-0.3 * length, 0.31 * length):
            wheel = joined([column(-0.1, 0.1, 0.31, sides=22), column(-0.11, 0.11, 0.16, sides=12)])
            pieces.append(wheel.turned("y", 90).moved(x * (width / 2 - 0.09), y, 0.31).part(CAR["wheel"]))
        mirror = ellipsoid((0.08, 0.06, 0.05), (x * (width / 2 + 0.05), 0.18 * length, 0.95), 10)
        pieces.append(mirror.part(CAR["body"]))
    return joined(pieces)


def _car_body(roof: Sequence[Vector], width: float) -> Solid:
    """Rings across the car: up to the belt line the full width, above it the cabin leans inwards."""
    belt, floor = 0.88, 0.2
    line = smooth(roof, 4)
    rings = []
    for place, (y, z) in enumerate(line):
        ends = min(place, len(line) - 1 - place) / 3
        half = width / 2 * (1 if ends >= 1 else 0.86 + 0.14 * ends)
        shoulder = min(z, belt)
        lean = 0.55 * max(z - belt, 0)
        right = [
            (half * 0.94, floor),
            (half, 0.5),
            (half * 0.97, shoulder * 0.97),
            (half * 0.95 - lean, z * 0.985),
        ]
        ring = [*right, (half * 0.8 - lean, z), (0, z + 0.012)]
        ring += [(-x, height) for x, height in ring[-2::-1]]
        rings.append(np.array([(-x, y, height) for x, height in ring]))
    return loft(rings)


def _sedan() -> Solid:
    roof = [
        (-2.25, 0.62),
        (-2.2, 0.95),
        (-1.6, 1.02),
        (-1.0, 1.38),
        (-0.3, 1.45),
        (0.3, 1.4),
        (1.0, 1.0),
        (2.0, 0.86),
        (2.25, 0.6),
    ]
    return _car(roof, 1.78, (1.05, 2.2), (-0.95, 0.35))


def _hatchback() -> Solid:
    roof = [
        (-1.95, 0.6),
        (-1.9, 1.05),
        (-1.6, 1.42),
        (-0.8, 1.55),
        (0.2, 1.5),
        (0.95, 1.06),
        (1.7, 0.9),
        (1.95, 0.58),
    ]
    return _car(roof, 1.72, (1.0, 1.9), (-1.55, 0.3))


RECIPES = [
    Recipe("airplane-1", "airplane", "Twin-jet airliner", lambda: _airliner((0.33,), 2.0, 1.95), "Airplane"),
    Recipe(
        "airplane-2",
        "airplane",
        "Four-engined airliner",
        lambda: _airliner((0.33, 0.6), 2.1, 2.1),
        "Airplane",
    ),
    Recipe("car-1", "car", "Saloon car", _sedan, "Car"),
    Recipe("car-2", "car", "Hatchback", _hatchback, "Car"),
]
