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
    rows = [_row(transform) for transform in all_transforms()]
    if as_json:
        click.echo(json.dumps(rows))
        return 0
    for row in rows:
        radii = ",".join(f"{p['name']}{' (deg)' if p['unit'] else ''}" for p in row["radii"])
        click.echo(f"{row['name']:<28}{row['category']:<23}radius: {radii}")
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
