"""What a red team found, as JSON and as Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from tpc_core.evaluation.document import Heading, Paragraph, Table, to_markdown
from tpc_core.machinery.atomic import write_atomically
from tpc_core.redteam.questions import Plan
from tpc_core.redteam.trial import Trial


class Tally(BaseModel):
    """The trials of one transform."""

    model_config = ConfigDict(frozen=True)

    transform: str
    kinds: list[str]
    asked: int
    certified: int
    broken: int
    closest: float | None
    """The smallest lead in votes that any attack left."""


class Summary(BaseModel):
    """The whole red team in figures."""

    model_config = ConfigDict(frozen=True)

    library: str
    asked: int
    planned: int
    certified: int
    broken: list[int]
    alpha: float
    chance: float
    """The probability, at most, of any break at all if every certifier is sound."""
    certificate_votes: int
    attack_votes: int
    seconds: float
    transforms: list[Tally]

    @property
    def sentence(self) -> str:
        """The result as a person would say it."""
        fallen = "none broke" if not self.broken else f"{len(self.broken)} BROKE"
        return (
            f"{self.certified:,} certificates over {len(self.transforms)} transforms were attacked: {fallen}."
        )


def summarise(plan: Plan, trials: Iterable[Trial]) -> Summary:
    """The figures of the trials so far."""
    trials = sorted(trials, key=lambda trial: trial.number)
    certified = sum(trial.verdict == "certified" for trial in trials)
    names = list(dict.fromkeys(pair.transform for pair in plan.pairs))
    return Summary(
        library=plan.library,
        asked=len(trials),
        planned=len(plan.questions),
        certified=certified,
        broken=[trial.number for trial in trials if trial.broken is not None],
        alpha=plan.alpha,
        chance=min(1.0, certified * plan.alpha + plan.false_alarm),
        certificate_votes=sum(trial.votes for trial in trials),
        attack_votes=sum(trial.attack_votes for trial in trials),
        seconds=round(sum(trial.seconds for trial in trials), 1),
        transforms=[_tally(name, [t for t in trials if t.transform == name]) for name in names],
    )


def _tally(name: str, trials: list[Trial]) -> Tally:
    certified = [trial for trial in trials if trial.verdict == "certified"]
    return Tally(
        transform=name,
        kinds=sorted({trial.kind for trial in certified}),
        asked=len(trials),
        certified=len(certified),
        broken=sum(trial.broken is not None for trial in certified),
        closest=min((t.closest for t in certified if t.closest is not None), default=None),
    )


def write_summary(folder: Path, summary: Summary) -> None:
    """Write redteam.json and redteam.md beside the journal."""
    write_atomically(folder / "redteam.json", f"{json.dumps(summary.model_dump(), indent=1)}\n".encode())
    write_atomically(folder / "redteam.md", as_markdown(summary).encode())


def as_markdown(summary: Summary) -> str:
    """The summary as a page."""
    rows = [
        [
            tally.transform,
            ", ".join(tally.kinds),
            str(tally.asked),
            str(tally.certified),
            str(tally.broken),
            "" if tally.closest is None else f"{tally.closest:.2f}",
        ]
        for tally in summary.transforms
    ]
    cost = (
        f"{summary.certificate_votes:,} votes went into certificates and {summary.attack_votes:,} into attacks, "
        f"in {summary.seconds / 60:.0f} minutes."
    )
    odds = (
        f"Each certificate may be wrong with probability {summary.alpha:g}. If all certifiers are sound, a run "
        f"like this shows any break at all with probability at most {summary.chance:.2g}."
    )
    header = ["transform", "theorems", "asked", "certified", "broken", "smallest lead"]
    return to_markdown(
        "Red team",
        [
            Paragraph(summary.sentence),
            Paragraph(cost),
            Paragraph(odds),
            Heading("By transform"),
            Table(header, rows, words=2),
        ],
    )
