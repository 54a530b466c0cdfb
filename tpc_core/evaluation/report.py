"""The report: our figures beside the paper's and DeepG3D's, curves, cost, and how to get them again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tpc_core.errors import InvalidFile
from tpc_core.evaluation.claims import ClaimSpec
from tpc_core.evaluation.curves import CurvePoint, draw_curve
from tpc_core.evaluation.document import Block, Code, Drawing, Heading, Paragraph, Table, to_html, to_markdown
from tpc_core.evaluation.intervals import Share
from tpc_core.evaluation.journal import NAME
from tpc_core.evaluation.paper import paper, paper_figure
from tpc_core.evaluation.run import load_figures
from tpc_core.evaluation.seeds import SeedRow, seed_rows
from tpc_core.evaluation.settings import Settings
from tpc_core.evaluation.standing import Answer, Standing, standings
from tpc_core.evaluation.summary import ClaimFigures, Figures, read_summary
from tpc_core.machinery.atomic import write_atomically
from tpc_core.transforms import parse_transform
from tpc_core.version import VERSION

TITLE = "Certified robustness, evaluated"
WAITING = "waiting.json"
"""Beside the runs of a plan: the entries that have no checkpoint yet."""


@dataclass(frozen=True)
class Runs:
    """What a report is about: evaluations, and the claims that still wait for a checkpoint."""

    figures: list[Figures]
    waiting: list[dict[str, Any]]
    seeds: list[Figures] = field(default_factory=list)
    """The same recipes, trained with other seeds."""


def load_runs(folders: Sequence[Path], seeds: Sequence[Path] = ()) -> Runs:
    """The evaluations in these folders; the folder of a plan stands for all its runs, and summaries for theirs."""
    figures, waiting = _load(folders)
    return Runs(figures, waiting, _load(seeds)[0])


def _load(folders: Sequence[Path]) -> tuple[list[Figures], list[dict[str, Any]]]:
    found: list[Path] = []
    kept: list[Path] = []
    waiting: list[dict[str, Any]] = []
    for folder in folders:
        inside = (
            [folder] if (folder / NAME).exists() else sorted(path.parent for path in folder.glob(f"*/{NAME}"))
        )
        summaries = [] if inside else sorted(set(folder.glob("*.json")) - {folder / WAITING})
        if not inside and not summaries and not (folder / WAITING).exists():
            raise InvalidFile(f"{folder} holds no evaluation; make one with `tpc evaluate --out {folder}`")
        found += inside
        kept += summaries
        if (folder / WAITING).exists():
            waiting += json.loads((folder / WAITING).read_text(encoding="utf-8"))
    figures = [load_figures(folder) for folder in dict.fromkeys(found)]
    figures += [read_summary(path) for path in kept]
    done = {figure.settings.model for figure in figures}
    return figures, [entry for entry in waiting if entry["model"] not in done]


def write_report(runs: Runs, folder: Path) -> list[Path]:
    """Write report.md, report.html and the curves; gives the paths of what was written."""
    blocks = list(report_blocks(runs))
    folder.mkdir(parents=True, exist_ok=True)
    contents = {"report.md": to_markdown(TITLE, blocks), "report.html": to_html(TITLE, blocks)}
    contents |= {block.name: block.svg for block in blocks if isinstance(block, Drawing)}
    for name, text in contents.items():
        write_atomically(folder / name, text.encode())
    return [folder / name for name in contents]


def report_blocks(runs: Runs) -> Iterator[Block]:
    """The report, piece by piece."""
    yield Paragraph(_introduction(runs))
    tables = [(table, standings(table, runs.figures)) for table in paper().tables]
    all_rows = [row for _, rows in tables for row in rows]
    if any(row.answer for row in all_rows):
        yield Paragraph(_count(all_rows))
    for table, rows in tables:
        if any(row.answer for row in rows):
            yield Heading(f"{table.id}: {table.title}")
            yield _paper_table(runs, rows)
    if any(row.certain for row in all_rows):
        yield Heading("Certain proofs, compared with DeepG3D's")
        yield Paragraph(
            "Certified accuracy of plain networks, without probability of error; the paper's figures hold with high "
            "probability."
        )
        yield _certain_table(
            row for table, rows in tables if table.figure == "certified_accuracy" for row in rows
        )
    repeated = list(seed_rows(runs.figures, runs.seeds))
    if repeated:
        yield Heading("Other seeds")
        yield Paragraph(
            "The same recipe, trained again with other seeds (`tpc train --seed`): other first weights, another order, "
            "other noise. The first figure is that of the plan's model, and nothing was chosen among them. Spread is "
            "the standard deviation over the seeds."
        )
        yield _seeds_table(repeated)
    yield Heading("Every claim")
    yield _claims_table(runs.figures)
    parts = [(figures, claim) for figures in runs.figures for claim in figures.claims if claim.joint_miou]
    if parts:
        yield Heading("Part segmentation, jointly")
        yield Paragraph(
            "All points of an object together hold with probability 1 - alpha (alpha / N a point)."
        )
        yield _joint_table(parts)
    if runs.waiting:
        yield Heading("No checkpoint yet")
        yield Table(
            ["model", "claims"], [[e["model"], ", ".join(e["claims"])] for e in runs.waiting], words=2
        )
    drawings = list(_drawings(runs.figures))
    if drawings:
        yield Heading("Certified accuracy against radius")
        yield from drawings
    yield Heading("Cost")
    yield Paragraph(
        "Seconds and hours are those of one thread by the clock, on a machine that may have had other work."
    )
    yield _cost_table([*runs.figures, *runs.seeds])
    yield Heading("The same figures again")
    yield from _settings_blocks([*runs.figures, *runs.seeds])


def _introduction(runs: Runs) -> str:
    unfinished = [figures.settings.model for figures in runs.figures if not figures.finished]
    alphas = sorted({f.settings.alpha for f in runs.figures if f.settings.proof == "smoothed"})
    level = ", ".join(f"{100 * (1 - alpha):.6g} %" for alpha in alphas)
    text = (
        "Certified accuracy is the share of objects that are predicted rightly and certified, each one "
        f"at {level or 'its own'} confidence; intervals are 95 % over the choice of objects. "
        "Each row has one model, which the plan names before its evaluation. "
        "Clean accuracy is that of the smoothed classifier. Certain proofs are about a plain network, have no "
        "probability of error, and count cells where the others count votes. "
        f"Published figures: {paper().source}; {paper().settings}."
    )
    return f"{text} Not finished yet: {', '.join(unfinished)}." if unfinished else text


def _count(rows: Sequence[Standing]) -> str:
    """How many rows are above and below, and how many of the figures are those of a whole split."""
    verdicts = Counter(row.verdict for row in rows)
    answers = [row.answer.figures for row in rows if row.answer is not None]
    whole = sum(figures.on_whole_split for figures in answers)
    return (
        f"Of the {len(rows)} published figures, {len(rows) - verdicts['open']} are measured by votes, {whole} of them "
        f"on every object of the test split: {verdicts['above']} are above the paper's, {verdicts['below']} below, "
        f"{verdicts['equal']} equal. For {sum(row.sure for row in rows if row.verdict == 'below')} of those below the "
        "paper's figure is outside our interval."
    )


def _paper_table(runs: Runs, rows: Iterable[Standing]) -> Table:
    header = [
        "transform",
        "radius",
        "points",
        "model",
        "objects",
        "ours",
        "95 % interval",
        "paper",
        "difference",
        "DeepG3D",
    ]
    return Table(header, [_paper_line(runs, row) for row in rows], words=4)


def _paper_line(runs: Runs, standing: Standing) -> list[str]:
    row = standing.row
    if standing.answer is not None:
        model = run_name(standing.answer.figures.settings)
    else:
        waits = any(row.claim in entry["claims"] for entry in runs.waiting)
        model = "no checkpoint yet" if waits else "not evaluated"
    return [
        *_asked(standing),
        model,
        *_answer(standing.answer),
        _number(row.tpc),
        "" if standing.difference is None else f"{standing.difference:+.1f}",
        _number(row.deepg3d),
    ]


def _certain_table(rows: Iterable[Standing]) -> Table:
    """The rows that have a certain proof of ours or of DeepG3D."""
    header = [
        "transform",
        "radius",
        "points",
        "model",
        "objects",
        "certain",
        "95 % interval",
        "DeepG3D",
        "paper",
    ]
    lines = [
        [
            *_asked(row),
            "not evaluated" if row.certain is None else Path(row.certain.figures.settings.model).stem,
            *_answer(row.certain),
            _number(row.row.deepg3d),
            _number(row.row.tpc),
        ]
        for row in rows
        if row.certain is not None or row.row.deepg3d is not None
    ]
    return Table(header, lines, words=4)


def _asked(standing: Standing) -> list[str]:
    claim = standing.claim
    return [claim.transform.name, spoken_radius(claim), str(standing.row.points)]


def _answer(answer: Answer | None) -> list[str]:
    if answer is None:
        return ["", "", ""]
    return [objects_of(answer.figures), f"{answer.share.value:.1f}", _interval(answer.share)]


def run_name(settings: Settings) -> str:
    """The model, and that it was certified with certainty where it was."""
    return Path(settings.model).stem + (", certain" if settings.proof == "certain" else "")


def objects_of(figures: Figures) -> str:
    """Of how many objects the figures are: "1,975", "1,036 of 1,975" until it is finished, "198, every 10th"."""
    settings = figures.settings
    done = f"{figures.done:,}" if figures.finished else f"{figures.done:,} of {settings.objects:,}"
    return done if settings.every == 1 else f"{done}, every {settings.every}th"


def spoken_radius(claim: ClaimSpec) -> str:
    """The radius with its units: "20°, 0.2, 1°"."""
    pairs = zip(claim.transform.radii, claim.radii, strict=True)
    return ", ".join(p.describe(float(f"{p.to_edge(r):.12g}")) for p, r in pairs)


def _claims_table(all_figures: Iterable[Figures]) -> Table:
    header = [
        "model",
        "claim",
        "proof",
        "objects",
        "clean",
        "certified",
        "95 % interval",
        "ratio",
        "votes or cells",
        "verdicts",
    ]
    rows = []
    for figures in all_figures:
        for claim in figures.claims:
            ratio = "" if claim.certified_ratio is None else f"{claim.certified_ratio.value:.1f}"
            share = claim.certified_accuracy
            rows.append(
                [
                    figures.settings.model,
                    claim.claim,
                    figures.settings.proof,
                    str(figures.done),
                    f"{figures.clean_accuracy.value:.1f}",
                    f"{share.value:.1f}",
                    _interval(share),
                    ratio,
                    f"{claim.samples:,.0f}",
                    ", ".join(f"{count} {status}" for status, count in claim.statuses.items()),
                ]
            )
    return Table(header, rows, words=3)


def _seeds_table(rows: Iterable[SeedRow]) -> Table:
    lines = [
        [
            row.recipe,
            row.claim,
            f"{row.figures[0].done:,}",
            ", ".join(f"{share:.1f}" for share in row.shares),
            f"{row.mean:.1f}",
            f"{row.spread:.2f}",
        ]
        for row in rows
    ]
    return Table(["recipe", "claim", "objects", "seed by seed", "mean", "spread"], lines, words=2)


def _joint_table(parts: Iterable[tuple[Figures, ClaimFigures]]) -> Table:
    rows = [
        [
            figures.settings.model,
            claim.claim,
            f"{claim.joint_accuracy.value:.1f}",
            f"{claim.joint_miou.value:.1f}",
        ]
        for figures, claim in parts
        if claim.joint_accuracy is not None and claim.joint_miou is not None
    ]
    return Table(["model", "claim", "certified points", "certified mIoU"], rows, words=2)


def _drawings(all_figures: Iterable[Figures]) -> Iterator[Drawing]:
    """A curve for each model and transform with two radii or more."""
    for figures in all_figures:
        by_transform: dict[str, list[CurvePoint]] = {}
        for claim in figures.claims:
            spec = ClaimSpec.parse(claim.claim)
            if len(spec.radii) == 1:
                row = paper_figure(figures.settings, claim.claim)
                others = (None, None) if row is None else (row.tpc, row.deepg3d)
                point = CurvePoint(spec.size, claim.certified_accuracy, *others)
                by_transform.setdefault(spec.transform.name, []).append(point)
        for transform, points in by_transform.items():
            if len(points) > 1:
                model = run_name(figures.settings)
                unit = "degrees" if parse_transform(transform).radii[0].unit == "deg" else ""
                title = f"{transform}, {model}"
                file = f"{model.replace(', ', '-')}-{transform}.svg"
                yield Drawing(file, title, draw_curve(title, unit, points))


def _cost_table(all_figures: Sequence[Figures]) -> Table:
    """What each evaluation took, and all of them; certain proofs count cells where the others count votes."""
    header = [
        "model",
        "claims",
        "objects",
        "counted",
        "per object",
        "millions",
        "seconds per object",
        "hours",
    ]
    rows = [
        [
            run_name(figures.settings),
            str(len(figures.claims)),
            f"{figures.done:,}",
            figures.settings.counted,
            f"{figures.evaluations_per_object:,.0f}",
            f"{_millions(figures):.2f}",
            f"{figures.seconds_per_object:.2f}",
            f"{_hours(figures):.2f}",
        ]
        for figures in all_figures
    ]
    for counted in ("votes", "cells"):
        same = [figures for figures in all_figures if figures.settings.counted == counted]
        if len(same) > 1:
            millions, hours = sum(map(_millions, same)), sum(map(_hours, same))
            claims = sum(len(figures.claims) for figures in same)
            rows.append(["all", str(claims), "", counted, "", f"{millions:.2f}", "", f"{hours:.2f}"])
    return Table(header, rows)


def _millions(figures: Figures) -> float:
    return figures.evaluations_per_object * figures.done / 1e6


def _hours(figures: Figures) -> float:
    return figures.seconds_per_object * figures.done / 3600


def _settings_blocks(all_figures: Iterable[Figures]) -> Iterator[Block]:
    yield Paragraph(
        f"Library {VERSION}. Votes depend on the seed, the object and the checkpoint alone, so the same "
        "command gives the same verdicts with any number of workers."
    )
    for figures in all_figures:
        settings = figures.settings
        yield Paragraph(
            f"{settings.model}, digest {settings.model_digest[:16]}; {settings.objects} objects, "
            f"digest {settings.objects_digest}; "
            + (
                "the plain network."
                if settings.proof == "certain"
                else f"smoothing {json.dumps(settings.smoothing)}."
            )
        )
        yield Code(f"{settings.command()} --out runs/eval/{Path(settings.model).stem}")


def _interval(share: Share) -> str:
    return f"{share.low:.1f} to {share.high:.1f}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
