"""`tpc models`: the shipped checkpoints and your own, which of them fit a transform, and how to add one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from tpc_core.cli.options import as_json
from tpc_core.errors import InvalidValue, TpcError, UnknownName
from tpc_core.models import ModelCard, list_models
from tpc_core.smoothing import parse_smoothing, smoothing_from_json


@click.group()
def models() -> None:
    """The shipped checkpoints and your own models."""


@models.command("list")
@click.option("--transform", "-t", help="Say which can certify this transform, and why the others cannot.")
@as_json
def list_all(transform: str | None, as_json: bool) -> int:
    """List the shipped checkpoints and your own models."""
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
        yours = "" if card.brought is None else "yours, "
        click.echo(f"{card.name:<32}{yours}{smoothing_from_json(card.smoothing).describe()}{mark}")
    return 0


@models.command()
@click.argument("name")
@click.option(
    "--from",
    "source",
    required=True,
    help="package.module:make, a .pt2, TorchScript or .onnx file, or weights in a public layout.",
)
@click.option("--weights", type=click.Path(path_type=Path), help="The weights of what a factory makes.")
@click.option(
    "--classes",
    help="Names in their order: a,b,c; a file with one in each line; or modelnet40, modelnet10, shapenetpart.",
)
@click.option("--points", type=int, help="The size of cloud that it was trained for.")
@click.option(
    "--layout",
    type=click.Choice(["points-first", "channels-first"]),
    help="(B, N, 3) or (B, 3, N); by default what works.",
)
@click.option("--up", type=click.Choice(["z", "y"]), default="z", show_default=True, help="Its clouds' axis.")
@click.option(
    "--scale",
    type=click.Choice(["ball", "cube", "half-cube"]),
    default="ball",
    show_default=True,
    help="How its clouds were scaled: unit ball, [-1, 1] or [-1/2, 1/2].",
)
@click.option(
    "--smoothing",
    default="noise:0.05",
    show_default=True,
    help="The noise of its votes: noise:0.05, z-twist:20, group:z-rotation. `--model NAME@z-twist:20` is another.",
)
@click.option("--data", help="Measure clean accuracy on this data set; by default on what is here and fits.")
@click.option(
    "--path", type=click.Path(path_type=Path), default=Path(), help="Where a factory's package lies."
)
@click.option("--run-code", is_flag=True, help="A .pt2 or TorchScript file runs its author's code: allow it.")
@click.option("--replace", is_flag=True, help="Put it in the place of one that has this name.")
@as_json
def add(
    name: str,
    source: str,
    classes: str | None,
    points: int | None,
    smoothing: str,
    data: str | None,
    path: Path,
    replace: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Bring a network of your own; from then on NAME is one more model everywhere."""
    from tpc_core.models.brought.library import check_name, keep_model
    from tpc_core.models.brought.measure import with_clean_accuracy
    from tpc_core.models.brought.sources import format_of

    check_name(name, replace=replace)
    from tpc_core.models import bring

    is_code = format_of(source) == "factory"
    model = bring(
        source,
        name=name,
        classes=_class_names(classes),
        smoothing=parse_smoothing(smoothing),
        num_points=points,
        folder=path if is_code else None,
        **options,
    )
    if classes is None and sys.stdin.isatty() and not as_json and model.card.classes[0] == "class 0":
        given = click.prompt(f"{name} has {len(model.classes)} classes. Their names, separated by commas")
        from tpc_core.models.brought.bring import class_names

        named, _ = class_names(given.split(","), len(model.classes), name)
        model = type(model)(model.card.model_copy(update={"classes": named}), model.module)
    model, measured = with_clean_accuracy(model, data)
    place = keep_model(model, replace=replace)
    if as_json:
        click.echo(json.dumps({**model.card.model_dump(), "card": str(place)}))
        return 0
    click.echo(f"added {name}: {len(model.classes)} classes, {model.card.parameters:,} parameters")
    for note in (*_notes(model.card), *measured):
        click.echo(f"  {note}")
    click.echo(f"  card: {place}")
    from tpc_core.training.advice import advice_for

    advice = advice_for(model.card)
    if advice is not None:
        click.echo(f"  {advice.sentence}" + (f"\n    {advice.command}" if advice.command else ""))
    return 0


@models.command()
@click.argument("name")
@as_json
def show(name: str, as_json: bool) -> int:
    """Show the card of a model."""
    from tpc_core.models import load_card

    card = load_card(name)
    if as_json:
        click.echo(json.dumps(card.model_dump()))
        return 0
    facts: dict[str, Any] = {
        "name": card.name,
        "network": card.architecture + (f" {card.options}" if card.options else ""),
        "parameters": f"{card.parameters:,}",
        "classes": f"{len(card.classes)}: {', '.join(card.classes)}",
        "points": card.num_points or "any",
        "smoothing": smoothing_from_json(card.smoothing).describe(),
        "data": card.data,
        "from": None if card.brought is None else f"{card.brought.source} ({card.brought.format})",
        "clean": None if card.clean_accuracy is None else f"{card.clean_accuracy.value:.1f} %",
        "sha256": card.sha256,
    }
    for key, value in facts.items():
        if value is not None:
            click.echo(f"{key:<11}{value}")
    for note in _notes(card):
        click.echo(f"{'':<11}{note}")
    return 0


@models.command()
@click.argument("name")
def remove(name: str) -> int:
    """Remove a model of yours."""
    from tpc_core.models import remove_model

    remove_model(name)
    click.echo(f"removed {name}")
    return 0


@models.command()
@click.argument("name", required=False)
@as_json
def check(name: str | None, as_json: bool) -> int:
    """Load a model, or all of yours, try it on clouds, and say what is wrong. Exit 1 if anything is."""
    from tpc_core.models.brought.measure import examine
    from tpc_core.models.store import users_names

    found: dict[str, str | None] = {}
    for one in [name] if name is not None else users_names():
        try:
            examine(one)
            found[one] = None
        except UnknownName:
            raise
        except TpcError as error:
            found[one] = str(error)
    if as_json:
        click.echo(json.dumps(found))
    elif not found:
        click.echo("There is no model of yours; add one with `tpc models add NAME --from SOURCE`.")
    else:
        for one, why in found.items():
            click.echo(f"{one:<32}{'good' if why is None else why}")
    return 0 if not any(found.values()) else 1


def _notes(card: ModelCard) -> list[str]:
    return [] if card.brought is None else list(card.brought.notes)


def _class_names(given: str | None) -> list[str] | None:
    """The names of --classes: typed, from a file, or those of a known data set."""
    from tpc_core.data.dataset import CLASSES_BY_SET

    if given is None:
        return None
    if given in CLASSES_BY_SET:
        return list(CLASSES_BY_SET[given])
    path = Path(given)
    if "," not in given and path.is_file():
        from tpc_core.data.files.content import as_text, read_bytes

        lines = as_text(read_bytes(path, 1 << 20), str(path)).splitlines()
        return [line.strip() for line in lines if line.strip()]
    names = [piece.strip() for piece in given.split(",") if piece.strip()]
    if len(names) < 2:
        raise InvalidValue(f"{given!r} is no file and no list of classes; write a,b,c")
    return names
