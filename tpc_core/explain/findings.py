"""What an explanation says: a cause with its evidence, and remedies with what they cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tpc_core.certify import Focus

Cause = Literal[
    "passed",
    "another-class",
    "wide-interval",
    "too-coarse",
    "unsure",
    "sigma-too-small",
    "untested",
    "budget",
    "wrong-from-the-start",
    "too-many-cells",
    "smaller-region",
]
TITLES: dict[Cause, str] = {
    "passed": "This cell passed",
    "another-class": "Another class wins here",
    "wide-interval": "Too few votes",
    "too-coarse": "The cell is too large",
    "unsure": "The model is unsure here",
    "sigma-too-small": "Sigma is too small for this radius",
    "untested": "No vote was cast here",
    "budget": "The run ended early",
    "wrong-from-the-start": "The model is wrong about this object",
    "too-many-cells": "Too many cells",
    "smaller-region": "A smaller radius is certified already",
}

Action = Literal[
    "go-on",
    "more-votes",
    "refine",
    "attack",
    "sweep",
    "other-model",
    "smaller-radius",
    "claim-less",
    "new-run",
    "retrain",
]
CASTS_VOTES: tuple[Action, ...] = ("go-on", "more-votes", "refine")
"""What lengthens the ledger of the certificate itself: `continue_run` with the remedy's focus."""


@dataclass(frozen=True)
class Remedy:
    """Something that can be done, what it is expected to cost, and whether the guarantee survives it."""

    action: Action
    sentence: str
    votes: float = 0.0
    """Votes that it is expected to take; infinite where no number is known."""
    chance: float | None = None
    """How likely it is to settle the matter, from the votes at hand."""
    cells: tuple[str, ...] = ()
    """The cells that it is about; all that are open where none is named."""
    until: int | None = None
    """More votes: how many each of these places is to have."""
    note: str = ""
    """Why it is allowed, or what to expect of it."""
    protocol: str = ""
    """A new run: the protocol that it is asked with, where that is another one."""
    resolution: int | None = None
    """A new run by the paper's protocol: the M of its grid."""
    part: float = 1.0
    """A smaller radius: the part of the present one that the search for the largest does not pass."""

    @property
    def focus(self) -> Focus | None:
        """Where a continued run votes: None for everything that is open."""
        if not self.cells and self.until is None:
            return None
        return Focus(self.cells, until=self.until, refine=self.action == "refine")


@dataclass(frozen=True)
class Finding:
    """One cause, in plain words, with the numbers that show it."""

    cause: Cause
    sentence: str
    evidence: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    cells: tuple[str, ...] = ()
    heading: str = ""
    """What is said of many cells together; the title of the cause where it is empty."""

    @property
    def title(self) -> str:
        return self.heading or TITLES[self.cause]
