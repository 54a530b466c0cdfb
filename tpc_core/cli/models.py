"""`tpc models`: the shipped checkpoints, and which of them fit a transform."""

from __future__ import annotations

import json

import click

from tpc_core.cli.options import as_json
from tpc_core.models import ModelCard, list_models
from tpc_core.smoothing import smoothing_from_json


@click.command()
@click.option("--transform", "-t", help="Say which can certify this transform, and why the others cannot.")
@as_json
def models(transform: str | None, as_json: bool) -> int:
    """List the shipped checkpoints."""
    pairs: list[tuple[ModelCard, str | None]]
    if transform is None:
        pairs = [(card, None) for card in list_models()]
    else:
        from tpc_core.models.choose import fitting_models
        from tpc_core.transforms import parse_transform

        pairs = fitting_models(parse_transform(transform))
    if as_json:
        rows = [{**card.model_dump(exclude={"classes", "recipe"}), "objection": why} for card, why in pairs]
        click.echo(json.dumps(rows))
        return 0
    for card, why in pairs:
        mark = "" if why is None else f"  no: {why}"
        click.echo(f"{card.name:<32}{smoothing_from_json(card.smoothing).describe()}{mark}")
    return 0
