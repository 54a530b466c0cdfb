"""Tables and cupboards. Tables and desks are long in y, bookshelves wide in x."""

from __future__ import annotations

from tpc_core.data.gallery.curves import circle, smooth
from tpc_core.data.gallery.recipe import Recipe, part_ids
from tpc_core.data.gallery.solids import Solid, bar, box, column, ellipsoid, joined, revolved, slab

TABLE = part_ids("Table")


def _dining_table() -> Solid:
    top = box((0.95, 1.7, 0.045), (0, 0, 0.735), 0.02).part(TABLE["top"])
    apron = box((0.8, 1.5, 0.08), (0, 0, 0.67)).part(TABLE["top"])
    legs = [
        bar((0.4 * x, 0.77 * y, 0), (0.38 * x, 0.75 * y, 0.71), 0.028, 0.045, 12).part(TABLE["leg"])
        for x in (-1, 1)
        for y in (-1, 1)
    ]
    return joined([top, apron, *legs])


def _round_table() -> Solid:
    top = slab(circle(0.55, 40), 0.71, 0.75, 0.012).part(TABLE["top"])
    stem = revolved(
        smooth([(0.09, 0.06), (0.06, 0.15), (0.045, 0.3), (0.07, 0.42), (0.05, 0.55), (0.1, 0.71)]), 20
    )
    foot = revolved(smooth([(0.3, 0), (0.3, 0.025), (0.2, 0.05), (0.08, 0.08)]), 32)
    return joined([top, stem.part(TABLE["leg"]), foot.part(TABLE["leg"])])


def _desk() -> Solid:
    pieces = [box((0.75, 1.55, 0.04), (0, 0, 0.74), 0.01)]
    for y in (-0.55, 0.55):
        pieces.append(box((0.68, 0.4, 0.7), (0, y, 0.37)))
        for z in (0.15, 0.37, 0.59):
            pieces.append(box((0.02, 0.36, 0.19), (-0.35, y, z), 0.006))
            pieces.append(box((0.025, 0.12, 0.02), (-0.365, y, z + 0.04)))
    pieces.append(box((0.02, 0.72, 0.45), (0.3, 0, 0.5)))
    return joined(pieces)


def _night_stand() -> Solid:
    pieces = [
        box((0.42, 0.5, 0.48), (0, 0, 0.32)),
        box((0.46, 0.54, 0.03), (0, 0, 0.575), 0.012),
    ]
    for z in (0.21, 0.43):
        pieces.append(box((0.02, 0.45, 0.19), (-0.215, 0, z), 0.006))
        pieces.append(ellipsoid((0.016, 0.02, 0.02), (-0.24, 0, z), 10))
    for x in (-0.18, 0.18):
        pieces += [column(0, 0.09, 0.018, 0.026, 10).moved(x, y) for y in (-0.21, 0.21)]
    return joined(pieces)


def _bookshelf() -> Solid:
    width, depth, height, board, shelves = 0.9, 0.28, 1.8, 0.025, 5
    pieces = [box((board, depth, height), (x, 0, height / 2)) for x in (-width / 2, width / 2)]
    pieces.append(box((width, 0.012, height), (0, depth / 2, height / 2)))
    for level in range(shelves + 1):
        z = board / 2 + level * (height - board) / shelves
        pieces.append(box((width, depth, board), (0, 0, z)))
    return joined(pieces)


RECIPES = [
    Recipe("table-1", "table", "Dining table", _dining_table, "Table"),
    Recipe("table-2", "table", "Round table", _round_table, "Table"),
    Recipe("desk-1", "desk", "Writing desk", _desk),
    Recipe("night_stand-1", "night_stand", "Night stand", _night_stand),
    Recipe("bookshelf-1", "bookshelf", "Bookshelf", _bookshelf),
]
