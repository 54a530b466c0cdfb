"""`tpc explain`: why a certificate failed, in plain words, and what would settle it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from tpc_core.case_view import CaseView
from tpc_core.certificate.schema import Certificate
from tpc_core.certify import Done, Focus, VotesCounted
from tpc_core.cli.options import as_json, progress_bar
from tpc_core.errors import InvalidValue
from tpc_core.explain import (
    AttackSearch,
    Explanation,
    Finding,
    Remedy,
    continue_run,
    count,
    explain_cell,
    explain_certificate,
    find_smallest_attack,
)
from tpc_core.forecast import SigmaLook, sweep_judgement, sweep_sigmas
from tpc_core.models import Model, load_by_digest, load_model
from tpc_core.proofs import CellStanding

MOST_VOTES = 1_000_000
"""Votes that --more may cast where neither --samples nor the question allows more."""


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--cells",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    help="Failing cells to explain, worst first.",
)
@click.option("--attack", is_flag=True, help="Search for the smallest attack inside the region.")
@click.option("--sweep", is_flag=True, help="Try other sigmas at a few places.")
@click.option(
    "--more", is_flag=True, help="Finish the whole run: cast the votes that are missing; the guarantee holds."
)
@click.option(
    "--samples",
    type=click.IntRange(1),
    help="With --more: at most this many votes; default: the question's own budget, or 1000000 if that is more.",
)
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
    if samples is not None and not more:
        raise InvalidValue("--samples bounds what --more may cast; give both")
    view = CaseView.of(Certificate.load(file))
    base = _model(view.certificate, model) if attack or sweep or more else None
    if more and base is not None:
        view = CaseView.of(_continued(view, base, samples, silent=as_json))
    search = _searched(view, base, silent=as_json) if attack and base is not None else None
    if search is not None and search.certificate is not None:
        view = CaseView.of(search.certificate)
    looks = list(sweep_sigmas(view, base)) if sweep and base is not None else []
    if out is not None:
        view.certificate.save(out)
    found = _Found(view, explain_certificate(view), _worst(view, cells), search, looks)
    if as_json:
        click.echo(json.dumps(_facts(found), allow_nan=False))
    else:
        for line in _lines(found):
            click.echo(line)
    return 0 if view.certificate.verdict == "certified" else 1


def _model(certificate: Certificate, chosen: str | None) -> Model:
    """The checkpoint that was chosen, or the shipped one of the recorded digest: a file names no path to open."""
    recorded = certificate.model
    return load_model(chosen) if chosen else load_by_digest(recorded.digest, recorded.name)


@dataclass(frozen=True)
class _Found:
    """Everything that is printed."""

    view: CaseView
    explanation: Explanation
    worst: list[tuple[CellStanding, Finding]]
    search: AttackSearch | None
    looks: list[SigmaLook]


def _worst(view: CaseView, cells: int) -> list[tuple[CellStanding, Finding]]:
    failing = view.failing if view.certificate.verdict != "certified" else ()
    return [(cell, explain_cell(view, cell)) for cell in failing[:cells]]


def _continued(view: CaseView, model: Model, samples: int | None, *, silent: bool) -> Certificate:
    """What the primary remedy says, done: the votes of the whole run."""
    before = view.certificate
    samples = samples or max(before.question.options.budget.samples or 0, MOST_VOTES)
    remedy = explain_certificate(view).primary
    focus: Focus | None = remedy.focus if remedy is not None and remedy.action == "go-on" else None
    with progress_bar("votes", silent=silent) as bar:
        bar.total = samples
        for event in continue_run(before, model, focus, samples=samples):
            if isinstance(event, VotesCounted):
                bar.update(event.samples - before.samples - bar.n)
            elif isinstance(event, Done):
                return event.certificate
    raise AssertionError("the work always ends with Done")


def _searched(view: CaseView, model: Model, *, silent: bool) -> AttackSearch:
    with progress_bar("evaluations", silent=silent) as bar:

        def progress(done: int, expected: int) -> None:
            bar.total = expected
            bar.update(done - bar.n)

        *_, last = find_smallest_attack(view, model, progress=progress)
    return last


def _lines(found: _Found) -> list[str]:
    view, explanation = found.view, found.explanation
    lines = [f"{explanation.verdict.upper()}  {explanation.sentence}", ""]
    if explanation.primary is not None:
        lines += [f"To do: {_remedy_line(explanation.primary)}", ""]
    for finding in explanation.findings:
        lines += _finding_lines(finding, explanation.primary)
    if len(found.worst) > 1:
        lines.append(f"The worst of {len(view.failing)}:")
        for cell, finding in found.worst:
            lines.append(f"  {view.place(cell)}: {finding.title.lower()}; {finding.evidence[0]}")
        lines.append("")
    lines.append(f"Certified so far: {_size(view, explanation.certified)}.")
    if found.search is not None:
        lines.append(_search_line(view, found.search))
    if found.looks:
        lines += ["", "Sigma:"]
        lines += [_look_line(look) for look in found.looks]
        lines.append(sweep_judgement(found.looks))
    return lines


def _finding_lines(finding: Finding, said: Remedy | None) -> list[str]:
    lines = [f"{finding.title}. {finding.sentence}"]
    lines += [f"    {line}" for line in finding.evidence]
    lines += [f"  -> {_remedy_line(remedy)}" for remedy in finding.remedies if remedy != said]
    return [*lines, ""]


def _remedy_line(remedy: Remedy) -> str:
    cost = ""
    if remedy.votes and math.isfinite(remedy.votes):
        said = f"{count(remedy.votes)} more votes" in remedy.sentence
        words = [] if said else [f"about {count(remedy.votes)} votes"]
        words += [f"enough with probability {100 * remedy.chance:.0f} %"] if remedy.chance is not None else []
        cost = f" ({', '.join(words)})" if words else ""
    return f"{remedy.sentence}{cost}"


def _size(view: CaseView, part: float) -> str:
    return f"radius {view.radius_words(part)} ({part:.1%} of the region)"


def _search_line(view: CaseView, search: AttackSearch) -> str:
    if search.size is None:
        return f"No attack was found inside the region ({search.evaluations:,} evaluations)."
    return f"Smallest attack found: {_size(view, search.size)}, leads to {search.rival}."


def _look_line(look: SigmaLook) -> str:
    low, middle, high = look.radius
    votes = f"about {count(look.votes)} votes" if math.isfinite(look.votes) else "more votes would not help"
    return (
        f"  {look.words:>10}: {look.at_identity:.0%} of votes without an attack, {look.weakest:.0%} at the weakest "
        f"place; reaches {middle:.0%} ({low:.0%} to {high:.0%}); the whole region: {votes}"
    )


def _facts(found: _Found) -> dict[str, Any]:
    view, explanation, search = found.view, found.explanation, found.search
    return {
        "verdict": explanation.verdict,
        "sentence": explanation.sentence,
        "certified_part": explanation.certified,
        "primary": None if explanation.primary is None else _remedy_facts(explanation.primary),
        "findings": [_finding_facts(finding) for finding in explanation.findings],
        "failing": len(view.failing),
        "worst": [
            {
                "path": cell.path,
                "place": view.place(cell),
                "n": cell.n,
                "n_a": cell.n_a,
                "lower_bound": cell.lower_bound,
                "needed": cell.needed,
                **_finding_facts(finding),
            }
            for cell, finding in found.worst
        ],
        "attack": None if search is None else _search_facts(view, search),
        "sigmas": [
            {
                "sigma": look.sigma,
                "radius": look.radius,
                "votes": look.votes if math.isfinite(look.votes) else None,
            }
            for look in found.looks
        ],
    }


def _search_facts(view: CaseView, search: AttackSearch) -> dict[str, Any]:
    return {
        "parameter": None if search.attack is None else list(search.attack.parameter),
        "place": None if search.attack is None else view.describe(np.array(search.attack.parameter)),
        "rival": search.rival,
        "size": search.size,
        "evaluations": search.evaluations,
    }


def _finding_facts(finding: Finding) -> dict[str, Any]:
    return {
        "cause": finding.cause,
        "sentence": finding.sentence,
        "evidence": list(finding.evidence),
        "remedies": [_remedy_facts(remedy) for remedy in finding.remedies],
    }


def _remedy_facts(remedy: Remedy) -> dict[str, Any]:
    return {
        "action": remedy.action,
        "sentence": remedy.sentence,
        "votes": remedy.votes if math.isfinite(remedy.votes) else None,
        "chance": remedy.chance,
        "cells": list(remedy.cells),
    }
