"""`tpc certify`: one object, one question, one verdict."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any, Literal, cast

import click

from tpc_core.certificate.schema import Certificate, GroupEvidence, PointEvidence, SingleEvidence
from tpc_core.certify import Budget, CellDecided, Done, Options, Planned, VotesCounted, certify_events
from tpc_core.certify.keeping import kept
from tpc_core.cli.options import Question, as_json, progress_bar, question
from tpc_core.errors import InvalidFile


@click.command()
@question
@click.option("--protocol", type=click.Choice(["adaptive", "paper"]), default="adaptive", show_default=True)
@click.option("--statistics", type=click.Choice(["staged", "anytime"]), default="staged", show_default=True)
@click.option("--max", "largest", is_flag=True, help="Find the largest certified radius (up to --radius).")
@click.option("--budget-samples", type=int, help="Most votes to cast.")
@click.option("--budget-seconds", type=float, help="Most seconds to take.")
@click.option("--samples", type=int, help="Votes of a certificate that rests on one probability.")
@click.option("--resolution", type=int, help="M of the paper's grid.")
@click.option("--complete", is_flag=True, help="Go on after a cell failed, to see the whole map.")
@click.option(
    "--resume",
    "resume_file",
    type=click.Path(path_type=Path),
    help="Continue this certificate, or enlarge it to --radius.",
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the certificate here.")
@as_json
def certify(
    ask: Question,
    protocol: str,
    statistics: str,
    largest: bool,
    budget_samples: int | None,
    budget_seconds: float | None,
    samples: int | None,
    resolution: int | None,
    complete: bool,
    resume_file: Path | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Certify OBJECT (gallery:chair-1, modelnet40:test/17, or a file) against a transform.

    Exit code 0: certified; 1: refuted or undecided; 2: bad input.
    """
    options = Options(
        alpha=ask.alpha,
        protocol=cast(Literal["adaptive", "paper"], protocol),
        statistics=cast(Literal["staged", "anytime"], statistics),
        sigma=ask.sigma,
        largest=largest,
        budget=Budget(samples=budget_samples, seconds=budget_seconds),
        seed=ask.seed,
        device=ask.device,
        single_samples=samples,
        resolution=resolution,
        complete=complete,
    )
    if out is not None and not out.parent.is_dir():
        raise InvalidFile(f"cannot write {out}: there is no folder {out.parent}")
    base, cloud = ask.load()
    earlier = Certificate.load(resume_file) if resume_file is not None else None
    question = (base, cloud, ask.transform, ask.radius, options)
    events = certify_events(*question, resume=earlier)
    if out is None:
        certificate = _run(events, silent=as_json)
    else:
        certificate = _run_kept(events, question, earlier, out, silent=as_json)
    if as_json:
        click.echo(certificate.to_json(), nl=False)
    else:
        _show(certificate, out)
    return 0 if certificate.verdict == "certified" else 1


def _run_kept(
    events: Any, question: Any, earlier: Certificate | None, out: Path, *, silent: bool
) -> Certificate:
    """Write the certificate to `out`, and what is known of it so far beside it, until it is done."""
    partial = out.with_suffix(".partial.json")
    try:
        watched = kept(events, lambda so_far: so_far.save(partial), *question, resume=earlier)
        certificate = _run(watched, silent=silent)
    except KeyboardInterrupt:
        if partial.exists():
            click.echo(f"What was done is in {partial}; continue with --resume {partial}", err=True)
        raise
    certificate.save(out)
    partial.unlink(missing_ok=True)
    return certificate


def _run(events: Any, *, silent: bool) -> Certificate:
    covered = 0.0
    with progress_bar("certify", silent=silent) as bar:
        for event in events:
            if isinstance(event, Planned) and event.estimated_samples < 1e12:
                bar.total = round(event.estimated_samples)
            elif isinstance(event, CellDecided):
                covered = event.covered
                bar.set_postfix_str(f"{covered:.0%} of the region", refresh=False)
            elif isinstance(event, VotesCounted):
                if bar.total is not None and event.samples > bar.total:
                    bar.total = round(event.samples / max(covered, 0.05))
                bar.update(event.samples - bar.n)
            elif isinstance(event, Done):
                return event.certificate
    raise AssertionError("a run always ends with Done")


def _show(certificate: Certificate, out: Path | None) -> None:
    colour = {"certified": "green", "refuted": "red", "undecided": "yellow"}[certificate.verdict]
    click.echo(click.style(certificate.verdict.upper(), fg=colour, bold=True) + f"  {certificate.sentence}")
    model, cloud = certificate.model, certificate.cloud
    click.echo(
        f"  object     {cloud.name}, {cloud.count} points" + (f", a {cloud.label}" if cloud.label else "")
    )
    click.echo(f"  model      {model.name} on {certificate.device}")
    click.echo(f"  evidence   {_evidence(certificate)}")
    click.echo(
        f"  cost       {certificate.samples:,} votes, {certificate.seconds:.2f} s, seed {certificate.seed}"
    )
    if out is not None:
        click.echo(f"  written    {out}; check it with `tpc verify {shlex.quote(str(out))}`")


def _evidence(certificate: Certificate) -> str:
    evidence = certificate.evidence
    if isinstance(evidence, SingleEvidence):
        last = evidence.readings[-1] if evidence.readings else None
        counts = f"{last.n_a:,} of {last.n:,} votes, " if last else ""
        return f"{counts}p_A at least {evidence.lower_bound:.4f}, needed {evidence.needed:.4f}"
    if isinstance(evidence, GroupEvidence):
        return f"top-class test, p-value {evidence.p_value:.2g} against {evidence.level:.2g}"
    if isinstance(evidence, PointEvidence):
        return f"{sum(evidence.certified)} of {len(evidence.certified)} points"
    passed = sum(cell.state == "passed" for cell in evidence.cells)
    return f"{passed} passing cells of {len(evidence.cells)} visited"
