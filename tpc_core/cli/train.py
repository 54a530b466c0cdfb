"""`tpc train`: make a checkpoint from a recipe, continue after a crash, or train a network that you brought."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tpc_core.errors import InvalidValue
from tpc_core.shipped import given_or_shipped

if TYPE_CHECKING:
    from tpc_core.training.config import TrainConfig


@click.command()
@click.argument("config", type=click.Path(path_type=Path), required=False)
@click.option("--from", "start", help="Train this model of yours for a smoothing (see `tpc models add`).")
@click.option(
    "--smoothing", help="With --from: noise:0.05, z-twist:20, group:z-rotation; by default the model's own."
)
@click.option("--data", help="With --from: the data set to train on, such as modelnet40 or one you added.")
@click.option("--epochs", type=int, help="With --from: how often every object is shown; default 20.")
@click.option("--rate", type=float, help="With --from: the learning rate; default 0.0005.")
@click.option("--interval", type=float, help="With --from: also train for boxes of this size (PointNets).")
@click.option("--name", help="With --from: what the new model is called.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Another seed than the recipe's; the name ends in -seed-N then.",
)
@click.option("--resume", is_flag=True, help="Continue the saved run of this recipe, if there is one.")
@click.option(
    "--runs",
    type=click.Path(path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="Where states and logs go.",
)
@click.option(
    "--checkpoints",
    type=click.Path(path_type=Path),
    help="Where the finished checkpoint and its card go; by default ./checkpoints, or your models with --from.",
)
@click.option("--tensorboard", is_flag=True, help="Also log to TensorBoard (needs the tensorboard extra).")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON and no progress bar.")
def train(
    config: Path | None,
    start: str | None,
    smoothing: str | None,
    data: str | None,
    epochs: int | None,
    rate: float | None,
    interval: float | None,
    name: str | None,
    seed: int | None,
    resume: bool,
    runs: Path,
    checkpoints: Path | None,
    tensorboard: bool,
    as_json: bool,
) -> None:
    """Train the recipe CONFIG, a TOML file or the name of a shipped one, and export its checkpoint.

    With --from it trains a model that you brought, under noise: a network that was trained without it has split votes.
    """
    tuning = {"data": data, "epochs": epochs, "rate": rate, "interval": interval, "name": name}
    given = {key: value for key, value in tuning.items() if value is not None}
    if start is None:
        if config is None:
            raise InvalidValue("say what to train: a recipe, or --from a model of yours")
        if given or smoothing is not None:
            option = "smoothing" if smoothing is not None else next(iter(given))
            raise InvalidValue(f"--{option} belongs to --from; a recipe says it in its file")
        recipe = _recipe(config)
    else:
        if config is not None:
            raise InvalidValue("a recipe names its own start (initial = ...); leave out --from or the recipe")
        recipe = _tuning(start, smoothing, given)
    if seed is not None:
        recipe = recipe.with_seed(seed)
    from tpc_core.models.store import models_folder
    from tpc_core.training import train as run

    result = run(
        recipe,
        runs=runs,
        checkpoints=checkpoints or (models_folder() if start is not None else Path("checkpoints")),
        resume=resume,
        tensorboard=tensorboard,
        progress=not as_json,
    )
    if as_json:
        values = {"weights": str(result.weights), "epochs": result.epochs, "held_aside": result.held_aside}
        click.echo(json.dumps(values))
        return
    click.echo(f"wrote {result.weights} after {result.epochs} epochs")
    for title, value in (result.held_aside or {}).items():
        click.echo(f"  {title}: {value:.1f} % (held-aside objects, estimate)")


def _recipe(config: Path) -> TrainConfig:
    from tpc_core.training import load_config

    return load_config(given_or_shipped(config, "configs"))


def _tuning(start: str, smoothing: str | None, given: Mapping[str, object]) -> TrainConfig:
    from pydantic import ValidationError

    from tpc_core.models import load_card
    from tpc_core.smoothing import parse_smoothing, smoothing_from_json
    from tpc_core.training.start import tuning_recipe

    card = load_card(start)
    wanted = parse_smoothing(smoothing) if smoothing is not None else smoothing_from_json(card.smoothing)
    try:
        return tuning_recipe(start, wanted, **given)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidValue(f"--{'-'.join(map(str, first['loc']))}: {first['msg']}") from None
