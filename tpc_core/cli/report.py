"""`tpc report`: a page of evaluations, beside the paper's figures."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command()
@click.argument("runs", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), help="Where to write; default: the first RUN."
)
@click.option(
    "--seeds",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Evaluations of the same recipes trained with other seeds (`tpc train --seed`): adds their spread.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
def report(runs: tuple[Path, ...], out: Path | None, seeds: tuple[Path, ...], as_json: bool) -> None:
    """Write report.md and report.html about RUNS: folders of `tpc evaluate`, finished or not, or of summaries."""
    from tpc_core.evaluation.report import load_runs, write_report
    from tpc_core.evaluation.summary import to_json

    found = load_runs(runs, seeds)
    written = write_report(found, out or runs[0])
    if as_json:
        evaluations = [to_json(figures) for figures in found.figures]
        click.echo(
            json.dumps(
                {
                    "files": [str(path) for path in written],
                    "evaluations": evaluations,
                    "no_checkpoint_yet": found.waiting,
                }
            )
        )
        return
    count = len(found.figures)
    paths = ", ".join(str(path) for path in written[:2])
    click.echo(f"{count} evaluation{'s' if count != 1 else ''}; wrote {paths}")
