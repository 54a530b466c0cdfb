"""Where we stand: every row of the paper's tables beside the summaries of our evaluations."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from tpc_core.errors import InvalidFile, TpcError
from tpc_core.evaluation.claims import ClaimSpec
from tpc_core.evaluation.intervals import Share
from tpc_core.evaluation.paper import PaperRow, PaperTable
from tpc_core.evaluation.settings import Settings
from tpc_core.evaluation.summary import ClaimFigures, Figures

FORMAT = "tpc-evaluation/1"
Verdict = Literal["above", "below", "equal", "open"]


@dataclass(frozen=True)
class Standing:
    """One row of a table of the paper, and one answer of ours to it, if there is one."""

    row: PaperRow
    figures: Figures | None = None
    share: Share | None = None

    @property
    def claim(self) -> ClaimSpec:
        return ClaimSpec.parse(self.row.claim)

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
            figures.append(read_summary(json.loads(path.read_text(encoding="utf-8"))))
        except (OSError, ValueError, LookupError, TypeError, TpcError) as error:
            complaints.append(f"{path.name}: {error}")
    return figures, complaints


def read_summary(content: Any) -> Figures:
    """The figures of a summary.json; the inverse of `summary.to_json` up to its rounding."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidFile(f"not a summary of the format {FORMAT}")
    try:
        settings = Settings.model_validate(content["settings"])
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(piece) for piece in first["loc"])
        raise InvalidFile(f"settings: {place}: {first['msg']}") from None
    claims = [
        ClaimFigures(
            claim=str(claim["claim"]),
            certified_accuracy=_share(claim["certified_accuracy"]),
            certified_ratio=_optional(claim.get("certified_ratio")),
            statuses={str(status): int(count) for status, count in claim["statuses"].items()},
            samples=float(claim["samples_per_certificate"]),
            joint_accuracy=_optional(claim.get("joint_accuracy")),
            joint_miou=_optional(claim.get("joint_miou")),
        )
        for claim in content["claims"]
    ]
    return Figures(
        settings=settings,
        done=int(content["objects"]),
        clean_accuracy=_share(content["clean_accuracy"]),
        base_accuracy=_share(content["base_accuracy"]),
        claims=claims,
        evaluations_per_object=float(content["evaluations_per_object"]),
        seconds_per_object=float(content["seconds_per_object"]),
    )


def _share(content: Any) -> Share:
    return Share(float(content["value"]), float(content["low"]), float(content["high"]))


def _optional(content: Any) -> Share | None:
    return None if content is None else _share(content)


def standings(table: PaperTable, all_figures: Sequence[Figures]) -> list[Standing]:
    """The rows of a table in the paper's order; a row with several answers of ours comes several times."""
    result: list[Standing] = []
    for row in table.rows:
        answers = [
            Standing(row, figures, share)
            for figures in all_figures
            if row.answered_by(figures.settings)
            for claim in figures.claims
            if claim.claim == row.claim
            for share in [
                claim.certified_accuracy if table.figure == "certified_accuracy" else claim.certified_ratio
            ]
            if share is not None
        ]
        result += answers or [Standing(row)]
    return result


def best_answers(rows: Iterable[Standing]) -> list[Standing]:
    """One standing for each row of the paper: our highest figure."""
    best: dict[PaperRow, Standing] = {}
    for standing in rows:
        known = best.get(standing.row)
        if known is None or (
            standing.share is not None and (known.share is None or standing.share.value > known.share.value)
        ):
            best[standing.row] = standing
    return list(best.values())
