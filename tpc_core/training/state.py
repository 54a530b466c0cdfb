"""The state of a run on disk: written after every epoch in such a way that no crash can damage it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from tpc_core.errors import InvalidFile


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file in one step: a crash leaves the old file or the new one, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def save_state(path: Path, state: dict[str, Any]) -> None:
    """Write a run's state so that it is complete on disk before it gets its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with temporary.open("wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def load_state(path: Path) -> dict[str, Any]:
    """Read a run's state; pickled code in it is refused."""
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise InvalidFile(f"{path} is not the state of a run; delete it to start again ({error})") from error
    return state
