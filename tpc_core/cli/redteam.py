"""`tpc redteam`: make many certificates and try to break every one."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from tqdm import tqdm

from tpc_core.cli.engine import chosen_engine, engine_options
from tpc_core.cli.options import as_json
from tpc_core.errors import InvalidValue

if TYPE_CHECKING:
    from tpc_core.redteam.run import Progress
    from tpc_core.redteam.trial import Trial

PLAIN_SECONDS = 15.0
"""How often a line of progress is printed where there is no terminal to draw a bar on."""


@click.command()
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder of the run."
)
@click.option("--data", default="gallery", show_default=True, help="gallery, modelnet40, modelnet10 ...")
@click.option("--split", default="test", show_default=True, help="Split of the data set.")
@click.option("--every", type=int, default=1, help="Take every k-th object.")
@click.option("--limit", type=int, help="Take at most this many objects.")
@click.option("--transform", "-t", "transforms", multiple=True, help="One or more; all by default.")
@click.option(
    "--certificates", type=int, help="Stop after so many certificates; default: no end but the plan's."
)
@click.option("--points", type=int, help="Size of the clouds; default 64.")
@click.option("--alpha", type=float, help="Probability of error of each certificate; default 1e-6.")
@click.option("--budget-samples", "budget", type=int, help="Most votes for one certificate; default 2000.")
@click.option("--tries", type=int, help="Parameters that each method tries on a certificate; default 12.")
@click.option("--seed", type=int, help="Seed of all votes and of the order; default 0.")
@click.option("--resume", is_flag=True, help="Continue the red team in --out.")
@engine_options
@as_json
def redteam(
    out: Path,
    data: str,
    split: str,
    every: int,
    limit: int | None,
    transforms: tuple[str, ...],
    certificates: int | None,
    resume: bool,
    engine_name: str,
    workers: int | None,
    address: str | None,
    gpus_per_worker: float,
    as_json: bool,
    **given: Any,
) -> int:
    """Certify many objects over all transforms and attack every certificate.

    Each certificate claims the largest radius that its budget buys, and is attacked by random, grid, gradient and
    boundary search. It counts as broken when fresh votes prove that the smoothed model prefers another class
    inside the claimed region. Exit 0: none broke; 1: at least one did; 2: bad input.
    """
    from pydantic import ValidationError

    from tpc_core.redteam import plan_questions, run

    if certificates is not None and certificates < 1:
        raise InvalidValue("--certificates is a whole number of at least 1")
    settings = {key: value for key, value in given.items() if value is not None}
    try:
        plan = plan_questions(
            data=data, split=split, every=every, limit=limit, transforms=transforms, **settings
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidValue(f"--{first['loc'][0]} {first['input']}: {first['msg']}") from None
    goal = certificates or len(plan.questions)
    with (
        chosen_engine(engine_name, workers, address, gpus_per_worker) as engine,
        _progress(goal, by_certificate=certificates is not None, silent=as_json) as progress,
    ):
        summary = run(plan, out, engine, certificates=certificates, resume=resume, progress=progress)
    if as_json:
        click.echo(summary.model_dump_json())
    else:
        click.echo(summary.sentence)
        click.echo(f"Written to {out / 'redteam.md'} and {out / 'redteam.json'}.")
    return 1 if summary.broken else 0


@contextmanager
def _progress(goal: int, *, by_certificate: bool, silent: bool) -> Iterator[Progress]:
    """A bar with ETA on a terminal, a line now and then elsewhere, nothing under --json."""
    from tpc_core.redteam.run import attacked

    if silent:
        yield lambda trials: None
        return
    drawn = sys.stderr.isatty()
    unit = "certificate" if by_certificate else "question"
    bar = tqdm(total=goal, desc="redteam", unit=unit, disable=not drawn)
    started, spoken, at_start = time.monotonic(), time.monotonic(), -1

    def show(trials: dict[int, Trial]) -> None:
        nonlocal spoken, at_start
        stood = attacked(trials)
        done = stood if by_certificate else len(trials)
        at_start = done - 1 if at_start < 0 else at_start
        fallen = sum(trial.broken is not None for trial in trials.values())
        text = f"{stood} certified, {fallen} broken"
        bar.set_postfix_str(text, refresh=False)
        bar.update(done - bar.n)
        now = time.monotonic()
        if not drawn and (now - spoken > PLAIN_SECONDS or done == goal):
            spoken = now
            left = (now - started) / max(done - at_start, 1) * (goal - done)
            click.echo(f"redteam: {done}/{goal} {unit}s, about {left:.0f} s left, {text}", err=True)

    try:
        yield show
    finally:
        bar.close()
