"""What a run writes down while it goes: a CSV line per epoch, and TensorBoard if asked."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from tpc_core.errors import MissingDependency
from tpc_core.training.state import write_atomically


class Journal:
    """The log of a run; its lines travel with the run's state, so a resumed run has no gap."""

    def __init__(self, folder: Path, tensorboard: bool) -> None:
        self.path = folder / "log.csv"
        self.lines: list[dict[str, float]] = []
        self._board = _board(folder) if tensorboard else None

    def add(self, line: dict[str, float]) -> None:
        """Note one epoch and rewrite the CSV file."""
        self.lines.append(line)
        columns = list(dict.fromkeys(key for entry in self.lines for key in entry))
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.lines)
        write_atomically(self.path, text.getvalue().encode())
        if self._board is not None:
            for key, value in line.items():
                self._board.add_scalar(key, value, int(line["epoch"]))
            self._board.flush()


def _board(folder: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise MissingDependency(
            "TensorBoard is not installed; run `pip install tpc-explorer[tensorboard]` or drop --tensorboard"
        ) from error
    return SummaryWriter(folder / "tensorboard")
