"""The bytes of a file that may have been written by anyone."""

from __future__ import annotations

import stat
from pathlib import Path

from tpc_core.data.limits import MAX_FILE_BYTES
from tpc_core.errors import InvalidFile


def read_bytes(path: Path, limit: int = MAX_FILE_BYTES) -> bytes:
    """The content of a regular file of at most `limit` bytes."""
    try:
        status = path.stat()
        # A pipe or a device would make the read below hang or never end.
        if not stat.S_ISREG(status.st_mode):
            raise InvalidFile(f"{path} is not a regular file")
        if status.st_size > limit:
            raise InvalidFile(f"{path.name} has {status.st_size:,} bytes, more than {limit:,}")
        with path.open("rb") as stream:
            content = stream.read(limit + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidFile):
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InvalidFile(f"cannot read {path}: {reason}") from error
    if len(content) > limit:
        raise InvalidFile(f"{path.name} grew past {limit:,} bytes while it was read")
    return content


def as_text(content: bytes, name: str) -> str:
    """The content as UTF-8 text."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidFile(f"{name} is not UTF-8 text") from error
