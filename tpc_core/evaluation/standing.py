"""Where we stand: every row of the paper's tables beside the summaries of our evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Literal

from tpc_core.errors import TpcError
from tpc_core.evaluation.claims import ClaimSpec
from tpc_core.evaluation.intervals import Share
from tpc_core.evaluation.paper import PaperRow, PaperTable
from tpc_core.evaluation.summary import Figures, read_summary

Verdict = Literal["above", "below", "equal", "open"]


@dataclass(frozen=True)
class Answer:
    """The figure of one evaluation that belongs beside a row."""

    figures: Figures
    share: Share


@dataclass(frozen=True)
class Standing:
    """One row of a table of the paper, and the figure of the one model that the plan names for it, if there is one.

    The paper's figures hold with high probability and so does `answer`; DeepG3D's have no probability of error, and
    neither has `certain`, which is about a plain network.
    """

    row: PaperRow
    answer: Answer | None = None
    certain: Answer | None = None

    @property
    def claim(self) -> ClaimSpec:
        return ClaimSpec.parse(self.row.claim)

    @property
    def figures(self) -> Figures | None:
        return None if self.answer is None else self.answer.figures

    @property
    def share(self) -> Share | None:
        return None if self.answer is None else self.answer.share

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's, in percentage points."""
        if self.share is None or self.row.tpc is None:
            return None
        return self.share.value - self.row.tpc

    @property
    def verdict(self) -> Verdict:
        """Whether our figure is above or below the paper's; open where one of the two is missing."""
        if self.difference is None:
            return "open"
        if abs(self.difference) < 0.05:  # published figures have one decimal
            return "equal"
        return "above" if self.difference > 0 else "below"

    @property
    def sure(self) -> bool:
        """Whether the difference is larger than our choice of objects explains: the interval excludes the paper."""
        if self.share is None or self.row.tpc is None:
            return False
        return not self.share.low <= self.row.tpc <= self.share.high


def load_summaries(folder: Path) -> tuple[list[Figures], list[str]]:
    """The evaluations of all summary files in a folder, and a sentence for each file that cannot be read."""
    figures, complaints = [], []
    for path in sorted(folder.glob("*.json")):
        try:
            figures.append(read_summary(path))
        except (OSError, TpcError) as error:
            complaints.append(str(error))
    return figures, complaints


def standings(table: PaperTable, all_figures: Sequence[Figures]) -> list[Standing]:
    """The rows of a table in the paper's order; a row that several models answer comes several times.

    The plan of the paper names one model for each row, so nothing is chosen here.
    """
    result: list[Standing] = []
    for row in table.rows:
        by_votes = _answers(table, row, [f for f in all_figures if f.settings.proof == "smoothed"])
        certain = _answers(table, row, [f for f in all_figures if f.settings.proof == "certain"])
        pairs = list(zip_longest(by_votes, certain)) or [(None, None)]
        result += [Standing(row, *pair) for pair in pairs]
    return result


def _answers(table: PaperTable, row: PaperRow, all_figures: Sequence[Figures]) -> list[Answer]:
    """The figures that answer the question of a row: of each model, that of the most objects."""
    found: dict[str, Answer] = {}
    for figures in all_figures:
        for claim in figures.claims:
            share = (
                claim.certified_accuracy if table.figure == "certified_accuracy" else claim.certified_ratio
            )
            if share is None or claim.claim != row.claim or not row.answered_by(figures.settings):
                continue
            before = found.get(figures.settings.model)
            if before is None or before.figures.done < figures.done:
                found[figures.settings.model] = Answer(figures, share)
    return list(found.values())
