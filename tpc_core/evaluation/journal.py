"""The journal: an append-only file, one line per finished object; being killed at any moment does no harm.

It is read as a stream, and what is kept in memory of an object is where its line begins.
"""

from __future__ import annotations

import itertools
import json
import os
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from tpc_core.errors import InvalidFile, InvalidValue
from tpc_core.evaluation.records import ObjectRow
from tpc_core.evaluation.rows import Rows
from tpc_core.evaluation.settings import Settings, differences
from tpc_core.evaluation.sums import Sums
from tpc_core.machinery.append_only import AppendOnly
from tpc_core.machinery.atomic import sync_folder

FORMAT = "tpc-journal/2"
NAME = "journal.jsonl"
LONGEST_LINE = 1 << 20


class Journal(AppendOnly):
    """The open journal of one evaluation: what is done already, and a way to add to it."""

    def __init__(self, folder: Path, settings: Settings, *, resume: bool) -> None:
        super().__init__(folder / NAME, "evaluation")
        self.sums = Sums.of(settings)
        """The figures so far, as sums."""
        self._numbers, self._places = array("q"), array("q")
        try:
            before = _settings(self.path)
            _check_same(self.path, before, settings, resume=resume)
            length = 0
            for place, size, row in _rows(self.path, len(settings.claims)):
                length = place + size
                if row is not None:
                    self._numbers.append(row.index)
                    self._places.append(place)
                    self.sums.add(row)
            self.cut(length)
            if before is None:
                header = {"format": FORMAT, "settings": settings.model_dump(mode="json")}
                self.append(json.dumps(header).encode() + b"\n")
                sync_folder(folder)
        except BaseException:
            self.close()
            raise

    @property
    def done(self) -> NDArray[np.int64]:
        """The numbers of the finished objects."""
        return np.array(self._numbers, dtype=np.int64)

    def add(self, rows: Rows) -> None:
        """Add finished objects; when this returns, their lines are on disk."""
        place = self.length
        self.append(rows.lines)
        ends = place + np.cumsum(rows.sizes, dtype=np.int64)
        self._numbers.extend(rows.numbers)
        self._places.extend((ends - np.asarray(rows.sizes, dtype=np.int64)).tolist())
        self.sums.merge(rows.sums)

    def in_order(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the lines of the finished objects begin, by the numbers of the objects, and how long they are."""
        numbers, places = self.done, np.array(self._places, dtype=np.int64)
        # Of an object that was done twice (its worker died before it could say so) the last line counts.
        order = np.lexsort((places, numbers))
        last = np.append(np.diff(numbers[order]) != 0, True) if len(order) else np.zeros(0, dtype=bool)
        by_place = np.argsort(places)
        ends = np.empty_like(places)  # lines follow one another, so each ends where the next begins
        ends[by_place] = np.append(places[by_place][1:], self.length)
        wanted = order[last]
        return places[wanted], (ends - places)[wanted]


def rows_at(folder: Path, places: NDArray[np.int64], sizes: NDArray[np.int64]) -> Iterator[ObjectRow]:
    """Some finished objects, read from the disk one by one: where their lines begin, and how long they are."""
    with (folder / NAME).open("rb", buffering=0) as file:
        for place, size in zip(places.tolist(), sizes.tolist(), strict=True):
            yield ObjectRow.model_validate_json(os.pread(file.fileno(), size, place))


def check_folder(folder: Path, settings: Settings, *, resume: bool) -> None:
    """Refuse a folder that holds another evaluation, before any work is done."""
    if (folder / NAME).exists():
        _check_same(folder / NAME, _settings(folder / NAME), settings, resume=resume)


def _check_same(path: Path, before: Settings | None, now: Settings, *, resume: bool) -> None:
    """Refuse to mix two evaluations in one journal, and say what differs."""
    if before is None:
        return
    if not resume:
        raise InvalidValue(
            f"{path.parent} holds an evaluation already; add --resume, or choose another --out"
        )
    changed = differences(before, now)
    if changed:
        raise InvalidValue(
            f"cannot resume {path.parent}: the settings changed ({'; '.join(changed)}); "
            "restore them, or choose another --out"
        )


def read_journal(folder: Path) -> tuple[Settings, dict[int, ObjectRow]]:
    """The settings and the finished objects of an evaluation, finished or not."""
    settings = known_settings(folder)
    rows = _rows(folder / NAME, len(settings.claims))
    return settings, {row.index: row for _, _, row in rows if row is not None}


def sums_of(folder: Path) -> tuple[Settings, Sums]:
    """The settings and the sums over the finished objects: its figures, however many objects there are."""
    settings = known_settings(folder)
    seen: set[int] = set()
    sums = Sums.of(settings)
    for _, _, row in _rows(folder / NAME, len(settings.claims)):
        if row is not None and row.index not in seen:
            seen.add(row.index)
            sums.add(row)
    return settings, sums


def known_settings(folder: Path) -> Settings:
    """The settings in the first line of a journal."""
    settings = _settings(folder / NAME)
    if settings is None:
        raise InvalidFile(f"{folder / NAME} holds no settings; it was cut off before its first line")
    return settings


def _settings(path: Path) -> Settings | None:
    """The settings of a journal; None where it was cut off in its first line."""
    for _, _, line in _whole_lines(path):
        try:
            header = json.loads(line)
            if not isinstance(header, dict) or header.get("format") != FORMAT:
                raise InvalidFile(f"{path} is not a {FORMAT} file")
            return Settings.model_validate(header.get("settings"))
        except (ValueError, RecursionError) as error:
            if isinstance(error, InvalidFile):
                raise
            raise InvalidFile(f"{path}, line 1: {_reason(error)}") from None
    return None


def _rows(path: Path, claims: int) -> Iterator[tuple[int, int, ObjectRow | None]]:
    """Where each whole line begins, its length, and the object in it; the first line has none."""
    for number, place, line in _whole_lines(path):
        if number == 1:
            yield place, len(line) + 1, None
            continue
        try:
            row = ObjectRow.model_validate_json(line)
        except (ValueError, RecursionError) as error:
            raise InvalidFile(f"{path}, line {number}: {_reason(error)}") from None
        if len(row.claims) != claims:
            raise InvalidFile(f"{path}, line {number}: {len(row.claims)} claims where {claims} were made")
        yield place, len(line) + 1, row


def _whole_lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Number, place and content of the lines that end with a newline; a torn last one is left out."""
    try:
        if not path.is_file():  # a pipe or a device would make the read below hang or never end
            raise InvalidFile(f"{path} is not a regular file" if path.exists() else f"there is no {path}")
        with path.open("rb") as file:
            place = 0
            for number in itertools.count(1):
                line = file.readline(LONGEST_LINE)
                if not line.endswith(b"\n"):
                    if len(line) == LONGEST_LINE:
                        raise InvalidFile(f"{path}, line {number}: longer than {LONGEST_LINE:,} bytes")
                    return
                yield number, place, line[:-1]
                place += len(line)
    except OSError as error:
        raise InvalidFile(f"cannot read {path}: {error.strerror or error}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(str(piece) for piece in first['loc']) or 'the line'}: {first['msg']}"
    return str(error)
