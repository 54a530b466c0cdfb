"""`tpc train`: make a checkpoint from a recipe, or continue after a crash."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tpc_core.shipped import given_or_shipped


@click.command()
@click.argument("config", type=click.Path(path_type=Path))
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
    default=Path("checkpoints"),
    show_default=True,
    help="Where the finished checkpoint and its card go.",
)
@click.option("--tensorboard", is_flag=True, help="Also log to TensorBoard (needs the tensorboard extra).")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON and no progress bar.")
def train(
    config: Path, resume: bool, runs: Path, checkpoints: Path, tensorboard: bool, as_json: bool
) -> None:
    """Train the recipe CONFIG, a TOML file or the name of a shipped one, and export its checkpoint."""
    recipe = given_or_shipped(config, "configs")
    from tpc_core.training import load_config
    from tpc_core.training import train as run

    result = run(
        load_config(recipe),
        runs=runs,
        checkpoints=checkpoints,
        resume=resume,
        tensorboard=tensorboard,
        progress=not as_json,
    )
    if as_json:
        values = {"weights": str(result.weights), "epochs": result.epochs, "held_aside": result.held_aside}
        click.echo(json.dumps(values))
        return
    click.echo(f"wrote {result.weights} after {result.epochs} epochs")
    for name, value in (result.held_aside or {}).items():
        click.echo(f"  {name}: {value:.1f} % (held-aside objects, estimate)")
