"""Lamps."""

from __future__ import annotations

from tpc_core.data.gallery.curves import smooth
from tpc_core.data.gallery.recipe import Recipe, part_ids
from tpc_core.data.gallery.solids import Solid, bar, column, ellipsoid, joined, revolved

LAMP = part_ids("Lamp")


def _shade(low: float, high: float, radius: float, top_radius: float) -> Solid:
    """A thin-walled shade, open at both ends: up the outside, down the inside."""
    wall = 0.006
    outside = [(radius, low), (top_radius, high)]
    inside = [(top_radius - wall, high), (radius - wall, low)]
    return revolved([*outside, *inside], 32)


def _table_lamp() -> Solid:
    foot = revolved(smooth([(0.1, 0), (0.1, 0.015), (0.06, 0.03), (0.03, 0.045)]), 28).part(LAMP["base"])
    profile = [(0.02, 0.04), (0.045, 0.08), (0.07, 0.15), (0.055, 0.23), (0.02, 0.29), (0.012, 0.34)]
    pole = joined([revolved(smooth(profile), 24), column(0.34, 0.52, 0.008, sides=10)]).part(LAMP["pole"])
    shade = _shade(0.34, 0.56, 0.2, 0.1).part(LAMP["shade"])
    return joined([foot, pole, shade])


def _drum_lamp() -> Solid:
    foot = column(0, 0.03, 0.11, 0.1, 28).part(LAMP["base"])
    pole = joined([column(0.03, 0.38, 0.014, sides=12), ellipsoid((0.03, 0.03, 0.03), (0, 0, 0.1), 12)])
    shade = _shade(0.34, 0.58, 0.16, 0.15).part(LAMP["shade"])
    return joined([foot, pole.part(LAMP["pole"]), shade])


def _desk_lamp() -> Solid:
    foot = revolved(smooth([(0.1, 0), (0.1, 0.02), (0.07, 0.035), (0.02, 0.045)]), 26).part(LAMP["base"])
    lower = bar((0, 0, 0.04), (-0.12, 0, 0.3), 0.01)
    upper = bar((-0.12, 0, 0.3), (0.16, 0, 0.5), 0.01)
    joint = ellipsoid((0.02, 0.02, 0.02), (-0.12, 0, 0.3), 12)
    head = revolved([(0.085, 0), (0.08, 0.03), (0.04, 0.09), (0.025, 0.12), (0.0, 0.12)], 24)
    head = head.turned("y", -25).moved(0.2, 0, 0.4).part(LAMP["shade"])
    return joined([foot, joined([lower, upper, joint]).part(LAMP["pole"]), head])


RECIPES = [
    Recipe("lamp-1", "lamp", "Table lamp", _table_lamp, "Lamp"),
    Recipe("lamp-2", "lamp", "Lamp with a drum shade", _drum_lamp, "Lamp"),
    Recipe("lamp-3", "lamp", "Desk lamp", _desk_lamp, "Lamp"),
]
