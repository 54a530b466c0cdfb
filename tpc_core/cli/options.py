"""Options that several commands share, so that the same word means the same thing everywhere."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
from tqdm import tqdm

from tpc_core.errors import InvalidValue

if TYPE_CHECKING:
    from tpc_core.cloud import Cloud
    from tpc_core.models.store import Model
    from tpc_core.question import Question

Command = TypeVar("Command", bound=Callable[..., Any])

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")


def device_here(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Take the CPU, and say so, where CUDA was asked for and is not there."""
    if value != "cuda":
        return value
    import torch

    if torch.cuda.is_available():
        return value
    click.echo("no CUDA device is available here: running on the CPU", err=True)
    return "cpu"


QUESTION = [
    click.argument("spec", metavar="OBJECT"),
    click.option("--transform", "-t", required=True, help="For example z-taper or z-twist+z-rotation."),
    click.option("--radius", "-r", help="20, or twist=20,taper=0.2,rotation=1; angles in degrees."),
    click.option("--model", "-m", help="A checkpoint (see `tpc models list`); by default one that fits."),
    click.option("--points", type=int, help="Size of the cloud; by default the model's own."),
    click.option("--sigma", help="Another smoothing sigma, in the transform's units: 0.1, or 60,10."),
    click.option("--alpha", type=float, default=0.001, show_default=True, help="Probability of error."),
    click.option(
        "--seed", type=int, help="By default a hash of cloud, model and transform, so that nobody chooses it."
    ),
    click.option(
        "--device", default="auto", show_default=True, callback=device_here, help="auto, cpu or cuda."
    ),
]


@dataclass(frozen=True)
class Asked:
    """What was typed: an object, a transform with its radius, and the model that answers, each in a person's words."""

    spec: str
    transform: str
    radius: str | None
    model: str | None
    points: int | None
    sigma: tuple[float, ...] | None
    alpha: float
    seed: int | None
    device: str

    def load(self, **more: Any) -> tuple[Model, Cloud, Question]:
        """The model, or the one that fits the transform; the object, cut to its size; and the question, checked."""
        from tpc_core.data import load_object
        from tpc_core.models.choose import model_for
        from tpc_core.question import Options, Question
        from tpc_core.transforms import parse_transform

        options = Options(alpha=self.alpha, sigma=self.sigma, seed=self.seed, device=self.device, **more)
        transform = parse_transform(self.transform)
        if options.proof == "certain" and self.model is None:
            from tpc_core.bounds.choose import bounded_model_for

            base = bounded_model_for(transform, self.points)
        else:
            base = model_for(transform, self.model, self.points)
        cloud = load_object(self.spec, points=self.points or base.num_points or 64)
        return (
            base,
            cloud,
            Question.of(base.name, self.spec, len(cloud), self.transform, self.radius, options),
        )


def question(command: Command) -> Command:
    """Give a command OBJECT, --transform, --radius, --model and what goes with them, as typed."""

    @functools.wraps(command)
    def asked(*args: Any, **values: Any) -> Any:
        own = {field.name: values.pop(field.name) for field in fields(Asked)}
        return command(*args, Asked(**own | {"sigma": parse_sigma(own["sigma"])}), **values)

    for option in reversed(QUESTION):
        asked = option(asked)
    return cast(Command, asked)


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
