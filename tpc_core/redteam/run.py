"""A whole red team: ask every question that the journal does not answer yet."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from tpc_core.cloud import Cloud
from tpc_core.data import load_object
from tpc_core.errors import InvalidFile
from tpc_core.models.store import Model, load_model
from tpc_core.redteam.journal import RedteamJournal
from tpc_core.redteam.questions import Plan
from tpc_core.redteam.summary import Summary, summarise, write_summary
from tpc_core.redteam.trial import Trial, put_to_the_test

Progress = Callable[[dict[int, Trial]], None]


def run(
    plan: Plan,
    folder: Path,
    *,
    certificates: int | None = None,
    resume: bool = False,
    progress: Progress = lambda trials: None,
) -> Summary:
    """Certify and attack until the plan is done, or until so many certificates were attacked."""
    models = lru_cache(maxsize=None)(load_model)
    clouds = lru_cache(maxsize=256)(lambda spec: load_object(spec, points=plan.points))
    with RedteamJournal(folder, plan, resume=resume) as journal:
        plan = journal.plan
        for number, (spec, pair) in enumerate(plan.questions):
            if certificates is not None and attacked(journal.trials) >= certificates:
                break
            if number in journal.trials:
                continue
            model: Model = models(pair.model)
            if model.digest != pair.digest:
                raise InvalidFile(f"the checkpoint {pair.model} was replaced after this red team began")
            cloud: Cloud = clouds(spec)
            trial, certificate = put_to_the_test(plan, number, spec, model, cloud, pair.transform)
            if trial.broken is not None:
                (folder / "broken").mkdir(exist_ok=True)
                certificate.save(folder / "broken" / f"{number:05}.json")
            journal.append(trial)
            progress(journal.trials)
        summary = summarise(plan, journal.trials.values())
    write_summary(folder, summary)
    return summary


def attacked(trials: dict[int, Trial]) -> int:
    """How many certificates stood up to an attack, or fell."""
    return sum(trial.verdict == "certified" for trial in trials.values())
