"""Unpack a zip that may have been made to harm: nothing leaves the folder, nothing fills the disk."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from tpc_core.data.fetch.progress import Progress, silent
from tpc_core.errors import InvalidFile

MAX_UNPACKED_BYTES = 64 * 2**30
MAX_ENTRIES = 200_000

_LEFTOVERS = ("__MACOSX", ".DS_Store")


def unpack_zip(
    archive: Path,
    into: Path,
    folder: str,
    *,
    max_bytes: int = MAX_UNPACKED_BYTES,
    progress: Progress = silent,
) -> Path:
    """Unpack the archive's `folder` into the folder `into`, whole or not at all; returns `into/folder`.

    Every entry's CRC is checked on the way. It is unpacked beside its place and renamed at the end.
    """
    place = into / folder
    if place.exists():
        raise InvalidFile(f"{place} is there already; move it away to unpack {archive.name} again")
    into.mkdir(parents=True, exist_ok=True)
    workshop = Path(tempfile.mkdtemp(dir=into, prefix=f".{folder}."))
    try:
        with zipfile.ZipFile(archive) as opened:
            entries = _checked_entries(opened, archive.name, folder, max_bytes)
            _check_space(into, entries, archive.name)
            _extract(opened, entries, workshop, progress)
        os.replace(workshop / folder, place)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InvalidFile(f"{archive.name} is damaged: {error}") from error
    except OSError as error:
        raise InvalidFile(f"{archive.name} cannot be unpacked: {error.strerror or error}") from error
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
    return place


def _checked_entries(
    opened: zipfile.ZipFile, name: str, folder: str, max_bytes: int
) -> list[zipfile.ZipInfo]:
    """The files to write, after every entry has been looked at; one bad entry spoils the archive."""
    entries = opened.infolist()
    if len(entries) > MAX_ENTRIES:
        raise InvalidFile(f"{name} holds {len(entries):,} entries, more than {MAX_ENTRIES:,}")
    size = sum(entry.file_size for entry in entries)
    if size > max_bytes:
        raise InvalidFile(f"{name} unpacks to {size:,} bytes, more than {max_bytes:,}")
    files, seen = [], set()
    for entry in entries:
        _check_entry(entry, name)
        path = PurePosixPath(entry.filename)
        if entry.is_dir() or any(leftover in path.parts for leftover in _LEFTOVERS):
            continue
        if path.parts[0] != folder:
            raise InvalidFile(f"{name} holds {entry.filename!r} outside of {folder}/")
        # Case-folded: on some disks A.txt and a.txt are one file, and the second would overwrite the first.
        if str(path).casefold() in seen:
            raise InvalidFile(f"{name} holds {entry.filename!r} twice")
        seen.add(str(path).casefold())
        files.append(entry)
    if not files:
        raise InvalidFile(f"{name} holds no file in {folder}/")
    return files


def _check_entry(entry: zipfile.ZipInfo, name: str) -> None:
    """Refuse a path that leads elsewhere, a link, a device, and what is locked by a password."""
    path = entry.filename
    # zipfile cuts names at a NUL and may rewrite separators; the name as stored is what counts.
    stored = entry.orig_filename
    parts = PurePosixPath(path).parts
    if (
        not parts
        or path.startswith("/")
        or ".." in parts
        or "\\" in stored
        or "\0" in stored
        or ":" in parts[0]
    ):
        raise InvalidFile(f"{name} holds the path {stored!r}, which leads out of the folder")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise InvalidFile(f"{name} holds {path!r}, which is a link or a device, not a file")
    if entry.flag_bits & 0x1:
        raise InvalidFile(f"{name} holds {path!r}, which is locked by a password")


def _check_space(into: Path, entries: list[zipfile.ZipInfo], name: str) -> None:
    needed, free = sum(entry.file_size for entry in entries), shutil.disk_usage(into).free
    if needed > free:
        raise InvalidFile(f"{name} needs {needed:,} bytes in {into}, where {free:,} are free")


def _extract(
    opened: zipfile.ZipFile, entries: list[zipfile.ZipInfo], workshop: Path, progress: Progress
) -> None:
    """Write the files; zipfile stops each at its declared size and compares its CRC."""
    done, total = 0, sum(entry.file_size for entry in entries)
    for entry in entries:
        path = workshop / entry.filename
        path.parent.mkdir(parents=True, exist_ok=True)
        with opened.open(entry) as source, path.open("xb") as stream:
            shutil.copyfileobj(source, stream, 2**20)
        done += entry.file_size
        progress(done, total)
