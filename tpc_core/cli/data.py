"""`tpc data`: what is on this machine, how to get more, and what an object looks like in numbers."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from tpc_core.cli.options import as_json
from tpc_core.data import gallery, load_shape, open_dataset
from tpc_core.data.dataset import CLASSES_BY_SET, SPLITS, data_sets
from tpc_core.data.fetch import ARCHIVES, fetch
from tpc_core.data.fetch.progress import Progress, silent
from tpc_core.data.gallery.build import build_gallery
from tpc_core.data.gallery.library import GALLERY_FOLDER
from tpc_core.errors import TpcError


@click.group()
def data() -> None:
    """Data sets, the built-in gallery, and single files."""


@data.command("list")
@as_json
def list_data(as_json: bool) -> None:
    """List the data sets on this machine and the objects of the gallery."""
    sets = [_described(name, split) for name in data_sets() for split in SPLITS]
    objects = [entry.model_dump(exclude={"sha256", "part_names"}) for entry in gallery()]
    if as_json:
        click.echo(json.dumps({"data_sets": sets, "gallery": objects}))
        return
    for row in sets:
        state = f"{row['objects']:>6} objects, {row['release']}" if row["found"] else "  not here"
        click.echo(f"{row['name']:<13}{row['split']:<6}{state}")
    if not all(row["found"] for row in sets if row["name"] in CLASSES_BY_SET):
        click.echo("Fetch what is missing with `tpc data fetch modelnet40` or `tpc data fetch shapenetpart`.")
    click.echo(f"\ngallery      {len(objects):>12} objects")
    for entry in objects:
        click.echo(f"  gallery:{entry['name']:<16}{entry['title']}{' (parts)' if entry['parts'] else ''}")


@data.command()
@click.argument("spec")
@click.option("--points", default=64, show_default=True, help="How many points to look at (16 to 2048).")
@as_json
def show(spec: str, points: int, as_json: bool) -> None:
    """Show one object in numbers: gallery:chair-1, modelnet40:test/17, or the path of a file."""
    shape = load_shape(spec)
    cloud = shape.cloud(points)
    extents = (cloud.points.max(dim=0).values - cloud.points.min(dim=0).values).tolist()
    facts: dict[str, Any] = {
        "spec": spec,
        "name": shape.name,
        "label": shape.label,
        "points": len(cloud),
        "max_points": shape.max_points,
        "extents": [round(extent, 4) for extent in extents],
        "vertices": None if shape.mesh is None else len(shape.mesh.vertices),
        "faces": None if shape.mesh is None else len(shape.mesh.faces),
        "parts": None if cloud.part_labels is None else sorted(set(cloud.part_labels.tolist())),
        "sha256": cloud.digest,
    }
    if as_json:
        click.echo(json.dumps(facts))
        return
    for key, value in facts.items():
        if value is not None:
            click.echo(f"{key:<11}{value}")


@data.command()
@click.argument("name")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--up", type=click.Choice(["z", "y"]), help="The axis that points up; by default z, or the release's."
)
@click.option("--model", help="Say which of its classes this model has.")
@click.option("--replace", is_flag=True, help="Put it in the place of one that has this name.")
@as_json
def add(name: str, path: Path, up: Any, model: str | None, replace: bool, as_json: bool) -> None:
    """Add a data set of yours: a folder of classes, a table of files and labels, or a known release.

    The files stay where they are. After that its objects are NAME:test/0 and so on, in every command.
    """
    from tpc_core.data.own import add_set

    made = add_set(name, path, up=up, replace=replace)
    if as_json:
        click.echo(json.dumps(made.model_dump()))
        return
    click.echo(f"added {name}: {made.kind}, {len(made.classes)} classes, {made.up}-up")
    click.echo(
        f"  {made.train:,} objects for training and {made.test:,} for testing; the first is {name}:test/0"
    )
    if model is not None:
        from tpc_core.data.classes import match_classes
        from tpc_core.models import load_card

        click.echo(f"  {match_classes(made.classes, load_card(model).classes).sentence(name)}")


@data.command()
@click.argument("name")
def remove(name: str) -> None:
    """Forget a data set of yours; its files are left alone."""
    from tpc_core.data.own import remove_set

    remove_set(name)
    click.echo(f"removed {name}; its files are where they were")


@data.command("fetch")
@click.argument("name", type=click.Choice(sorted(ARCHIVES)))
@click.option("--into", type=click.Path(path_type=Path, file_okay=False), help="Folder; TPC_DATA or ./data.")
@click.option("--url", help="Another address of the same archive, for a mirror.")
@click.option("--sha256", help="The checksum that the archive must have.")
@as_json
def fetch_data(name: str, into: Path | None, url: str | None, sha256: str | None, as_json: bool) -> None:
    """Download and unpack a data set; an interrupted download is resumed."""
    folder = into or Path(os.environ.get("TPC_DATA") or "data")
    with _bar("download", as_json) as downloading, _bar("unpack", as_json) as unpacking:
        fetched = fetch(name, folder, url=url, sha256=sha256, downloading=downloading, unpacking=unpacking)
    if as_json:
        facts = {"folder": str(fetched.folder), "archive": str(fetched.archive), "sha256": fetched.sha256}
        click.echo(json.dumps(facts))
        return
    click.echo(f"{name} is in {fetched.folder}")
    click.echo(f"sha256 {fetched.sha256} (recorded beside {fetched.archive.name}; the next run compares it)")


@data.group("gallery")
def gallery_group() -> None:
    """The built-in objects."""


@gallery_group.command("build")
@click.option("--into", type=click.Path(path_type=Path, file_okay=False), default=GALLERY_FOLDER)
@as_json
def build(into: Path, as_json: bool) -> None:
    """Make the gallery again; the files come out the same byte by byte."""
    entries = build_gallery(into)
    size = sum(path.stat().st_size for path in into.iterdir())
    if as_json:
        click.echo(json.dumps({"folder": str(into), "objects": len(entries), "bytes": size}))
        return
    click.echo(f"{len(entries)} objects, {size:,} bytes in {into}")


def _described(name: str, split: str) -> dict[str, Any]:
    """One line of `tpc data list`; a data set that is missing or damaged is reported, not raised."""
    try:
        dataset = open_dataset(name, split)
    except TpcError as error:
        return {"name": name, "split": split, "found": False, "reason": str(error)}
    return {
        "name": name,
        "split": split,
        "found": True,
        "objects": len(dataset),
        "classes": len(dataset.classes),
        "release": dataset.release,
    }


@contextmanager
def _bar(title: str, as_json: bool) -> Iterator[Progress]:
    """A progress bar on a terminal; elsewhere, and under --json, nothing."""
    if as_json or not sys.stderr.isatty():
        yield silent
        return
    bar = tqdm(desc=title, unit="B", unit_scale=True, unit_divisor=1024)

    def draw(done: int, total: int | None) -> None:
        bar.total = total
        bar.update(done - bar.n)

    try:
        yield draw
    finally:
        bar.close()
