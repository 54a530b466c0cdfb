"""`tpc certify`: one object, one question, one verdict."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from tpc_core.certificate.schema import Certificate
from tpc_core.certify import (
    Budget,
    CellDecided,
    Done,
    MarginsFound,
    Planned,
    VotesCounted,
)
from tpc_core.cli.engine import chosen_engine, engine_options
from tpc_core.cli.options import Asked, as_json, progress_bar, question
from tpc_core.engines import Kept
from tpc_core.errors import InvalidFile
from tpc_core.machinery.atomic import write_atomically
from tpc_core.proofs import Standing
from tpc_core.runs import CertifyWork
from tpc_core.verify import case_of, certain_case_of


@click.command()
@question
@click.option(
    "--proof",
    type=click.Choice(["smoothed", "certain", "auto"]),
    default="smoothed",
    show_default=True,
    help="By votes, about the smoothed model; by bounds, about the plain network, with no probability of error; "
    "or certain where that takes seconds, else smoothed.",
)
@click.option("--protocol", type=click.Choice(["adaptive", "paper"]), default="adaptive", show_default=True)
@click.option("--max", "largest", is_flag=True, help="Find the largest certified radius (up to --radius).")
@click.option("--budget-samples", type=int, help="Largest number of votes.")
@click.option("--budget-seconds", type=float, help="Most seconds to take.")
@click.option("--resolution", type=int, help="M of the paper's grid.")
@click.option("--complete", is_flag=True, help="Go on after a cell failed, to see the whole map.")
@click.option(
    "--resume",
    "resume_file",
    type=click.Path(path_type=Path),
    help="Go on from the votes of this certificate, at any radius and any alpha.",
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the certificate here.")
@engine_options
@as_json
def certify(
    ask: Asked,
    proof: str,
    protocol: str,
    largest: bool,
    budget_samples: int | None,
    budget_seconds: float | None,
    resolution: int | None,
    complete: bool,
    resume_file: Path | None,
    out: Path | None,
    engine_name: str,
    workers: int | None,
    address: str | None,
    gpus_per_worker: float,
    as_json: bool,
) -> int:
    """Certify OBJECT (gallery:chair-1, modelnet40:test/17, or a file) against a transform.

    Exit code 0: certified; 1: refuted or undecided; 2: bad input.
    """
    if out is not None and not out.parent.is_dir():
        raise InvalidFile(f"cannot write {out}: there is no folder {out.parent}")
    base, cloud, asked = ask.load(
        proof=proof,
        protocol=protocol,
        largest=largest,
        budget=Budget(samples=budget_samples, seconds=budget_seconds),
        resolution=resolution,
        complete=complete,
    )
    partial = None if out is None else out.with_suffix(".partial.json")
    resume = Certificate.load(resume_file) if resume_file is not None else None
    work = CertifyWork(asked, base, cloud, resume, spec=asked.object)
    if engine_name == "local" and workers is None:
        workers = 1  # most certificates take less time than a worker process takes to start
    try:
        with chosen_engine(engine_name, workers, address, gpus_per_worker, threads=None) as engine:
            certificate = _run(engine.stream([work]), partial, silent=as_json)
    except KeyboardInterrupt:
        if partial is not None and partial.exists():
            click.echo(f"What was done is in {partial}; continue with --resume {partial}", err=True)
        raise
    if out is not None and partial is not None:
        certificate.save(out)
        partial.unlink(missing_ok=True)
    if as_json:
        click.echo(certificate.to_json(), nl=False)
    else:
        _show(certificate, out)
    return 0 if certificate.verdict == "certified" else 1


def _run(messages: Iterator[Any], partial: Path | None, *, silent: bool) -> Certificate:
    covered = 0.0
    with progress_bar("certify", silent=silent) as bar:
        for event in messages:
            if isinstance(event, Kept) and partial is not None:
                write_atomically(partial, event.state)
            elif isinstance(event, Planned) and event.estimated_samples < 1e12:
                bar.total = round(event.estimated_samples)
            elif isinstance(event, CellDecided):
                covered = event.covered
                bar.set_postfix_str(f"{covered:.0%} of the region", refresh=False)
            elif isinstance(event, VotesCounted):
                if bar.total is not None and event.samples > bar.total:
                    bar.total = round(event.samples / max(covered, 0.05))
                bar.update(event.samples - bar.n)
            elif isinstance(event, MarginsFound):
                bar.unit = " cells"
                bar.set_postfix_str(f"{event.covered:.0%} of the region", refresh=False)
                bar.update(event.bounded - bar.n)
            elif isinstance(event, Done):
                return event.certificate
    raise AssertionError("a run always ends with Done")


def _show(certificate: Certificate, out: Path | None) -> None:
    colour = {"certified": "green", "refuted": "red", "undecided": "yellow"}[certificate.verdict]
    click.echo(click.style(certificate.verdict.upper(), fg=colour, bold=True) + f"  {certificate.sentence}")
    if certificate.note:
        click.echo(certificate.note)
    model, cloud = certificate.model, certificate.cloud
    click.echo(
        f"  object     {cloud.name}, {cloud.count} points"
        + (f", labelled {cloud.label}" if cloud.label else "")
    )
    click.echo(f"  model      {model.name} on {certificate.device}")
    click.echo(f"  evidence   {_evidence(certificate)}")
    click.echo(f"  cost       {_cost(certificate)}")
    if out is not None:
        click.echo(f"  written    {out}; check it with `tpc verify {shlex.quote(str(out))}`")


def _cost(certificate: Certificate) -> str:
    if certificate.certain is not None:
        count = certificate.certain.bounded
        what = ("pass" if count == 1 else "passes") if certificate.certain.kind == "ball" else "cells"
        return f"{count:,} {what}, {certificate.seconds:.2f} s, no vote"
    ledger = certificate.votes()
    seed = f"{ledger.seed} (of its digests)" if ledger.own_seed else f"{ledger.seed} (set by hand)"
    return f"{certificate.samples:,} votes, {certificate.seconds:.2f} s, seed {seed}"


def _evidence(certificate: Certificate) -> str:
    """What the votes or the cells show, in a line."""
    if certificate.certain is not None:
        proof = certain_case_of(certificate).proof
        return f"{proof.evidence}; the plain network, in {certificate.certain.arithmetic}"
    case = case_of(certificate)
    if certificate.verdict == "certified":
        return _counted(case.claimed().standing(case.ledger))
    if certificate.stopped == "too-many-cells" or certificate.question.options.largest:
        return f"{case.proof.kind}, nothing certified"
    return _counted(case.proof.standing(case.ledger))


def _counted(standing: Standing) -> str:
    if standing.points is not None:
        return f"{sum(standing.points.certified)} of {len(standing.points.certified)} points"
    if len(standing.cells) == 1 and standing.cells[0].cell is None:
        (place,) = standing.cells
        if place.kind == "group":
            return f"{place.n_a:,} votes, and {place.n - place.n_a:,} for the strongest rival"
        counts = f"{place.n_a:,} of {place.n:,} votes, " if place.n else ""
        return f"{counts}p_A above {place.lower_bound:.4f}, needed {place.needed:.4f}"
    passed = sum(cell.state == "passed" for cell in standing.cells)
    return f"{passed} passing cells of {len(standing.cells)} visited"
