"""The table of a finished run: objects.csv and objects.parquet, a line for each claim about each object.

The journal is the index: it knows where the line of each object stands. The workers read the lines of many objects and
write a shard of the table each; the driver puts the shards together and looks at no object.
"""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tpc_core.engines import Bench, InlineEngine, Streams
from tpc_core.evaluation.journal import rows_at
from tpc_core.evaluation.records import ObjectRow, PartCounts
from tpc_core.evaluation.settings import Settings
from tpc_core.evaluation.sums import Sums
from tpc_core.machinery.atomic import writing_atomically

COLUMNS = {
    "index": "int",
    "id": "str",
    "label": "str",
    "prediction": "str",
    "base": "str",
    "transform": "str",
    "radius": "str",
    "status": "str",
    "certified": "bool",
    "right": "bool",
    "samples": "int",
    "points": "int",
    "certified_points": "int",
    "certified_right_points": "int",
    "joint_points": "int",
    "joint_right_points": "int",
    "joint_iou": "float",
}
"""The columns of objects.csv and objects.parquet."""
SHARD = 1 << 14
"""Objects of one shard. It does not depend on the workers: the same shards, the same table."""
SHARDS = ".shards"
"""The folder inside a run in which they lie until the table is whole."""

Record = tuple[Any, ...]
"""One line of the table, in the order of COLUMNS."""


@dataclass(frozen=True)
class Shard:
    """A shard is on disk: its number, and the sums of its objects."""

    number: int
    sums: Sums


@dataclass(frozen=True)
class ShardWork:
    """Write a shard of the table, from the lines of its objects in the journal."""

    folder: Path
    settings: Settings
    number: int
    places: NDArray[np.int64] = field(repr=False)
    """Where the lines begin in the journal, by the numbers of their objects."""
    sizes: NDArray[np.int64] = field(repr=False)

    def run(self, bench: Bench) -> Iterator[Shard]:
        sums, records = Sums.of(self.settings), list[Record]()
        names = [(claim.transform.name, claim.radius) for claim in self.settings.claim_specs()]
        for row in rows_at(self.folder, self.places, self.sizes):
            sums.add(row)
            records += records_of(self.settings, names, row)
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows(records)
        with writing_atomically(_shard(self.folder, self.number, "csv")) as file:
            file.write(text.getvalue().encode())
        if _parquet_is_here():
            with (
                writing_atomically(_shard(self.folder, self.number, "parquet")) as file,
                _parquet(file) as out,
            ):
                out.write_table(_columns_of(records))
        yield Shard(self.number, sums)


def write_table(
    folder: Path, settings: Settings, places: NDArray[np.int64], sizes: NDArray[np.int64], engine: Streams
) -> Sums:
    """objects.csv, and objects.parquet where pyarrow is installed; the sums over all their objects."""
    folder = folder.resolve()
    starts = range(0, max(len(places), 1), SHARD)
    works = (
        ShardWork(folder, settings, number, places[at : at + SHARD], sizes[at : at + SHARD])
        for number, at in enumerate(starts)
    )
    by_workers = engine.shares_disk and len(starts) > 1
    sums = Sums.of(settings)
    try:
        written = (engine if by_workers else InlineEngine(threads=None)).stream(works)
        shards = [message for message in written if isinstance(message, Shard)]
        for shard in sorted(shards, key=lambda each: each.number):
            sums.merge(shard.sums)
        _put_together(folder, len(starts))
    finally:
        shutil.rmtree(folder / SHARDS, ignore_errors=True)
    return sums


def _put_together(folder: Path, count: int) -> None:
    with writing_atomically(folder / "objects.csv") as whole:
        whole.write(f"{','.join(COLUMNS)}\n".encode())
        for number in range(count):
            with _shard(folder, number, "csv").open("rb") as part:
                shutil.copyfileobj(part, whole, 1 << 20)
    if _parquet_is_here():
        read = import_module("pyarrow.parquet").read_table
        with writing_atomically(folder / "objects.parquet") as whole, _parquet(whole) as out:
            for number in range(count):
                out.write_table(read(_shard(folder, number, "parquet")))


def _shard(folder: Path, number: int, kind: str) -> Path:
    return folder / SHARDS / f"{number:05}.{kind}"


def records_of(settings: Settings, names: Sequence[tuple[str, str]], row: ObjectRow) -> list[Record]:
    """One record for each claim (transform, radius) about an object; no clock in it: equal runs, equal tables."""
    right = row.right if settings.task == "classification" else None
    head = (row.index, row.id, row.label, row.prediction, row.base)
    return [
        (
            *head,
            *name,
            answer.status,
            answer.status == "certified",
            right,
            answer.samples,
            settings.points,
            *_part_columns(answer.parts),
        )
        for name, answer in zip(names, row.claims, strict=True)
    ]


def _part_columns(parts: PartCounts | None) -> Record:
    if parts is None:
        return (None,) * 5
    return parts.certified, parts.certified_right, parts.joint, parts.joint_right, parts.joint_iou


def _parquet_is_here() -> bool:
    """Whether pyarrow is installed: it comes with the app, and the CSV holds the same."""
    try:
        import_module("pyarrow.parquet")
    except ImportError:
        return False
    return True


def _schema() -> Any:
    pyarrow = import_module("pyarrow")
    types = {
        "int": pyarrow.int64(),
        "str": pyarrow.string(),
        "bool": pyarrow.bool_(),
        "float": pyarrow.float64(),
    }
    return pyarrow.schema([(name, types[kind]) for name, kind in COLUMNS.items()])


def _columns_of(records: list[Record]) -> Any:
    pyarrow, schema = import_module("pyarrow"), _schema()
    columns = list(zip(*records, strict=True)) or [()] * len(COLUMNS)
    arrays = [pyarrow.array(column, kind.type) for column, kind in zip(columns, schema, strict=True)]
    return pyarrow.Table.from_arrays(arrays, schema=schema)


@contextmanager
def _parquet(file: BinaryIO) -> Iterator[Any]:
    with import_module("pyarrow.parquet").ParquetWriter(file, _schema()) as writer:
        yield writer
