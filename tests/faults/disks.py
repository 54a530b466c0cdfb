"""Disks that fail, made on the spot: a tiny one that fills up, and one that cannot be written."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[Path]:
    """A tmpfs at this folder; skips where mounting is not allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True)
    if made.returncode:
        pytest.skip("this machine does not let us mount a tmpfs")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path, leave: int = 0) -> Path:
    """Fill the disk up to a few bytes; returns the file to delete to make room again."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as stream:
        try:
            while True:
                stream.write(bytes(4096))
        except OSError:
            pass
        stream.truncate(max(0, ballast.stat().st_size - leave))
    return ballast


def files(folder: Path) -> set[str]:
    """Everything in a folder, temporaries included."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
