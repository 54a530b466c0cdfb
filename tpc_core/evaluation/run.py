"""One evaluation from start to end: the settings, the journal, the engine, the figures."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tpc_core.certify import certify_events
from tpc_core.data import Dataset, open_dataset
from tpc_core.data.classes import matching
from tpc_core.errors import InvalidFile
from tpc_core.evaluation.engines import Engine
from tpc_core.evaluation.journal import Journal, check_folder, read_journal
from tpc_core.evaluation.objects import Result, Task
from tpc_core.evaluation.records import ObjectRow
from tpc_core.evaluation.settings import Request, Settings, certificate_name, evaluated_objects
from tpc_core.evaluation.summary import Figures, figures_of, write_files
from tpc_core.machinery.atomic import write_atomically
from tpc_core.models import load_model

Progress = Callable[[Settings, dict[int, ObjectRow]], None]
"""Called with the objects finished so far, after each one."""


@dataclass(frozen=True)
class Prepared:
    """An evaluation that was checked and can start: nothing a person typed can fail any more."""

    settings: Settings
    dataset: Dataset
    folder: Path
    chosen: list[int]
    """The numbers of the objects in the data set."""
    labels: dict[str, str]
    """Class of the data set -> what the model calls it, where the two have different words for it."""
    notes: list[str]
    """What is left out, in sentences."""


def prepare(request: Request, folder: Path, *, resume: bool = False) -> Prepared:
    """Open the data set and the checkpoint, and refuse at once whatever cannot be evaluated."""
    model = load_model(request.model)
    dataset = open_dataset(request.data or model.card.dataset, request.split)
    settings = request.settle(model, dataset)
    cloud = dataset[0].cloud(settings.points)
    if settings.task == "segmentation" and cloud.part_labels is None:
        raise InvalidFile(f"{settings.model} labels parts, and {dataset.name} has none; use shapenetpart")
    for claim in settings.claim_specs():
        certify_events(model, cloud, claim.transform, claim.radius, settings.options(0))
    check_folder(folder, settings, resume=resume)
    chosen = evaluated_objects(dataset, model, settings.every, settings.limit)
    if settings.task == "segmentation":
        return Prepared(settings, dataset, folder, chosen, {}, [])
    found = matching(dataset.classes, model.classes)
    labels = {dataset.classes[theirs]: model.classes[ours] for theirs, ours in found.pairs.items()}
    return Prepared(
        settings, dataset, folder, chosen, labels, [found.sentence(dataset.name)] if found.unmatched else []
    )


def run(
    prepared: Prepared,
    engine: Engine,
    *,
    resume: bool = False,
    certificates: Path | None = None,
    progress: Progress = lambda settings, rows: None,
) -> Figures:
    """Evaluate what the journal does not hold yet, and write the figures."""
    settings = prepared.settings
    with Journal(prepared.folder, settings, resume=resume) as journal:
        progress(settings, journal.rows)
        missing = [index for index in _order(prepared) if index not in journal.rows]
        for result in engine.run(_tasks(prepared, missing, certificates is not None)):
            if certificates is not None:
                _save(result, settings, certificates)
            journal.append(result.row)
            progress(settings, journal.rows)
        return write_files(prepared.folder, settings, journal.rows)


def evaluate(
    request: Request,
    folder: Path,
    engine: Engine,
    *,
    resume: bool = False,
    certificates: Path | None = None,
    progress: Progress = lambda settings, rows: None,
) -> Figures:
    """Certified accuracy, certified ratio and clean accuracy of one model over a data set."""
    prepared = prepare(request, folder, resume=resume)
    return run(prepared, engine, resume=resume, certificates=certificates, progress=progress)


def load_figures(folder: Path) -> tuple[Figures, dict[int, ObjectRow]]:
    """The figures of a run from its journal, which is the truth even after a crash."""
    settings, rows = read_journal(folder)
    return figures_of(settings, rows.values()), rows


def _order(prepared: Prepared) -> list[int]:
    """The objects in a fixed shuffled order: data sets are sorted by class, running figures should not be."""
    chosen = list(prepared.chosen)
    random.Random(0).shuffle(chosen)
    return chosen


def _tasks(prepared: Prepared, indices: list[int], certificates: bool) -> Iterator[Task]:
    for index in indices:
        cloud = prepared.dataset[index].cloud(prepared.settings.points)
        yield Task(
            settings=prepared.settings,
            index=index,
            id=prepared.dataset.object_id(index),
            label=prepared.labels.get(cloud.label or "", cloud.label),
            points=cloud.points.numpy(),
            parts=None if cloud.part_labels is None else cloud.part_labels.numpy(),
            certificates=certificates,
        )


def _save(result: Result, settings: Settings, folder: Path) -> None:
    """Write the certificates of an object before its journal line, so that a finished object has them all."""
    folder.mkdir(parents=True, exist_ok=True)
    for claim, text in result.certificates.items():
        write_atomically(folder / certificate_name(settings, result.row.index, claim), text.encode())
