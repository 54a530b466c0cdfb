"""The region of a question, for any composition."""

from __future__ import annotations

from collections.abc import Sequence

from tpc_core.transforms import Box, Product, Region, Transform, parts_of


def region_of(transform: Transform, radii: Sequence[float]) -> Region:
    """The region of these radii (internal units); for any composition, the regions of its parts side by side.

    Smoothing knows compositions about one axis only; enclosures know them all. The box around them would be too large:
    an attack in a corner of it, beyond the radius of a part, refutes nothing.
    """
    regions: list[Region] = []
    start = 0
    for part in parts_of(transform):
        stop = start + len(part.radii)
        regions.append(part.region(radii[start:stop]))
        start = stop
    if len(regions) == 1:
        return regions[0]
    if all(isinstance(region, Box) for region in regions):
        return Box(tuple(float(width) for region in regions for width in region.half_widths))
    return Product(tuple(regions))
