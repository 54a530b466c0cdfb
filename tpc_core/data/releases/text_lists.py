"""The small text files beside a release: lists of ids, of classes, of files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tpc_core.data.files.content import as_text, read_bytes
from tpc_core.data.limits import MAX_LIST_BYTES
from tpc_core.errors import InvalidFile


def read_lines(path: Path) -> list[str]:
    """The non-blank lines of a list file."""
    text = as_text(read_bytes(path, MAX_LIST_BYTES), path.name)
    return [line.strip() for line in text.splitlines() if line.strip()]


def read_json_strings(path: Path) -> list[str]:
    """A JSON file that holds a list of strings, and nothing else."""
    try:
        content: Any = json.loads(as_text(read_bytes(path, MAX_LIST_BYTES), path.name))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InvalidFile):
            raise
        raise InvalidFile(f"{path.name} is not JSON") from error
    if not isinstance(content, list) or not all(isinstance(entry, str) for entry in content):
        raise InvalidFile(f"{path.name} does not hold a list of names")
    return content
