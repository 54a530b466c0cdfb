"""The objects of a finished run, one by one: what was asked of each, how it ended, why, and by how much."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from tpc_core.case_view import CaseView, shortfall
from tpc_core.certificate import Certificate
from tpc_core.data.dataset import spec_of
from tpc_core.errors import InvalidFile
from tpc_core.evaluation.journal import NAME, read_journal
from tpc_core.evaluation.records import ObjectRow, Status
from tpc_core.evaluation.settings import Settings, certificate_name
from tpc_core.explain import explain_certificate
from tpc_core.explain.findings import TITLES

CERTIFICATES = "certificates"
"""The folder inside a run where its certificates are looked for."""


@dataclass(frozen=True)
class RunObject:
    """One object of a run under one of its claims."""

    row: ObjectRow
    spec: str
    claim: str
    status: Status
    cost: int
    """Votes, or cells of a certain proof."""
    certificate: Path | None
    """Its certificate, where the run kept it."""

    @property
    def right(self) -> bool:
        """Whether the class that is certified is the true one."""
        return self.row.right


@dataclass(frozen=True)
class Reason:
    """Why a certificate ended as it did, and its margin: by how many sigmas p_A is beyond what is needed."""

    title: str
    margin: float | None


@dataclass(frozen=True)
class OpenedRun:
    """A run folder: its settings and its objects."""

    folder: Path
    settings: Settings
    rows: tuple[ObjectRow, ...]

    @property
    def title(self) -> str:
        """The run in a few words."""
        settings = self.settings
        return f"{settings.model} on {settings.data} {settings.split}, {len(self.rows)} objects"

    def objects(self, claim: int) -> list[RunObject]:
        """Every object under one claim, in the order of the data set."""
        settings = self.settings
        if not 0 <= claim < len(settings.claims):
            raise InvalidFile(f"this run has {len(settings.claims)} claims, and none of number {claim}")
        text = settings.claims[claim]
        made = []
        for row in sorted(self.rows, key=lambda row: row.index):
            if claim >= len(row.claims):
                raise InvalidFile(f"the journal of this run lacks a claim about {row.id}")
            answer = row.claims[claim]
            path = self.folder / CERTIFICATES / certificate_name(settings, row.index, text)
            spec = spec_of(settings.data, settings.split, row.index, row.id)
            kept = path if path.is_file() else None
            made.append(RunObject(row, spec, text, answer.status, answer.samples, kept))
        return made


def open_run(folder: Path) -> OpenedRun:
    """The run in a folder, from its journal."""
    settings, rows = read_journal(folder)
    return OpenedRun(folder, settings, tuple(rows.values()))


def find_runs(root: Path, depth: int = 3) -> list[Path]:
    """The folders under a root that hold a journal, down to a few levels; newest first."""
    found = []
    for level in range(depth + 1):
        found += [path.parent for path in root.glob("*/" * level + NAME) if path.is_file()]
    return sorted(found, key=lambda path: (-path.joinpath(NAME).stat().st_mtime, str(path)))


def reason_of(certificate: Certificate) -> Reason:
    """Why a certificate ended as it did; a certain proof has no votes that could say."""
    if certificate.certain is not None:
        return Reason("Certain proof", None)
    view = CaseView.of(certificate)
    title = TITLES[explain_certificate(view).main.cause]
    gaps = [shortfall(cell) for cell in view.leaves if cell.n]
    if view.attack is not None or not gaps:
        return Reason(title, None)
    return Reason(title, -max(gap for gap in gaps if not math.isnan(gap)))
