"""`tpc evaluate`: certified accuracy of models over a data set."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from tqdm import tqdm

from tpc_core.cli.engine import chosen_engine, engine_options
from tpc_core.cli.options import device_here
from tpc_core.errors import InvalidValue
from tpc_core.shipped import given_or_shipped

if TYPE_CHECKING:
    from tpc_core.evaluation import Figures, Request, Settings
    from tpc_core.evaluation.run import Progress
    from tpc_core.evaluation.sums import Sums

PLAIN_SECONDS = 15.0
"""How often a line of progress is printed where there is no terminal to draw a bar on."""

DRAWN_SECONDS = 0.5
"""How often the running figures are worked out for the bar."""


@click.command()
@click.option("--model", help="A model by name (`tpc models list`), or the path of a .safetensors file.")
@click.option(
    "--claim", "claims", multiple=True, help="transform:radius, such as z-taper:0.1; repeat for more."
)
@click.option(
    "--plan",
    type=click.Path(path_type=Path),
    help="A TOML file that names several models and claims, or `paper`.",
)
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder of the run."
)
@click.option(
    "--data",
    help="modelnet40, modelnet10, shapenetpart or one you added; default: what the model was trained on.",
)
@click.option("--split", help="test (default) or train.")
@click.option("--every", type=int, help="Take every k-th object, from the first; default 1.")
@click.option("--limit", type=int, help="Take at most this many objects.")
@click.option("--points", type=int, help="Points per cloud; default: what the model was trained for.")
@click.option(
    "--alpha", type=float, help="Probability of error of each claim about each object; default 0.001."
)
@click.option("--budget-samples", type=int, help="Most votes for one certificate; default 1000000.")
@click.option(
    "--proof",
    type=click.Choice(["smoothed", "certain"]),
    help="The smoothed model by votes (default), or the plain network without probability of error.",
)
@click.option("--budget-cells", type=int, help="Most cells for one certain proof; default 20000.")
@click.option("--protocol", type=click.Choice(["adaptive", "paper"]), help="Default: adaptive.")
@click.option(
    "--accuracy-only/--ratio",
    default=None,
    help="Certify only what is predicted rightly: faster, but no certified ratio (default: --ratio).",
)
@click.option("--seed", type=int, help="Seed of all votes; default 0.")
@click.option(
    "--device", type=click.Choice(["auto", "cpu", "cuda"]), callback=device_here, help="Default: auto."
)
@click.option("--resume", is_flag=True, help="Continue the evaluation in --out.")
@click.option(
    "--certificates", type=click.Path(path_type=Path, file_okay=False), help="Keep every certificate here."
)
@engine_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
def evaluate(
    model: str | None,
    claims: tuple[str, ...],
    plan: Path | None,
    out: Path,
    resume: bool,
    certificates: Path | None,
    engine_name: str,
    workers: int | None,
    address: str | None,
    gpus_per_worker: float,
    as_json: bool,
    **given: Any,
) -> int:
    """Certified accuracy, certified ratio and clean accuracy over a data set.

    Every finished object is a line in OUT/journal.jsonl; after a crash or Ctrl-C, --resume goes on. Where a plan names
    models that are not here, the others are evaluated, and the exit code is 2.
    """
    from tpc_core.evaluation.claims import parse_claims
    from tpc_core.evaluation.plan import has_checkpoint
    from tpc_core.evaluation.report import WAITING
    from tpc_core.evaluation.run import prepare, run
    from tpc_core.evaluation.summary import to_json
    from tpc_core.machinery.atomic import write_atomically

    requests = _requests(
        model, claims, plan, {key: value for key, value in given.items() if value is not None}
    )
    folders = {request.model: out / Path(request.model).stem if plan else out for request in requests}
    present = [request for request in requests if not plan or has_checkpoint(request)]
    # Everything is checked before the first vote: a typing error in the last entry must not cost hours.
    prepared = [prepare(request, folders[request.model], resume=resume) for request in present]
    for note in [] if as_json else [note for item in prepared for note in item.notes]:
        click.echo(f"{note}; their objects are left out", err=True)
    finished: list[Figures] = []
    with chosen_engine(engine_name, workers, address, gpus_per_worker) as engine:
        for number, item in enumerate(prepared, start=1):
            title = f"{number}/{len(prepared)} {item.settings.model}" if plan else item.settings.model
            with _progress(title, item.settings.objects, as_json) as progress:
                figures = run(item, engine, resume=resume, certificates=certificates, progress=progress)
            finished.append(figures)
            if not as_json:
                click.echo(_table(figures))
    missing = [
        {"model": request.model, "claims": [str(claim) for claim in parse_claims(request.claims)]}
        for request in requests
        if request not in present
    ]
    if plan and missing:
        out.mkdir(parents=True, exist_ok=True)
        write_atomically(out / WAITING, f"{json.dumps(missing, indent=1)}\n".encode())
    if as_json:
        click.echo(
            json.dumps({"evaluations": [to_json(item) for item in finished], "no_checkpoint_yet": missing})
        )
    else:
        for entry in missing:
            click.echo(f"{entry['model']}: no checkpoint yet ({len(entry['claims'])} claims wait for it)")
        click.echo(f"Written to {out}; make a page of it with `tpc report {out}`.")
    return 2 if missing else 0


def _requests(
    model: str | None, claims: tuple[str, ...], plan: Path | None, given: dict[str, Any]
) -> list[Request]:
    from pydantic import ValidationError

    from tpc_core.evaluation.plan import load_plan
    from tpc_core.evaluation.settings import Request

    if plan is not None:
        if claims:
            raise InvalidValue("a plan names its own claims; leave out --claim, or leave out --plan")
        requests = load_plan(given_or_shipped(plan, "configs", "evaluation"), given)
        if model is not None:
            requests = [request for request in requests if request.model == model]
        if not requests:
            raise InvalidValue(f"{plan} has no entry for the model {model}")
        return requests
    if model is None or not claims:
        raise InvalidValue("say what to evaluate: --model and one or more --claim, or --plan")
    try:
        return [Request(model=model, claims=list(claims), **given)]
    except ValidationError as error:
        first = error.errors()[0]
        option = "--" + str(first["loc"][0]).replace("_", "-")
        raise InvalidValue(f"{option} {first['input']}: {first['msg']}") from None


@contextmanager
def _progress(title: str, total: int, as_json: bool) -> Iterator[Progress]:
    """A bar with the running figures on a terminal, a line now and then elsewhere, nothing under --json."""
    if as_json:
        yield lambda settings, sums: None
        return
    drawn = sys.stderr.isatty()
    bar = tqdm(total=total, desc=title, unit="object", disable=not drawn)
    started, spoken, at_start = time.monotonic(), 0.0, -1

    def show(settings: Settings, sums: Sums) -> None:
        nonlocal spoken, at_start
        at_start = sums.done if at_start < 0 else at_start
        now = time.monotonic()
        wait = DRAWN_SECONDS if drawn else PLAIN_SECONDS
        if not sums.done or (now - spoken < wait and sums.done < total):
            return
        spoken = now
        text = running(settings, sums)
        bar.set_postfix_str(text, refresh=False)
        bar.update(sums.done - bar.n)
        if not drawn:
            made = sums.done - at_start
            left = f"about {(now - started) / made * (total - sums.done):.0f} s left, " if made else ""
            click.echo(f"{title}: {sums.done}/{total} objects, {left}{text}", err=True)

    try:
        yield show
    finally:
        bar.close()


def running(settings: Settings, sums: Sums) -> str:
    """The figures so far in a few words: clean accuracy, and certified accuracy claim by claim."""
    from tpc_core.evaluation.summary import figures_of

    if not sums.done:
        return ""
    figures = figures_of(settings, sums)
    certified = " ".join(f"{claim.certified_accuracy.value:.1f}" for claim in figures.claims[:6])
    return f"clean {figures.clean_accuracy.value:.1f} %, certified {certified} %"


def _table(figures: Figures) -> str:
    from tpc_core.evaluation.paper import paper_figure

    settings = figures.settings
    lines = [
        f"{settings.model} on {figures.done} objects of {settings.data} {settings.split}, on {settings.device}: clean "
        f"accuracy {figures.clean_accuracy.value:.1f} % (base {figures.base_accuracy.value:.1f} %), "
        f"{figures.evaluations_per_object:,.0f} {settings.counted} and {figures.seconds_per_object:.2f} s per object",
        f"  {'claim':<58}{'certified':>10}  {'95 % interval':<15}{'ratio':>7}{'paper':>8}",
    ]
    for claim in figures.claims:
        row = paper_figure(settings, claim.claim)
        share = claim.certified_accuracy
        ratio = "" if claim.certified_ratio is None else f"{claim.certified_ratio.value:.1f}"
        published = "" if row is None or row.tpc is None else f"{row.tpc:.1f}"
        interval = f"{share.low:.1f} to {share.high:.1f}"
        lines.append(f"  {claim.claim:<58}{share.value:>10.1f}  {interval:<15}{ratio:>7}{published:>8}")
    return "\n".join(lines)
