"""Finished objects on their way from a worker to the journal: lines that are written as they are, and their sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tpc_core.evaluation.records import ObjectRow
from tpc_core.evaluation.settings import Settings
from tpc_core.evaluation.sums import Sums


@dataclass(frozen=True)
class Rows:
    """Some finished objects: the driver appends the lines, adds the sums, and looks at no object."""

    numbers: tuple[int, ...]
    sizes: tuple[int, ...]
    """The length of each line in bytes."""
    lines: bytes = field(repr=False)
    sums: Sums = field(repr=False)
    certificates: Mapping[int, Mapping[str, str]] = field(default_factory=dict, repr=False)
    """{object: {claim: JSON}}, where they were asked for."""

    @staticmethod
    def of(
        settings: Settings, rows: Sequence[ObjectRow], certificates: Mapping[int, Mapping[str, str]]
    ) -> Rows:
        lines = [row.model_dump_json(exclude_none=True).encode() + b"\n" for row in rows]
        return Rows(
            tuple(row.index for row in rows),
            tuple(len(line) for line in lines),
            b"".join(lines),
            Sums.of(settings, rows),
            certificates,
        )
