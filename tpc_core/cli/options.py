"""Options that several commands share, so that the same word means the same thing everywhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click
from tqdm import tqdm

from tpc_core.errors import InvalidValue

Command = TypeVar("Command", bound=Callable[..., Any])

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")


def question(command: Command) -> Command:
    """OBJECT, --transform, --radius, --model and what goes with them."""
    for option in reversed(
        [
            click.argument("spec", metavar="OBJECT"),
            click.option(
                "--transform", "-t", required=True, help="For example z-taper or z-twist+z-rotation."
            ),
            click.option("--radius", "-r", help="20, or twist=20,taper=0.2,rotation=1; angles in degrees."),
            click.option("--model", "-m", help="A checkpoint (see `tpc models`); by default one that fits."),
            click.option("--points", type=int, help="Size of the cloud; by default the model's own."),
            click.option("--sigma", help="Another smoothing sigma, in the transform's units: 0.1, or 60,10."),
            click.option(
                "--alpha", type=float, default=0.001, show_default=True, help="Probability of error."
            ),
            click.option("--seed", type=int, default=0, show_default=True),
            click.option("--device", default="auto", show_default=True, help="auto, cpu or cuda."),
        ]
    ):
        command = option(command)
    return command


def parse_sigma(text: str | None) -> tuple[float, ...] | None:
    """The numbers of --sigma."""
    if text is None:
        return None
    try:
        return tuple(float(piece) for piece in text.split(","))
    except ValueError:
        raise InvalidValue(
            f"cannot read {text!r} as sigma; give one number, or one for each radius"
        ) from None


@contextmanager
def progress_bar(title: str, *, silent: bool) -> Iterator[Any]:
    """A bar with ETA on a terminal; under --json, or without a terminal, one that draws nothing."""
    hidden = silent or not sys.stderr.isatty()
    with tqdm(desc=title, unit=" votes", unit_scale=True, disable=hidden, leave=False) as bar:
        yield bar
