"""Write a file whole or not at all: the one way in which anything here puts a file in place."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from tpc_core.errors import CannotWrite


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; a full or read-only disk is a CannotWrite in one sentence."""
    with writing_atomically(path) as stream:
        stream.write(content)


@contextlib.contextmanager
def writing_atomically(path: Path) -> Iterator[BinaryIO]:
    """Write to a temporary beside the target; at the end sync it, rename it, sync the folder.

    A reader, a crash or a power cut sees the old file or the new one, never half of it. A full or read-only
    disk is a CannotWrite in one sentence; nothing is left behind then.
    """
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.tmp")
        # Whoever runs this says by the umask who may read it: everybody as a rule, nobody else for the explorer.
        handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
        sync_folder(path.parent)
    except BaseException as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        if isinstance(error, OSError) and not isinstance(error, CannotWrite):
            raise cannot_write(path, error) from error
        raise


def sync_folder(folder: Path) -> None:
    """Make the name of a new file survive a power cut, where the file system can."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)


def cannot_write(path: Path, error: OSError) -> CannotWrite:
    """The sentence for a disk that is full, read-only, or not there."""
    return CannotWrite(f"cannot write {path}: {error.strerror or error}")
