"""`tpc transforms`: what can be done to a cloud, in which units, and how it is certified."""

from __future__ import annotations

import json

import click

from tpc_core.cli.options import as_json
from tpc_core.transforms import Transform, all_transforms


@click.command()
@as_json
def transforms(as_json: bool) -> int:
    """List the transforms, their radii and their parameters; angles are in degrees."""
    known = all_transforms()
    if as_json:
        click.echo(json.dumps([_row(transform) for transform in known]))
        return 0
    for transform in known:
        radii = ",".join(f"{p.name}{' (deg)' if p.unit else ''}" for p in transform.radii)
        click.echo(f"{transform.name:<28}{transform.category.value:<23}radius: {radii}")
    return 0


def _row(transform: Transform) -> dict[str, object]:
    return {
        "name": transform.name,
        "category": transform.category.value,
        "radii": [{"name": p.name, "unit": p.unit, "largest": p.largest_radius} for p in transform.radii],
        "parameters": [
            {"name": p.name, "unit": p.unit, "low": p.low, "high": p.high, "step": p.step}
            for p in transform.parameters
        ],
        "paper_radii": [list(radii) for radii in transform.paper_radii],
    }
