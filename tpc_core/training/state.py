"""The state of a run on disk: written after every epoch in such a way that no crash can damage it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import torch

from tpc_core.errors import InvalidFile
from tpc_core.machinery.atomic import write_atomically as write_atomically


def save_state(path: Path, state: dict[str, Any]) -> None:
    """Write a run's state so that it is complete on disk before it gets its name."""
    stream = io.BytesIO()
    torch.save(state, stream)
    write_atomically(path, stream.getvalue())


def load_state(path: Path) -> dict[str, Any]:
    """Read a run's state; pickled code in it is refused."""
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise InvalidFile(f"{path} is not the state of a run; delete it to start again ({error})") from error
    return state
