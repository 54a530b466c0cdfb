"""`tpc explain`: why a certificate failed, in plain words, and what would settle it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import click

from tpc_core.certificate.schema import Certificate
from tpc_core.certify.events import Done, VotesCounted
from tpc_core.cli.options import as_json, progress_bar
from tpc_core.diagnosis import (
    CellFacts,
    Diagnosis,
    Finding,
    Quarry,
    Remedy,
    SigmaLook,
    Subject,
    diagnose,
    explain_cell,
    go_on,
    hunt,
    refutation_of,
)
from tpc_core.diagnosis.findings import count
from tpc_core.diagnosis.sweep import judgement
from tpc_core.diagnosis.sweep import sweep as look_at_sigmas
from tpc_core.errors import InvalidValue
from tpc_core.models import Model, load_by_digest, load_model


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--cells",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    help="Failing cells to explain, worst first.",
)
@click.option("--attack", is_flag=True, help="Hunt for the smallest attack inside the region.")
@click.option("--sweep", is_flag=True, help="Try other sigmas at a few places.")
@click.option(
    "--more", is_flag=True, help="Cast the votes that would settle the open cells; the guarantee holds."
)
@click.option("--samples", type=click.IntRange(1), help="With --more: at most this many votes.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the certificate as it stands afterwards.")
@click.option("--model", "-m", help="The checkpoint that voted; by default the one that is named inside.")
@as_json
def explain(
    file: Path,
    cells: int,
    attack: bool,
    sweep: bool,
    more: bool,
    samples: int | None,
    out: Path | None,
    model: str | None,
    as_json: bool,
) -> int:
    """Explain the certificate in FILE. Exit 0: certified; 1: refuted or undecided; 2: not a valid certificate."""
    certificate = Certificate.load(file)
    subject = Subject.of(certificate)
    if samples is not None and not more:
        raise InvalidValue("--samples bounds what --more may cast; give both")
    base = _model(certificate, model) if attack or sweep or more else None
    if more and base is not None:
        certificate = _continue(certificate, base, samples, silent=as_json)
        subject = Subject.of(certificate)
    quarry = _hunted(subject, base, silent=as_json) if attack and base is not None else None
    if quarry is not None:
        certificate = refutation_of(certificate, quarry) or certificate
        subject = Subject.of(certificate)
    looks = list(look_at_sigmas(subject, base)) if sweep and base is not None else []
    if out is not None:
        certificate.save(out)
    diagnosis = diagnose(subject)
    worst = [(facts, explain_cell(subject, facts)) for facts in subject.failing[:cells]]
    if as_json:
        click.echo(json.dumps(_facts(subject, diagnosis, worst, quarry, looks), allow_nan=False))
    else:
        for line in _lines(subject, diagnosis, worst, quarry, looks):
            click.echo(line)
    return 0 if certificate.verdict == "certified" else 1


def _model(certificate: Certificate, chosen: str | None) -> Model:
    """The checkpoint that was chosen, or the shipped one of the recorded digest: a file names no path to open."""
    recorded = certificate.model
    return load_model(chosen) if chosen else load_by_digest(recorded.digest, recorded.name)


def _continue(certificate: Certificate, model: Model, samples: int | None, *, silent: bool) -> Certificate:
    with progress_bar("votes", silent=silent) as bar:
        bar.total = samples
        for event in go_on(certificate, model, samples=samples):
            if isinstance(event, VotesCounted):
                bar.update(event.samples - certificate.samples - bar.n)
            elif isinstance(event, Done):
                return event.certificate
    raise AssertionError("the work always ends with Done")


def _hunted(subject: Subject, model: Model, *, silent: bool) -> Quarry:
    with progress_bar("evaluations", silent=silent) as bar:

        def progress(done: int, expected: int) -> None:
            bar.total = expected
            bar.update(done - bar.n)

        *_, last = hunt(subject, model, progress=progress)
    return last


def _lines(
    subject: Subject,
    diagnosis: Diagnosis,
    worst: list[tuple[CellFacts, Finding]],
    quarry: Quarry | None,
    looks: list[SigmaLook],
) -> list[str]:
    lines = [f"{diagnosis.verdict.upper()}  {diagnosis.sentence}", ""]
    for finding in diagnosis.findings:
        lines += _finding_lines(finding)
    if len(worst) > 1:
        lines.append(f"The worst of {len(subject.failing)}:")
        for facts, finding in worst:
            lines.append(f"  {subject.place(facts)}: {finding.title.lower()}; {finding.evidence[0]}")
        lines.append("")
    lines.append(f"Certified so far: {_size(subject, diagnosis.certified)}.")
    if quarry is not None:
        lines.append(_quarry_line(subject, quarry))
    if looks:
        lines += ["", "Sigma:"]
        lines += [_look_line(look) for look in looks]
        lines.append(judgement(looks))
    return lines


def _finding_lines(finding: Finding) -> list[str]:
    lines = [f"{finding.title}. {finding.sentence}"]
    lines += [f"    {line}" for line in finding.evidence]
    lines += [f"  -> {_remedy_line(remedy)}" for remedy in finding.remedies]
    return [*lines, ""]


def _remedy_line(remedy: Remedy) -> str:
    cost = ""
    if remedy.votes and math.isfinite(remedy.votes):
        cost = f" (about {count(remedy.votes)} votes"
        cost += f", {remedy.chance:.0%} likely to do)" if remedy.chance is not None else ")"
    return f"{remedy.sentence}{cost}"


def _size(subject: Subject, part: float) -> str:
    return f"radius {subject.radius_words(part)} ({part:.1%} of the region)"


def _quarry_line(subject: Subject, quarry: Quarry) -> str:
    if quarry.size is None or quarry.attack is None:
        return f"No attack was found inside the region ({quarry.evaluations:,} evaluations)."
    return f"Smallest attack found: {_size(subject, quarry.size)}, leads to {quarry.attack.winner}."


def _look_line(look: SigmaLook) -> str:
    low, middle, high = look.radius
    votes = f"about {count(look.votes)} votes" if math.isfinite(look.votes) else "not at any cost"
    sigma = ", ".join(f"{s:g}" for s in look.sigma)
    return (
        f"  {sigma:>10}: {look.at_identity:.0%} of votes without an attack, {look.weakest:.0%} at the weakest place; "
        f"reaches {middle:.0%} ({low:.0%} to {high:.0%}); the whole region: {votes}"
    )


def _facts(
    subject: Subject,
    diagnosis: Diagnosis,
    worst: list[tuple[CellFacts, Finding]],
    quarry: Quarry | None,
    looks: list[SigmaLook],
) -> dict[str, Any]:
    return {
        "verdict": diagnosis.verdict,
        "sentence": diagnosis.sentence,
        "certified_part": diagnosis.certified,
        "findings": [_finding_facts(finding) for finding in diagnosis.findings],
        "failing": len(subject.failing),
        "worst": [
            {
                "path": facts.path,
                "place": subject.place(facts),
                "n": facts.n,
                "n_a": facts.n_a,
                "lower_bound": facts.lower_bound,
                "needed": facts.needed,
                **_finding_facts(finding),
            }
            for facts, finding in worst
        ],
        "attack": None
        if quarry is None
        else {
            "found": quarry.attack.model_dump() if quarry.attack is not None else None,
            "size": quarry.size,
            "evaluations": quarry.evaluations,
        },
        "sigmas": [
            {
                "sigma": look.sigma,
                "radius": look.radius,
                "votes": look.votes if math.isfinite(look.votes) else None,
            }
            for look in looks
        ],
    }


def _finding_facts(finding: Finding) -> dict[str, Any]:
    return {
        "cause": finding.cause,
        "sentence": finding.sentence,
        "evidence": list(finding.evidence),
        "remedies": [
            {
                "action": remedy.action,
                "sentence": remedy.sentence,
                "votes": remedy.votes if math.isfinite(remedy.votes) else None,
                "chance": remedy.chance,
                "cells": list(remedy.cells),
            }
            for remedy in finding.remedies
        ],
    }
