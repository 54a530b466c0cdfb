"""`tpc attack`: look inside the region for a transform that changes the prediction."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Literal, cast

import click

from tpc_core.attacks import METHODS
from tpc_core.attacks import attack as search
from tpc_core.cli.options import Asked, as_json, question
from tpc_core.errors import InvalidValue


@click.command()
@question
@click.option("--against", type=click.Choice(["smoothed", "base"]), default="smoothed", show_default=True)
@click.option(
    "--method", "methods", multiple=True, help=f"One or more of {', '.join(METHODS)}; all by default."
)
@click.option("--tries", type=int, default=200, show_default=True, help="Parameters to try per method.")
@as_json
def attack(
    ask: Asked,
    against: str,
    methods: tuple[str, ...],
    tries: int,
    as_json: bool,
) -> int:
    """Attack OBJECT. Exit 0: nothing found; 1: an attack was found and proven; 2: bad input."""
    if ask.radius is None:
        raise InvalidValue("give the radius that the attack may use: --radius")
    base, cloud, asked = ask.load()
    report = search(
        base,
        cloud,
        asked.transform,
        asked.radius,
        asked.options,
        against=cast(Literal["smoothed", "base"], against),
        methods=methods or tuple(METHODS),
        tries=tries,
    )
    if as_json:
        facts = {
            "found": report.attack is not None,
            "sentence": report.sentence,
            "model": base.name,
            "prediction": report.prediction,
            "attack": asdict(report.attack) if report.attack else None,
            "closest_margin": report.closest.margin,
            "evaluations": report.evaluations,
        }
        click.echo(json.dumps(facts))
    else:
        click.echo(report.sentence)
    return 1 if report.attack is not None else 0
