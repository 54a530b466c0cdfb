"""One evaluation from start to end: the settings, the journal, the engine, the figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tpc_core.certify import certify_events
from tpc_core.data import Dataset, open_dataset
from tpc_core.data.classes import match_classes
from tpc_core.engines import Streams
from tpc_core.errors import InvalidFile
from tpc_core.evaluation.journal import Journal, check_folder, sums_of
from tpc_core.evaluation.rows import Rows
from tpc_core.evaluation.settings import Request, Settings, certificate_name, evaluated_objects
from tpc_core.evaluation.summary import Figures, figures_of, write_summary
from tpc_core.evaluation.sums import Sums
from tpc_core.evaluation.table import write_table
from tpc_core.evaluation.work import ObjectsWork, read_object
from tpc_core.machinery.atomic import write_atomically
from tpc_core.models import Model, load_model

MOST_OBJECTS = 1024
"""Objects of one piece of work; towards the end they are fewer, so that no worker is left with a long rest."""

Progress = Callable[[Settings, Sums], None]
"""Called with the sums over the objects finished so far, whenever there are more."""


@dataclass(frozen=True)
class Prepared:
    """An evaluation that was checked and can start: nothing a person typed can fail any more."""

    settings: Settings
    model: Model = field(repr=False)
    dataset: Dataset = field(repr=False)
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
        return Prepared(settings, model, dataset, folder, chosen, {}, [])
    found = match_classes(dataset.classes, model.classes)
    labels = {dataset.classes[theirs]: model.classes[ours] for theirs, ours in found.pairs.items()}
    notes = [found.sentence(dataset.name)] if found.unmatched else []
    return Prepared(settings, model, dataset, folder, chosen, labels, notes)


def run(
    prepared: Prepared,
    engine: Streams,
    *,
    resume: bool = False,
    certificates: Path | None = None,
    progress: Progress = lambda settings, sums: None,
    kind: type[ObjectsWork] = ObjectsWork,
) -> Figures:
    """Evaluate what the journal does not hold yet, and write the figures; `kind` says what is done with an object."""
    settings = prepared.settings
    with Journal(prepared.folder, settings, resume=resume) as journal:
        progress(settings, journal.sums)
        order = _order(prepared)
        missing = order[~np.isin(order, journal.done)]
        works = _works(prepared, missing, engine, certificates is not None, kind)
        for message in engine.stream(works):
            if isinstance(message, Rows):
                if certificates is not None:
                    _save(message, settings, certificates)
                journal.add(message)
                progress(settings, journal.sums)
        sums = write_table(prepared.folder, settings, *journal.in_order(), engine)
        return write_summary(prepared.folder, settings, sums)


def evaluate(
    request: Request,
    folder: Path,
    engine: Streams,
    *,
    resume: bool = False,
    certificates: Path | None = None,
    progress: Progress = lambda settings, sums: None,
) -> Figures:
    """Certified accuracy, certified ratio and clean accuracy of one model over a data set."""
    prepared = prepare(request, folder, resume=resume)
    return run(prepared, engine, resume=resume, certificates=certificates, progress=progress)


def load_figures(folder: Path) -> Figures:
    """The figures of a run from its journal, which is the truth even after a crash."""
    return figures_of(*sums_of(folder))


def _order(prepared: Prepared) -> NDArray[np.int64]:
    """The objects in a fixed shuffled order: data sets are sorted by class, running figures should not be."""
    return np.random.default_rng(0).permutation(np.array(prepared.chosen, dtype=np.int64))


def _works(
    prepared: Prepared,
    missing: NDArray[np.int64],
    engine: Streams,
    certificates: bool,
    kind: type[ObjectsWork],
) -> Iterator[ObjectsWork]:
    """The missing objects in pieces, large ones first."""
    dataset, settings = prepared.dataset, prepared.settings
    begun = 0
    while begun < len(missing):
        size = max(1, min(MOST_OBJECTS, (len(missing) - begun) // (4 * engine.count)))
        numbers = tuple(int(number) for number in missing[begun : begun + size])
        ids = tuple(dataset.object_id(number) for number in numbers)
        carried = None
        if not engine.shares_disk:
            pairs = zip(numbers, ids, strict=True)
            carried = tuple(read_object(dataset, settings, n, name, prepared.labels) for n, name in pairs)
        yield kind(settings, prepared.model, numbers, ids, prepared.labels, certificates, carried)
        begun += size


def _save(rows: Rows, settings: Settings, folder: Path) -> None:
    """Write the certificates of objects before their journal lines, so that a finished object has them all."""
    for number, made in rows.certificates.items():
        for claim, text in made.items():
            write_atomically(folder / certificate_name(settings, number, claim), text.encode())
