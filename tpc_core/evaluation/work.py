"""Many objects as one piece of work for an engine; the worker reads them from its own disk, where it has them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Self

from tpc_core.data import Dataset, open_dataset
from tpc_core.engines import Bench
from tpc_core.engines.shared_passes import SharedPasses
from tpc_core.errors import InvalidFile, TpcError
from tpc_core.evaluation.objects import Object, evaluate_object
from tpc_core.evaluation.records import ObjectRow
from tpc_core.evaluation.rows import Rows
from tpc_core.evaluation.settings import Settings
from tpc_core.models import Model
from tpc_core.votes import Voter, resolve_device

Evaluated = tuple[ObjectRow, dict[str, str]]
"""The line of an object, and its certificates: {claim: JSON}."""

REPORT_SECONDS = 1.0
"""Finished objects are handed over, and put on disk, about this often."""


@dataclass(frozen=True)
class ObjectsWork:
    """Certify every claim about some objects; finished ones are yielded now and then as Rows."""

    settings: Settings
    model: Model = field(repr=False)
    numbers: tuple[int, ...]
    ids: tuple[str, ...]
    labels: dict[str, str]
    """Class of the data set -> what the model calls it."""
    certificates: bool = False
    carried: tuple[Object, ...] | None = field(default=None, repr=False)
    """The objects themselves, for workers that have no data set."""

    def going_on(self, state: bytes) -> Self:
        """What is left after the worker died."""
        done = int(state)
        carried = None if self.carried is None else self.carried[done:]
        return replace(self, numbers=self.numbers[done:], ids=self.ids[done:], carried=carried)

    def run(self, bench: Bench) -> Iterator[Rows]:
        results, made, due = [], dict[int, dict[str, str]](), time.monotonic() + REPORT_SECONDS
        for place, (row, certificates) in enumerate(self._evaluated(bench)):
            results.append(row)
            if self.certificates:
                made[self.numbers[place]] = certificates
            if time.monotonic() >= due or place + 1 == len(self.numbers):
                yield Rows.of(self.settings, results, made)
                bench.keep(str(place + 1).encode())
                results, made, due = [], {}, time.monotonic() + REPORT_SECONDS

    def _evaluated(self, bench: Bench) -> Iterator[Evaluated]:
        """The objects in order; on a device many at a time, whose votes share passes, since one would not fill it."""
        evaluate = self.evaluator()
        runs = (partial(self._one, place, evaluate) for place in range(len(self.numbers)))
        if self.settings.shares_passes:
            yield from SharedPasses[Evaluated]().results(runs, bench.stop)
            return
        for run in runs:
            if bench.stop():
                return
            yield run()

    def _one(self, place: int, evaluate: Callable[[Object], Evaluated]) -> Evaluated:
        one = self._object(place)
        try:
            return evaluate(one)
        except TpcError as error:
            raise type(error)(f"object {one.index} ({one.id}): {error}") from error

    def evaluator(self) -> Callable[[Object], Evaluated]:
        """What is done with an object: its line, and the certificates where they are wanted."""
        voter = Voter(self.model, self.model.smoothing, seed=0, device=resolve_device(self.settings.device))
        return lambda one: evaluate_object(self.settings, voter, one, certificates=self.certificates)

    def _object(self, place: int) -> Object:
        if self.carried is not None:
            return self.carried[place]
        dataset = _opened(self.settings.data, self.settings.split)
        return read_object(dataset, self.settings, self.numbers[place], self.ids[place], self.labels)


def read_object(
    dataset: Dataset, settings: Settings, number: int, expected: str, labels: dict[str, str]
) -> Object:
    """One object of a data set; where a worker has another edition of it, it says so."""
    found = dataset.object_id(number)
    if found != expected:
        raise InvalidFile(
            f"a worker's {dataset.name} has {found} where {expected} should be: another edition"
        )
    cloud = dataset[number].cloud(settings.points)
    return Object(
        number,
        found,
        labels.get(cloud.label or "", cloud.label),
        cloud.points.numpy(),
        None if cloud.part_labels is None else cloud.part_labels.numpy(),
    )


@lru_cache(maxsize=2)
def _opened(name: str, split: str) -> Dataset:
    """A data set, opened once in each worker."""
    return open_dataset(name, split)
