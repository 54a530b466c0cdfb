"""A case opened: its certificate verified and taken apart once, and kept for the visitor."""

from __future__ import annotations

from dataclasses import dataclass

from app.pages.debug.cases import Case
from app.server.jobs import TaskView
from app.server.visitors import board
from tpc_core.case_view import CaseView
from tpc_core.engines import PROMPT, Call
from tpc_core.explain import Explanation, taken_apart
from tpc_core.forecast import radius_by_votes

PATIENCE = 1.5
"""Seconds that a page waits for quick work before it shows a progress bar instead."""


@dataclass(frozen=True)
class Opened:
    """What the panels read."""

    case: Case
    view: CaseView
    explanation: Explanation

    @property
    def certified(self) -> float:
        """The part of the region that the votes at hand certify."""
        return self.view.certified_part

    @property
    def key(self) -> str:
        """What names of tasks begin with."""
        return self.case.certificate.checksum[:16]


def opened(visitor: str, case: Case) -> TaskView:
    """The case as a task: done at once for most certificates, in the background for very large ones."""
    key = f"{case.certificate.checksum[:16]}|open|{case.id}"
    task = board().task(visitor, key)
    if task is None:
        work = Call(taken_apart, (case.certificate,))
        task = board().start(
            visitor,
            key,
            "Opening the certificate",
            work,
            rank=PROMPT,
            finish=lambda found: None if found is None else Opened(case, *found),
        )
    return task.settle(PATIENCE)


def promises(visitor: str, case: Opened) -> TaskView:
    """The radius against votes, computed once."""
    key = f"{case.key}|promises"
    task = board().task(visitor, key)
    if task is None:
        task = board().start(visitor, key, "Forecasting", Call(radius_by_votes, (case.view,)), rank=PROMPT)
    return task.settle(PATIENCE)
