"""The region of a question, for any composition."""

from __future__ import annotations

from collections.abc import Sequence

from tpc_core.transforms import Box, Region, Transform, parts_of


def region_of(transform: Transform, radii: Sequence[float]) -> Region:
    """The region of these radii (internal units); for any composition, the box of its parts' regions.

    Smoothing knows compositions about one axis only; enclosures know them all.
    """
    parts = parts_of(transform)
    if len(parts) == 1:
        return transform.region(radii)
    widths: list[float] = []
    start = 0
    for part in parts:
        stop = start + len(part.radii)
        widths += part.region(radii[start:stop]).half_widths.tolist()
        start = stop
    return Box(tuple(widths))
