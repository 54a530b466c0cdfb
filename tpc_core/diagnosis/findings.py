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
    protocol: str = ""
    """A new run: the protocol that it is asked with, where that is another one."""
    statistics: str = ""
    """A new run: its statistics, where they are others."""


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


def count(number: float) -> str:
    """A number of votes as a person says it: to three figures."""
    return f"{float(f'{number:.3g}'):,.0f}" if math.isfinite(number) else "countless"


def probability(value: float) -> str:
    """A probability to four decimals, and to as many more as tell it from one."""
    if not 0.9995 <= value < 1:
        return f"{value:.4f}"
    return f"{value:.{min(12, math.ceil(-math.log10(1 - value)) + 1)}f}"


def percent(value: float) -> str:
    """A probability in per cent, with more digits where it is nearly one."""
    text = f"{100 * value:.2f}" if 0.99 < value < 1 else f"{100 * value:.1f}"
    return f"{text} %"
