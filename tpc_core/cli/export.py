"""`tpc export`: models, certificates and runs in the formats of other programs."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tpc_core.cli.options import as_json


@click.group()
def export() -> None:
    """Models, certificates and runs in the formats of other programs."""


TO = click.option("--to", "path", type=click.Path(path_type=Path), required=True, help="The file to write.")


@export.command()
@click.argument("name")
@TO
@as_json
def model(name: str, path: Path, as_json: bool) -> int:
    """Write a model as .onnx or .pt2; exit 1 if it answers any of 256 clouds otherwise than the network."""
    from tpc_core.models import load_model
    from tpc_core.models.exchange import CHECKED, export_model

    made = export_model(load_model(name), path)
    if as_json:
        facts = {"path": str(made.path), "sizes": made.sizes, "difference": made.difference}
        click.echo(json.dumps({**facts, "changed": made.changed, "compared": CHECKED}))
    else:
        click.echo(f"wrote {path}: takes {made.sizes}")
        click.echo(
            f"  compared on {CHECKED} clouds: {made.changed} answers differ, logits by at most {made.difference:.2g}"
        )
    return 0 if not made.changed else 1


@export.command()
@click.argument("folder", type=click.Path(path_type=Path))
@TO
@as_json
def certificates(folder: Path, path: Path, as_json: bool) -> int:
    """Write all certificates of a folder as one .parquet or .csv table, each verified; exit 1 if one is not valid."""
    from tpc_core.evaluation.certificate_table import write_certificates

    rows = write_certificates(folder, path)
    bad = [row for row in rows if not row["valid"]]
    if as_json:
        click.echo(json.dumps({"path": str(path), "certificates": len(rows), "not_valid": len(bad)}))
    else:
        click.echo(f"wrote {path}: {len(rows)} certificates, {len(bad)} of them not valid")
    return 0 if not bad else 1


@export.command()
@click.argument("folder", type=click.Path(path_type=Path))
@TO
def run(folder: Path, path: Path) -> int:
    """Write the run in a folder as a Python script that makes it again."""
    from tpc_core.evaluation.journal import read_journal
    from tpc_core.evaluation.script import run_script
    from tpc_core.machinery.atomic import write_atomically

    settings, _ = read_journal(folder)
    write_atomically(path, run_script(settings).encode())
    click.echo(f"wrote {path}; run it with python")
    return 0


@export.command()
@click.argument("name")
@TO
def card(name: str, path: Path) -> int:
    """Write the card of a model in the Hugging Face format, a README.md."""
    from tpc_core.machinery.atomic import write_atomically
    from tpc_core.models import load_card
    from tpc_core.models.hub import hub_readme

    write_atomically(path, hub_readme(load_card(name)).encode())
    click.echo(f"wrote {path}")
    return 0


@export.command()
@click.argument("name")
@click.argument("repository")
@click.option("--public", is_flag=True, help="For everyone to see; by default only for you.")
def push(name: str, repository: str, public: bool) -> int:
    """Upload a model and its card to the Hugging Face hub, as OWNER/NAME (needs huggingface_hub and its login)."""
    from tpc_core.models.hub import push_model

    click.echo(f"pushed {name}: {push_model(name, repository, private=not public)}")
    return 0
