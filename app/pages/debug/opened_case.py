"""A case opened: its certificate verified and taken apart once, and kept for the visitor."""

from __future__ import annotations

from dataclasses import dataclass

from app.pages.debug.cases import Case
from app.pages.debug.tasks import Task, TaskView, desk
from tpc_core.case_view import CaseView
from tpc_core.explain import Explanation, explain_certificate
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
    task = desk().get(visitor, key)
    if task is None:

        def work(task: Task) -> Opened:
            view = CaseView.of(case.certificate)
            return Opened(case, view, explain_certificate(view))

        task = desk().start(visitor, key, "Opening the certificate", work, votes=False)
    return task.settle(PATIENCE)


def promises(visitor: str, case: Opened) -> TaskView:
    """The radius against votes, computed once."""
    key = f"{case.key}|promises"
    task = desk().get(visitor, key)
    if task is None:
        task = desk().start(visitor, key, "Forecasting", lambda task: radius_by_votes(case.view), votes=False)
    return task.settle(PATIENCE)
