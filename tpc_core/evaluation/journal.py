"""The journal: an append-only file, one line per finished object; being killed at any moment does no harm."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from pydantic import ValidationError

from tpc_core.data.files.content import read_bytes
from tpc_core.errors import InvalidFile, InvalidValue
from tpc_core.evaluation.records import ObjectRow
from tpc_core.evaluation.settings import Settings, differences
from tpc_core.machinery.atomic import cannot_write, sync_folder

FORMAT = "tpc-journal/2"
NAME = "journal.jsonl"
LARGEST = 1 << 30
"""About a million objects."""


class Journal:
    """The open journal of one evaluation: what is done already, and a way to add to it."""

    def __init__(self, folder: Path, settings: Settings, *, resume: bool) -> None:
        self.path = folder / NAME
        self.settings = settings
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("ab")
        except OSError as error:
            raise InvalidFile(f"cannot write {self.path}: {error.strerror or error}") from error
        try:
            _lock(self._file, self.path)
            before, self.rows, length = _read(self.path)
            _check_same(self.path, before, settings, resume=resume)
            # What follows the last whole line was torn off by a crash; it is cut away before going on.
            self._file.truncate(length)
            if before is None:
                self._write(json.dumps({"format": FORMAT, "settings": settings.model_dump(mode="json")}))
                sync_folder(folder)
        except BaseException:
            self._file.close()
            raise

    def append(self, row: ObjectRow) -> None:
        """Add a finished object; when this returns, the line is on disk."""
        self._write(row.model_dump_json(exclude_none=True))
        self.rows[row.index] = row

    def _write(self, line: str) -> None:
        try:
            self._file.write(f"{line}\n".encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise cannot_write(self.path, error) from error

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Every whole line is on disk already; closing tries to write what did not fit, and may fail again.
        with contextlib.suppress(OSError):
            self._file.close()


def check_folder(folder: Path, settings: Settings, *, resume: bool) -> None:
    """Refuse a folder that holds another evaluation, before any work is done."""
    if (folder / NAME).exists():
        _check_same(folder / NAME, _read(folder / NAME)[0], settings, resume=resume)


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
    path = folder / NAME
    settings, rows, _ = _read(path)
    if settings is None:
        raise InvalidFile(f"{path} holds no settings; it was cut off before its first line")
    return settings, rows


def _read(path: Path) -> tuple[Settings | None, dict[int, ObjectRow], int]:
    """Settings, objects, and the length in bytes of the whole lines."""
    rows: dict[int, ObjectRow] = {}
    settings: Settings | None = None
    length = 0
    for number, line in _whole_lines(path):
        try:
            if number == 1:
                header = json.loads(line)
                if not isinstance(header, dict) or header.get("format") != FORMAT:
                    raise InvalidFile(f"{path} is not a {FORMAT} file")
                settings = Settings.model_validate(header.get("settings"))
            else:
                row = ObjectRow.model_validate_json(line)
                rows[row.index] = row
        except (ValueError, RecursionError) as error:
            if isinstance(error, InvalidFile):
                raise
            raise InvalidFile(f"{path}, line {number}: {_reason(error)}") from None
        length += len(line) + 1
    return settings, rows, length


def _whole_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines that end with a newline; a torn last one is left out."""
    return enumerate(read_bytes(path, LARGEST).split(b"\n")[:-1], start=1)


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(str(piece) for piece in first['loc']) or 'the line'}: {first['msg']}"
    return str(error)


def _lock(file: BinaryIO, path: Path) -> None:
    """Two runs must not write one journal; the lock goes with the process, however it ends."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InvalidValue(f"another evaluation is writing {path} at this moment; wait for it") from None
