"""A file that only grows: one process writes it, and what was appended is on disk."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from tpc_core.errors import InvalidValue
from tpc_core.machinery.atomic import cannot_write


class AppendOnly:
    """The open file. A full or read-only disk is a CannotWrite in one sentence."""

    def __init__(self, path: Path, writer: str) -> None:
        """`writer` is who writes such files; a second one at the same time is refused."""
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab")
        except OSError as error:
            raise cannot_write(path, error) from error
        try:
            # The lock goes with the process, however it ends.
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise InvalidValue(f"another {writer} is writing {path} at this moment; wait for it") from None

    @property
    def length(self) -> int:
        """Where the next line will begin."""
        return self._file.seek(0, os.SEEK_END)

    def cut(self, length: int) -> None:
        """Cut away what follows the last whole line: it was torn off by a crash."""
        self._file.truncate(length)

    def append(self, lines: bytes) -> None:
        """Add lines; when this returns, they are on disk."""
        try:
            self._file.write(lines)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise cannot_write(self.path, error) from error

    def close(self) -> None:
        # Every whole line is on disk already; closing tries to write what did not fit, and may fail again.
        with contextlib.suppress(OSError):
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
