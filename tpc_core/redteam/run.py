"""A whole red team: ask every question that the journal does not answer yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from tpc_core.certificate.schema import Certificate
from tpc_core.data import load_object
from tpc_core.engines import Bench, InlineEngine, Streams
from tpc_core.errors import InvalidFile
from tpc_core.models.store import Model, load_model
from tpc_core.redteam.journal import RedteamJournal
from tpc_core.redteam.questions import Plan
from tpc_core.redteam.summary import Summary, summarise, write_summary
from tpc_core.redteam.trial import Trial, put_to_the_test

Progress = Callable[[dict[int, Trial]], None]


@dataclass(frozen=True)
class Tried:
    """A trial, and its certificate where it broke."""

    trial: Trial
    broken: Certificate | None


@dataclass(frozen=True)
class TrialWork:
    """One question of a plan as a piece of work for an engine."""

    plan: Plan = field(repr=False)
    number: int
    spec: str
    model: Model = field(repr=False)
    transform: str

    def run(self, bench: Bench) -> Iterator[Tried]:
        cloud = load_object(self.spec, points=self.plan.points)
        trial, certificate = put_to_the_test(
            self.plan, self.number, self.spec, self.model, cloud, self.transform
        )
        yield Tried(trial, certificate if trial.broken is not None else None)


def run(
    plan: Plan,
    folder: Path,
    engine: Streams | None = None,
    *,
    certificates: int | None = None,
    resume: bool = False,
    progress: Progress = lambda trials: None,
) -> Summary:
    """Certify and attack until the plan is done, or until so many certificates were attacked."""
    with RedteamJournal(folder, plan, resume=resume) as journal:
        plan, trials = journal.plan, journal.trials

        def enough() -> bool:
            return certificates is not None and attacked(trials) >= certificates

        for tried in (engine or InlineEngine(threads=None)).stream(_works(plan, trials, enough)):
            if not isinstance(tried, Tried) or enough():
                continue
            if tried.broken is not None:
                (folder / "broken").mkdir(exist_ok=True)
                tried.broken.save(folder / "broken" / f"{tried.trial.number:05}.json")
            journal.add(tried.trial)
            progress(trials)
        summary = summarise(plan, trials.values())
    write_summary(folder, summary)
    return summary


def _works(plan: Plan, trials: dict[int, Trial], enough: Callable[[], bool]) -> Iterator[TrialWork]:
    """The questions that have no answer yet."""
    models = lru_cache(maxsize=None)(load_model)
    for number, (spec, pair) in enumerate(plan.questions):
        if enough():
            return
        if number in trials:
            continue
        model: Model = models(pair.model)
        if model.digest != pair.digest:
            raise InvalidFile(f"the checkpoint {pair.model} was replaced after this red team began")
        yield TrialWork(plan, number, spec, model, pair.transform)


def attacked(trials: dict[int, Trial]) -> int:
    """How many certificates stood up to an attack, or fell."""
    return sum(trial.verdict == "certified" for trial in trials.values())
