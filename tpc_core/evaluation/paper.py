"""The figures of the paper and of DeepG3D, to stand beside ours; paper.json names their source."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Literal

from tpc_core.evaluation.settings import Settings


@dataclass(frozen=True)
class PaperRow:
    """One row of a table: the question, and what the paper and DeepG3D answer (percent)."""

    data: str
    architecture: str
    points: int
    claim: str
    tpc: float | None
    deepg3d: float | None

    def answered_by(self, settings: Settings) -> bool:
        """Whether an evaluation with these settings asks the same question."""
        same = (self.data, self.architecture, self.points) == (
            settings.data,
            settings.architecture,
            settings.points,
        )
        return same and self.claim in settings.claims


@dataclass(frozen=True)
class PaperTable:
    """A table of the paper; `figure` says which of our figures belongs beside it."""

    id: str
    title: str
    figure: Literal["certified_accuracy", "certified_ratio"]
    rows: tuple[PaperRow, ...]


@dataclass(frozen=True)
class Paper:
    """All tables, with where they come from."""

    source: str
    settings: str
    tables: tuple[PaperTable, ...]


@lru_cache(maxsize=1)
def paper() -> Paper:
    """The figures as they ship with the package."""
    content = json.loads(files("tpc_core.evaluation").joinpath("paper.json").read_text(encoding="utf-8"))
    tables = tuple(
        PaperTable(t["id"], t["title"], t["figure"], tuple(PaperRow(**row) for row in t["rows"]))
        for t in content["tables"]
    )
    return Paper(content["source"], content["settings"], tables)


def paper_figure(settings: Settings, claim: str, figure: str = "certified_accuracy") -> PaperRow | None:
    """The paper's row for one of our claims, if it has one."""
    for table in paper().tables:
        if table.figure == figure:
            for row in table.rows:
                if row.claim == claim and row.answered_by(settings):
                    return row
    return None
