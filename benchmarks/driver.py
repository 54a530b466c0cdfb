"""What the driver of an evaluation can take: objects that cost nothing, handed out, written down and summed up.

`python -m benchmarks.driver [OBJECTS]` prints objects per second and the driver's memory as it goes, and
what does not hold of its promises.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tpc_core.engines import LocalEngine
from tpc_core.evaluation.objects import Object
from tpc_core.evaluation.records import ClaimRow, ObjectRow
from tpc_core.evaluation.run import Prepared, run
from tpc_core.evaluation.settings import Settings
from tpc_core.evaluation.sums import Sums
from tpc_core.evaluation.work import Evaluated, ObjectsWork
from tpc_core.models import load_model

OBJECTS = 1_000_000
LEAST_RATE = 30_000
"""Objects per second, all that a run does counted in."""
BYTES_AN_OBJECT = 48
"""What the driver may keep of each: where its line begins, twice where a list grows. All else must be flat."""
_CLOUD = np.zeros((1, 3), dtype=np.float32)


@dataclass(frozen=True)
class FreeWork(ObjectsWork):
    """Objects whose certificates cost nothing."""

    def _object(self, place: int) -> Object:
        return Object(self.numbers[place], self.ids[place], "chair", _CLOUD)

    def evaluator(self) -> Callable[[Object], Evaluated]:
        return free_of_charge


def free_of_charge(one: Object) -> Evaluated:
    """The line of an object whose certificate nobody made."""
    row = ObjectRow(
        index=one.index,
        id=one.id,
        label="chair",
        cloud="0" * 16,
        base="chair",
        prediction="chair",
        claims=[ClaimRow(status="certified", samples=64)],
        evaluations=64,
        seconds=0.0,
    )
    return row, {}


class Numbered:
    """A data set without points: objects that have a name and nothing else."""

    name = "numbered"

    def object_id(self, number: int) -> str:
        return f"object_{number:08}"


def measure(objects: int = OBJECTS, workers: int = 2) -> list[str]:
    """Objects per second with the table written, and how much the driver grew on the way."""
    model: Any = load_model("pointnet64-noise")
    settings = Settings(
        data="numbered", split="test", points=64, objects=objects, objects_digest="0" * 16, model=model.name,
        model_digest=model.digest, architecture="pointnet", task="classification", smoothing={},
        claims=["z-taper:0.1"], alpha=0.001, budget_samples=1000,
    )  # fmt: skip
    memory: list[float] = []
    marks: list[float] = []

    def look(_: Settings, sums: Sums) -> None:
        if sums.done * 10 >= objects * len(marks):
            marks.append(time.perf_counter())
            memory.append(_megabytes())
            print(f"{sums.done:>10,} objects, {memory[-1]:.0f} MB", flush=True)

    with TemporaryDirectory() as folder, LocalEngine(workers) as engine:
        dataset: Any = Numbered()
        prepared = Prepared(settings, model, dataset, Path(folder) / "run", list(range(objects)), {}, [])
        engine.warm()
        run_on = Prepared(
            settings.model_copy(update={"objects": 100}),
            model,
            dataset,
            Path(folder) / "warm",
            list(range(100)),
            {},
            [],
        )
        run(run_on, engine, kind=FreeWork)
        start = time.perf_counter()
        run(prepared, engine, progress=look, kind=FreeWork)
        seconds = time.perf_counter() - start
    handed = marks[-1] - start
    words = (
        f"The driver with certificates that cost nothing, {workers} workers, {objects:,} objects: "
        f"{objects / handed:,.0f} objects/s handed out, written down and summed up, {objects / seconds:,.0f} with the "
        f"table written; its memory {memory[1]:.0f} MB after a tenth and {memory[-1]:.0f} MB at the end."
    )
    print(words, flush=True)
    slack = 20 + BYTES_AN_OBJECT * objects / 1e6
    if objects / seconds < LEAST_RATE:
        print(f"does not hold: at least {LEAST_RATE:,} objects/s")
    if memory[-1] - memory[1] > slack:
        print(f"does not hold: the driver grew by more than {slack:.0f} MB")
    return ["", words]


def _megabytes() -> float:
    """The memory of this process now."""
    with open("/proc/self/statm", encoding="utf-8") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


if __name__ == "__main__":
    from benchmarks import driver  # by its name: what is defined in __main__ cannot travel to a worker

    driver.measure(int(sys.argv[1]) if len(sys.argv) > 1 else OBJECTS)
