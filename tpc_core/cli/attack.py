"""`tpc attack`: look inside the region for a transform that changes the prediction."""

from __future__ import annotations

import json
from typing import Literal, cast

import click

from tpc_core.attacks import METHODS
from tpc_core.attacks import attack as search
from tpc_core.cli.options import as_json, parse_sigma, question
from tpc_core.data import load_object
from tpc_core.errors import InvalidValue
from tpc_core.models.choose import model_for
from tpc_core.transforms import parse_transform


@click.command()
@question
@click.option("--against", type=click.Choice(["smoothed", "base"]), default="smoothed", show_default=True)
@click.option(
    "--method", "methods", multiple=True, help=f"One or more of {', '.join(METHODS)}; all by default."
)
@click.option("--tries", type=int, default=200, show_default=True, help="Parameters to try per method.")
@as_json
def attack(
    spec: str,
    transform: str,
    radius: str | None,
    model: str | None,
    points: int | None,
    sigma: str | None,
    alpha: float,
    seed: int,
    device: str,
    against: str,
    methods: tuple[str, ...],
    tries: int,
    as_json: bool,
) -> int:
    """Attack OBJECT. Exit 0: nothing found; 1: an attack was found and proven; 2: bad input."""
    if radius is None:
        raise InvalidValue("give the radius that the attack may use: --radius")
    base = model_for(parse_transform(transform), model, points)
    report = search(
        base,
        load_object(spec, points=points or base.num_points or 64),
        transform,
        radius,
        against=cast(Literal["smoothed", "base"], against),
        methods=methods or tuple(METHODS),
        tries=tries,
        alpha=alpha,
        sigma=parse_sigma(sigma),
        seed=seed,
        device=device,
    )
    if as_json:
        facts = {
            "found": report.attack is not None,
            "sentence": report.sentence,
            "model": base.name,
            "prediction": report.prediction.model_dump(),
            "attack": report.attack.model_dump() if report.attack else None,
            "closest_margin": report.closest.margin,
            "evaluations": report.evaluations,
        }
        click.echo(json.dumps(facts))
    else:
        click.echo(report.sentence)
    return 1 if report.attack is not None else 0
