"""`tpc verify`: does a certificate follow from its own votes, do they come out again, and would others say the same?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tpc_core.certificate.schema import Certificate
from tpc_core.cli.options import as_json, progress_bar
from tpc_core.verify import borrowed_names, verify_fresh
from tpc_core.verify import replay as replay_votes
from tpc_core.verify import verify as verify_votes

if TYPE_CHECKING:
    from tpc_core.models import Model


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--replay", is_flag=True, help="Cast every recorded vote, or prove every margin, again.")
@click.option(
    "--fresh",
    type=int,
    metavar="SEED",
    help="Cast new votes with a seed of your own, and say whether the verdict is the same.",
)
@click.option("--model", "-m", help="The checkpoint that voted; by default the one here that has its digest.")
@as_json
def verify(file: Path, replay: bool, fresh: int | None, model: str | None, as_json: bool) -> int:
    """Check the certificate in FILE.

    The votes, or the margins of a certain proof, are not checked unless --replay makes them again.
    Exit 0: valid and certified, also by fresh votes; 1: valid, but not certified, or not by fresh votes; 2: rejected.
    """
    certificate = Certificate.load(file)
    verified = verify_votes(certificate)
    base = _model(certificate, model) if replay or fresh is not None else None
    votes = _replay(certificate, base, silent=as_json) if replay and base is not None else None
    again = verify_fresh(certificate, base, fresh) if fresh is not None and base is not None else None
    borrowed = borrowed_names(certificate)
    if as_json:
        facts = {
            "valid": True,
            "verdict": verified.verdict,
            "sentence": certificate.sentence,
            "checks": list(verified.checks),
            "on_trust": verified.on_trust if votes is None else "",
            "borrowed_names": borrowed,
            "replayed_votes": votes if certificate.certain is None else None,
            "replayed_margins": votes if certificate.certain is not None else None,
            "stands": None if again is None else again.stands,
            "fresh_votes": None if again is None else again.certificate.samples,
        }
        click.echo(json.dumps(facts))
    else:
        whole = votes is not None or not verified.on_trust
        click.echo(f"{'valid' if whole else 'holds together'}: {certificate.sentence}")
        click.echo(f"  checked: {', '.join(verified.checks)}")
        for sentence in borrowed:
            click.echo(f"  a name of something else: {sentence} than what was certified")
        if votes is not None and certificate.certain is not None:
            click.echo(f"  replayed: {verified.on_trust}, proved again with the network")
        elif votes is not None:
            click.echo(f"  replayed: {votes:,} votes, every count the same")
        elif verified.on_trust:
            click.echo(f"  on trust: {verified.on_trust}; --replay makes it again with the network")
        if again is not None:
            said = "the same verdict" if again.stands else f"another verdict: {again.certificate.sentence}"
            click.echo(f"  fresh: {again.certificate.samples:,} votes under seed {fresh}, {said}")
    stands = again is None or again.stands
    return 0 if verified.verdict == "certified" and stands else 1


def _model(certificate: Certificate, name: str | None) -> Model:
    from tpc_core.models import load_by_digest, load_model

    # A stranger's file says which model by its digest; the name in it could be any path of this machine.
    recorded = certificate.model
    return load_model(name) if name is not None else load_by_digest(recorded.digest, recorded.name)


def _replay(certificate: Certificate, model: Model, *, silent: bool) -> int:
    with progress_bar("replay", silent=silent) as bar:

        def advance(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        return replay_votes(certificate, model, on_progress=advance)
