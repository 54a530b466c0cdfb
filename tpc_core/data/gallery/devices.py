"""Laptops with the screen at -y, monitors that face -x, keyboards that are wide in x."""

from __future__ import annotations

from tpc_core.data.gallery.curves import rectangle
from tpc_core.data.gallery.recipe import Recipe, part_ids
from tpc_core.data.gallery.solids import Solid, box, joined, slab

LAPTOP = part_ids("Laptop")


def _keys(width: float, depth: float, columns: int, rows: int, height: float) -> list[Solid]:
    """A field of keys about the origin, on top of z = 0."""
    step_x, step_y = width / columns, depth / rows
    return [
        box(
            (step_x * 0.82, step_y * 0.82, height),
            (-width / 2 + step_x * (i + 0.5), -depth / 2 + step_y * (j + 0.5), height / 2),
        )
        for i in range(columns)
        for j in range(rows)
    ]


def _laptop() -> Solid:
    base = slab(rectangle(0.36, 0.25, 0.012), 0, 0.018).moved(0, 0.125)
    keys = [key.moved(0, 0.09, 0.018) for key in _keys(0.31, 0.1, 12, 5, 0.003)]
    pad = box((0.1, 0.06, 0.002), (0, 0.2, 0.019))
    lid = slab(rectangle(0.36, 0.24, 0.012), 0, 0.008).moved(0, 0.12).turned("x", 105).moved(0, 0.005, 0.016)
    pieces = [piece.part(LAPTOP["keyboard"]) for piece in (base, *keys, pad)]
    return joined([*pieces, lid.part(LAPTOP["screen"])])


def _monitor(width: float, height: float, foot: float) -> Solid:
    panel = box((0.035, width, height), (0, 0, 0.14 + height / 2), 0.01)
    frame = box((0.02, width * 0.95, height * 0.92), (-0.014, 0, 0.14 + height / 2))
    bulge = box((0.04, width * 0.5, height * 0.5), (0.03, 0, 0.14 + height / 2), 0.015)
    neck = box((0.03, 0.07, 0.26), (0.045, 0, 0.14))
    base = slab(rectangle(foot * 0.8, foot, 0.03), 0, 0.015).moved(0.03)
    return joined([panel, frame, bulge, neck, base])


def _keyboard() -> Solid:
    plate = box((0.45, 0.17, 0.016), (0, 0, 0.008), 0.006)
    letters = [key.moved(-0.055, -0.012, 0.016) for key in _keys(0.31, 0.1, 14, 5, 0.007)]
    numbers = [key.moved(0.165, -0.012, 0.016) for key in _keys(0.09, 0.1, 4, 5, 0.007)]
    row = [key.moved(0, 0.062, 0.016) for key in _keys(0.42, 0.018, 16, 1, 0.006)]
    turned = joined([plate, *letters, *numbers, *row]).turned("z", 180)
    return turned.turned("x", -4)


RECIPES = [
    Recipe("laptop-1", "laptop", "Laptop", _laptop, "Laptop"),
    Recipe("monitor-1", "monitor", "Wide monitor", lambda: _monitor(0.56, 0.34, 0.24)),
    Recipe("monitor-2", "monitor", "Square monitor", lambda: _monitor(0.42, 0.34, 0.22)),
    Recipe("keyboard-1", "keyboard", "Keyboard", _keyboard),
]
