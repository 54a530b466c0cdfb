"""The certificate so far: what a run has seen is put away now and then, so that a crash costs seconds, not hours.

What is kept is a genuine certificate of what is known: undecided, with every finished cell. It verifies, and it can be
continued like any other. Runs that rest on one probability or one test take seconds and are not kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tpc_core.certificate.schema import (
    CellRecord,
    CellState,
    Certificate,
    Evidence,
    GridEvidence,
    LedgerEntry,
    Prediction,
    Reading,
    Reason,
    TreeEvidence,
)
from tpc_core.certify import Options, prepare
from tpc_core.certify.assemble import assemble
from tpc_core.certify.cover import build_tree
from tpc_core.certify.events import CellDecided, CellRefined, CellStarted, Event, Predicted, VotesCounted
from tpc_core.certify.ledger import grid_ledger, rank_ledger
from tpc_core.certify.paper import grid_resolution
from tpc_core.certify.run import Outcome, Run
from tpc_core.cloud import Cloud
from tpc_core.covers import Cell, PathLevels
from tpc_core.covers.paper import cell_count
from tpc_core.transforms import RadiusInput, Transform
from tpc_core.votes import BaseClassifier

EVERY_SECONDS = 2.0
SHARE_OF_TIME = 0.05
"""Writing a large certificate takes time; it is written so seldom that it takes no more than this part of the run."""

CUT_OFF = Reason(code="cancelled", message="the run was cut off; continue it to get a verdict")


def kept(
    events: Iterator[Event],
    keep: Callable[[Certificate], None],
    model: BaseClassifier,
    cloud: Cloud,
    transform: str | Transform,
    radius: RadiusInput | None,
    options: Options,
    *,
    resume: Certificate | None = None,
    every: float = EVERY_SECONDS,
) -> Iterator[Event]:
    """The same events; before a new cell, and at most every few seconds, the certificate so far goes to `keep`."""
    run, strategy = prepare(model, cloud, transform, radius, options)
    if strategy.kind != "cover" or (resume is not None and not _same_root(resume, run)):
        yield from events
        return
    so_far = _SoFar(run, model, options)
    due = time.monotonic() + every
    for event in events:
        so_far.take(event)
        yield event
        # A cell that is about to be tested shows that the region is not covered yet: "undecided" is the truth.
        if isinstance(event, CellStarted) and time.monotonic() >= due:
            started = time.monotonic()
            certificate = so_far.certificate()
            if certificate is not None:
                keep(certificate)
            now = time.monotonic()
            due = now + max(every, (now - started) / SHARE_OF_TIME)


def _same_root(earlier: Certificate, run: Run) -> bool:
    """Whether an earlier run covered this very region; one that grew around another is not kept half-way."""
    if isinstance(earlier.evidence, TreeEvidence):
        return tuple(earlier.evidence.root_radius[p.name] for p in run.transform.radii) == run.radii
    return isinstance(earlier.evidence, GridEvidence)


@dataclass
class _SoFar:
    """What the events of a cover have told."""

    run: Run
    model: BaseClassifier
    options: Options
    prediction: Prediction | None = None
    readings: dict[str, list[Reading]] = field(default_factory=dict)
    records: dict[str, CellRecord] = field(default_factory=dict)
    deepest: int = 0

    def take(self, event: Event) -> None:
        if isinstance(event, Predicted):
            self.prediction = event.prediction
        elif isinstance(event, VotesCounted) and event.cell is not None and event.lower_bound is not None:
            self.run.control.samples = event.samples
            self.readings.setdefault(event.cell.path, []).append(Reading(n=event.n, n_a=event.n_a))
            self._record(event.cell, event.lower_bound, "waiting")
        elif isinstance(event, CellDecided):
            self._record(event.cell, event.lower_bound, "passed" if event.passed else "failed")
        elif isinstance(event, CellRefined):
            self._record(event.cell, self.records[event.cell.path].lower_bound, "refined")

    def _record(self, cell: Cell, bound: float, state: CellState) -> None:
        self.deepest = max(self.deepest, cell.rank)
        self.records[cell.path] = CellRecord(
            path=cell.path,
            low=list(cell.low),
            high=list(cell.high),
            reach=cell.reach,
            needed=cell.needed,
            readings=list(self.readings[cell.path]),
            lower_bound=bound,
            state=state,
        )

    def certificate(self) -> Certificate | None:
        """An undecided certificate with all finished cells; it claims nothing."""
        if self.prediction is None:
            return None
        cells = sorted(
            self.records.values(),
            key=lambda record: (len(record.path), record.path),
        )
        evidence, ledger = self._grid(cells) if self.options.protocol == "paper" else self._tree(cells)
        radii = (0.0,) * len(self.run.radii) if self.run.largest else None
        outcome = Outcome("undecided", evidence, ledger, [CUT_OFF], radii)
        return assemble(self.run, self.model, self.options.protocol, self.prediction, outcome)

    def _tree(self, cells: list[CellRecord]) -> tuple[Evidence, list[LedgerEntry]]:
        tree = build_tree(self.run)
        levels = PathLevels.falling(tree.ranks)
        names = [p.name for p in self.run.transform.radii]
        evidence = TreeEvidence(
            start=tree.start,
            path_shares=list(levels.shares),
            root_radius=dict(zip(names, self.run.radii, strict=True)),
            factor=0.0,
            cells=cells,
        )
        return evidence, rank_ledger(levels, self.deepest + 1, self.run.alpha)

    def _grid(self, cells: list[CellRecord]) -> tuple[Evidence, list[LedgerEntry]]:
        resolution = grid_resolution(self.run, self.options.resolution)
        count = cell_count(self.run.transform, self.run.radii, resolution)
        return GridEvidence(resolution=resolution, cells=cells), grid_ledger(count, self.run.alpha)
