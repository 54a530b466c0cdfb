"""What a diagnosis says: a cause with its evidence, and remedies with what they cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

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
    "too-many-dimensions",
    "smaller-region",
]
TITLES: dict[Cause, str] = {
    "passed": "It holds here",
    "another-class": "Another class wins here",
    "wide-interval": "Too few votes",
    "too-coarse": "The cell is too coarse",
    "unsure": "The model is unsure here",
    "sigma-too-small": "Sigma is too small for this radius",
    "untested": "No vote was cast here",
    "budget": "The budget ended",
    "wrong-from-the-start": "Wrong from the start",
    "too-many-dimensions": "Too many dimensions for a cover",
    "smaller-region": "A smaller region is certified",
}

Action = Literal[
    "attack",
    "more-votes",
    "refine",
    "go-on",
    "sweep",
    "other-model",
    "smaller-radius",
    "claim-less",
    "new-run",
]


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
    until: int | None = None
    """More votes: the size of the sample at which the bound is read next."""
    note: str = ""
    """Why it is allowed, or what to expect of it."""


@dataclass(frozen=True)
class Finding:
    """One cause, in plain words, with the numbers that show it."""

    cause: Cause
    sentence: str
    evidence: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    cells: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return TITLES[self.cause]


def count(number: float) -> str:
    """A number of votes as a person says it: to three figures."""
    return f"{float(f'{number:.3g}'):,.0f}" if math.isfinite(number) else "countless"


def percent(value: float) -> str:
    """A probability in per cent, with more digits where it is nearly one."""
    text = f"{100 * value:.2f}" if 0.99 < value < 1 else f"{100 * value:.1f}"
    return f"{text} %"
