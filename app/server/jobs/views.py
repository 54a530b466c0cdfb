"""What pages read of a run: the question, its cells and counts, and how far it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from tpc_core import Certificate, Cloud, Model, Question, Smoothing, Transform
from tpc_core.covers import Cell
from tpc_core.errors import TpcError
from tpc_core.proofs import CellStanding, Proof, Standing
from tpc_core.smoothing import Cover, rule_for
from tpc_core.statistics import lower_confidence_bound
from tpc_core.transforms import GeneralRotation, ZYXRotation

Status = Literal["queued", "running", "paused", "done", "cancelled", "failed"]
CellStatus = Literal["waiting", "refining", "testing", "refined", "failed", "passed"]
"""A refining cell is a half of a refined one, and has no votes yet."""
_MOST_READINGS = 60
LIVE: tuple[Status, ...] = ("queued", "running", "paused")


@dataclass(frozen=True)
class Request:
    """One question, with the model and the cloud that it is about."""

    title: str
    question: Question
    model: Model = field(repr=False)
    cloud: Cloud = field(repr=False)
    private: bool = False
    """Whether the object is an upload: its visitor's own business, and in no link and no file."""

    @property
    def transform(self) -> Transform:
        return self.question.family

    @property
    def smoothing(self) -> Smoothing:
        """What is random when the model votes: its own smoothing, or with the sigmas that were asked for."""
        sigma = self.question.options.sigma
        return self.model.smoothing if sigma is None else self.model.smoothing.with_sigmas(sigma)

    @property
    def is_certain(self) -> bool:
        """Whether it is about the plain network, without votes."""
        return self.question.options.proof == "certain"

    @cached_property
    def has_cells(self) -> bool:
        """Whether it is answered cell by cell; False where it cannot be answered at all."""
        try:
            rule = rule_for(self.transform, self.smoothing, self.cloud.points.double().numpy())
        except TpcError:
            return False
        return isinstance(rule, Cover)


@dataclass(frozen=True)
class CellView:
    """What is known of one cell of the cover; its votes are tested at `level`."""

    cell: Cell
    state: CellStatus
    n: int = 0
    n_a: int = 0
    level: float = 0.05

    @staticmethod
    def of(standing: CellStanding, open_as: CellStatus) -> CellView:
        """A cell as the ledger shows it; `open_as` is the word for one whose votes do not pass."""
        assert standing.cell is not None
        words: dict[str, CellStatus] = {"passed": "passed", "refined": "refined", "untested": "waiting"}
        state = words.get(standing.state, open_as)
        return CellView(standing.cell, state, standing.n, standing.n_a, standing.level)

    @property
    def lower_bound(self) -> float | None:
        """What its votes prove p_A to exceed; a cell that passed did so at one of its readings."""
        if not self.n:
            return None
        now = lower_confidence_bound(self.n_a, self.n, self.level)
        return max(now, self.cell.needed) if self.state == "passed" else now

    @property
    def margin(self) -> float | None:
        """How far the bound is beyond what is needed."""
        bound = self.lower_bound
        return None if bound is None else bound - self.cell.needed


@dataclass(frozen=True)
class BoxView:
    """A proved cell of a certain proof: nowhere in it does another class come nearer than the margin."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    margin: float


@dataclass(frozen=True)
class Count:
    """The votes of a single-probability run after one batch, and the best bound so far."""

    n: int
    n_a: int
    lower_bound: float

    @staticmethod
    def readings(place: CellStanding) -> list[Count]:
        """The votes of a place as they came in, at some of its readings."""
        size = len(place.totals)
        step = max(1, size // _MOST_READINGS)
        counts: list[Count] = []
        for index in sorted({*range(0, size, step), size - 1} if size else set()):
            n, n_a = int(place.totals[index]), int(place.hits[index])
            best = counts[-1].lower_bound if counts else 0.0
            counts.append(Count(n, n_a, max(best, lower_confidence_bound(n_a, n, place.level) if n else 0.0)))
        return counts


@dataclass(frozen=True)
class JobView:
    """A picture of a job at one moment, safe to read at leisure."""

    id: str
    request: Request
    status: Status
    message: str
    notice: str
    """One line about something that happened on the way: a worker that died."""
    position: int
    behind: bool
    """Whether it waits for another run of its visitor on the same object."""
    prediction: str | None
    cells: tuple[CellView, ...]
    counts: tuple[Count, ...]
    planned_cells: int
    planned_samples: float
    covered: float
    samples: int
    """All votes of the ledger."""
    earlier: int
    """Those of them that earlier runs had cast."""
    seconds: float
    rate: float
    certificate: Certificate | None
    proof: Proof | None
    """How the question is answered; None before the run has begun."""
    standing: Standing | None
    """What the votes show, at the end of a run without cells."""
    votes: dict[str, int]
    """Votes by class, at the end of a run about one top class."""
    attack: tuple[float, ...] | None
    """The proven attack of a refuted run."""
    revision: int
    boxes: tuple[BoxView, ...] = ()
    """The proved cells of a certain proof."""
    bounded: int = 0
    """Cells of a certain proof that went through the network."""

    @property
    def live(self) -> bool:
        return self.status in LIVE

    @property
    def is_polar(self) -> bool:
        """Whether cells are (polar, azimuth, angle): the paper's grid of rotations."""
        rotates = isinstance(self.request.transform, GeneralRotation | ZYXRotation)
        return rotates and self.request.question.options.protocol == "paper"

    @property
    def leaves(self) -> tuple[CellView, ...]:
        """The cells that stand: refined ones are stood for by their halves."""
        return tuple(view for view in self.cells if view.state != "refined")

    @property
    def eta(self) -> float | None:
        """Seconds to go, if votes come as fast and cells cost as much as planned."""
        if self.rate <= 0 or not 0 < self.planned_samples < float("inf"):
            return None
        if self.covered > 0.02:
            return self.samples * (1 / self.covered - 1) / self.rate
        return max(0.0, self.planned_samples - self.samples) / self.rate
