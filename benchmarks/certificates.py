"""What a certificate costs, for every row of the paper's runtime table: its protocol against the adaptive one.

Both run for real on the same model and the same objects wherever the paper's protocol takes at most a few hundred
thousand votes; above that its votes are known (cells x 10,016) and its time follows from the votes per second
measured in the same run, which the table says.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from benchmarks import fewest_votes
from benchmarks.confident import HalfSpace
from tpc_core import Budget, Certificate, Cloud, Model, Options, certify, load_model, load_object
from tpc_core.certify.estimate import estimate
from tpc_core.votes import BaseClassifier

OBJECTS = ("airplane-1", "guitar-1", "person-1", "laptop-1")
COVERS = (
    ("z-taper", "0.5", "pointnet64-noise"),
    ("z-taper+z-rotation", "taper=0.2,rotation=1", "pointnet64-noise"),
    ("z-twist+z-taper+z-rotation", "twist=20,taper=0.2,rotation=1", "pointnet64-noise"),
    ("general-rotation", "15", "pointnet64-noise"),
)
ADDITIVE = (
    ("z-rotation", "180", "pointnet64-z-rotation"),
    ("z-shear", "0.2", "pointnet64-z-shear"),
    ("z-twist", "180", "pointnet64-z-twist"),
    ("linear", "0.2", "pointnet64-linear"),
    ("z-twist+z-rotation", "twist=50,rotation=5", "pointnet64-z-twist-z-rotation"),
)
LONG = "general-rotation"
"""Takes hundreds of thousands of votes per object even adaptively: the first object alone, all with --full."""
REAL_LIMIT = 250_000
"""Votes of the paper's protocol that are cast for each object without --full."""
HALF_SPACE = COVERS[2:]
HALF_SPACE_LIMIT = 4_000_000
TARGET = 30


@dataclass
class Side:
    """What one protocol took over all objects."""

    votes: int = 0
    seconds: float = 0.0
    verdicts: list[str] = field(default_factory=list)
    extrapolated: int = 0
    """Objects whose votes were not cast."""

    def add(self, certificate: Certificate) -> None:
        self.votes += certificate.samples
        self.seconds += certificate.seconds
        self.verdicts.append(certificate.verdict)

    def cells(self) -> str:
        """Votes, seconds and verdicts of one object, for the table."""
        count = len(self.verdicts) + self.extrapolated
        mark = "*" if self.extrapolated else ""
        certified = self.verdicts.count("certified")
        verdicts = f"{certified} of {count}" if not self.extrapolated else "not run"
        return f"{self.votes / count:,.0f}{mark} | {self.seconds / count:,.2f}{mark} | {verdicts}"


def measure(*, full: bool) -> list[str]:
    """The tables of covers and of additive transforms, and votes beside Wald's bound."""
    clouds = [load_object(f"gallery:{name}", points=64) for name in OBJECTS]
    lines = [
        "## Cost of a certificate",
        "",
        f"The rows of the paper's runtime table, on {', '.join(f'`{name}`' for name in OBJECTS)} of the gallery (64 "
        "points, alpha 0.001; the first alone for general-rotation, unless `--full`): means per object, model "
        "evaluations and seconds of processor time. The paper's grid has "
        "the smallest M that can certify; 10,016 votes a cell, which are whole blocks. Figures with * were not cast: "
        "the votes are cells x 10,016, and the seconds follow from the votes per second of the adaptive run beside it.",
        "",
        f"Targets: covers at least {TARGET}x fewer evaluations; additive transforms never slower; the same verdicts or "
        "better.",
        "",
        "| transform | radius | model | paper: votes | s | certified | adaptive: votes | s | certified | fewer votes |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, radius, model_name in (*COVERS, *ADDITIVE):
        chosen = clouds if full or name != LONG else clouds[:1]
        lines.append(_row(name, radius, load_model(model_name), chosen, full=full))
        print(lines[-1], flush=True)
    lines += [
        "",
        "The two long covers with a classifier that costs next to nothing (a half-space whose p_A is known), so that "
        "the paper's votes can be cast for real:",
        "",
        "| transform | radius | paper: votes | s | verdict | adaptive: votes | s | verdict | fewer votes |",
        "|---|---|---:|---:|---|---:|---:|---|---:|",
    ]
    for name, radius, _ in HALF_SPACE:
        lines.append(_half_space_row(name, radius, clouds[0], full=full))
        print(lines[-1], flush=True)
    return [*lines, "", *fewest_votes.measure(full=full)]


def _row(name: str, radius: str, model: Model, clouds: list[Cloud], *, full: bool) -> str:
    paper, adaptive = Side(), Side()
    for cloud in clouds:
        certify(model, cloud, name, radius, Options(budget=Budget(samples=64)))  # warms up
        adaptive.add(_timed(model, cloud, name, radius, Options()))
    for cloud in clouds:
        planned = planned_votes(model, cloud, name, radius)
        if planned <= REAL_LIMIT or (full and planned <= 2 * REAL_LIMIT):
            paper.add(_timed(model, cloud, name, radius, Options(protocol="paper")))
        else:
            paper.votes += planned
            paper.seconds += planned * adaptive.seconds / adaptive.votes
            paper.extrapolated += 1
    ratio = paper.votes / adaptive.votes
    return (
        f"| {name} | {radius} | {model.name} | {paper.cells()} | {adaptive.cells()} "
        f"| {f'{ratio:,.0f}' if ratio > 10 else f'{ratio:.1f}'}x |"
    )


def planned_votes(model: BaseClassifier, cloud: Cloud, name: str, radius: str) -> int:
    """The votes of the paper's protocol, where every cell passes."""
    return round(estimate(model, cloud, name, radius, Options(protocol="paper")).samples or 0)


def _timed(model: BaseClassifier, cloud: Cloud, name: str, radius: str, options: Options) -> Certificate:
    start = time.process_time()
    certificate = certify(model, cloud, name, radius, options)
    return certificate.model_copy(update={"seconds": time.process_time() - start})


def _half_space_row(name: str, radius: str, cloud: Cloud, *, full: bool) -> str:
    model = HalfSpace(cloud)
    adaptive, paper = Side(), Side()
    adaptive.add(_timed(model, cloud, name, radius, Options()))
    planned = planned_votes(model, cloud, name, radius)
    if full or planned <= HALF_SPACE_LIMIT:
        paper.add(_timed(model, cloud, name, radius, Options(protocol="paper")))
    else:
        paper.votes, paper.extrapolated = planned, 1
        paper.seconds = planned * adaptive.seconds / adaptive.votes
    return (
        f"| {name} | {radius} | {paper.cells()} | {adaptive.cells()} | {paper.votes / adaptive.votes:,.0f}x |"
    )
