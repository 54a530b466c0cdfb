"""`tpc verify`: does a certificate follow from its own counts, and do the votes come out again?"""

from __future__ import annotations

import json
from pathlib import Path

import click

from tpc_core.certificate.replay import replay as replay_votes
from tpc_core.certificate.schema import Certificate
from tpc_core.certificate.verify import verify as verify_counts
from tpc_core.cli.options import as_json, progress_bar
from tpc_core.models import load_by_digest, load_model


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--replay", is_flag=True, help="Cast every recorded vote again and compare.")
@click.option(
    "--model", "-m", help="The checkpoint to replay with; by default the shipped one of its digest."
)
@as_json
def verify(file: Path, replay: bool, model: str | None, as_json: bool) -> int:
    """Check the certificate in FILE. Exit 0: valid and certified; 1: valid, not certified; 2: rejected."""
    certificate = Certificate.load(file)
    verified = verify_counts(certificate)
    votes = None
    if replay:
        # A stranger's file says which model by its digest; the name in it could be any path of this machine.
        recorded = certificate.model
        base = load_model(model) if model else load_by_digest(recorded.digest, recorded.name)
        with progress_bar("replay", silent=as_json) as bar:

            def advance(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            votes = replay_votes(certificate, base, on_progress=advance)
    if as_json:
        facts = {
            "valid": True,
            "verdict": verified.verdict,
            "sentence": certificate.sentence,
            "checks": list(verified.checks),
            "replayed_votes": votes,
        }
        click.echo(json.dumps(facts))
    else:
        click.echo(f"valid: {certificate.sentence}")
        click.echo(f"  checked: {', '.join(verified.checks)}")
        if votes is not None:
            click.echo(f"  replayed: {votes:,} votes, every count the same")
    return 0 if verified.verdict == "certified" else 1
