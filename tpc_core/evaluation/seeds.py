"""The same recipe trained with other seeds: how far a figure moves when only the training's luck is different."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tpc_core.evaluation.summary import Figures
from tpc_core.models.seeds import recipe_of


@dataclass(frozen=True)
class SeedRow:
    """One claim of one recipe, answered by networks that differ in the seed of their training alone."""

    recipe: str
    claim: str
    points: int
    figures: tuple[Figures, ...]
    """The recipe's own network first."""
    shares: tuple[float, ...]

    @property
    def mean(self) -> float:
        return sum(self.shares) / len(self.shares)

    @property
    def spread(self) -> float:
        """The standard deviation over the seeds, of a sample."""
        squares = sum((share - self.mean) ** 2 for share in self.shares)
        return math.sqrt(squares / (len(self.shares) - 1))


def seed_rows(own: Sequence[Figures], others: Sequence[Figures]) -> Iterator[SeedRow]:
    """A row for every claim that the networks of a recipe were asked in the same way, about the same objects."""
    for first in own:
        recipe = recipe_of(first.settings.model)[0]
        sisters = [
            figures
            for figures in others
            if recipe_of(figures.settings.model)[0] == recipe and _asked_alike(first, figures)
        ]
        if not sisters:
            continue
        group = (first, *sorted(sisters, key=lambda figures: recipe_of(figures.settings.model)[1] or 0))
        for number, claim in enumerate(first.claims):
            shares = tuple(figures.claims[number].certified_accuracy.value for figures in group)
            yield SeedRow(recipe, claim.claim, first.settings.points, group, shares)


def _asked_alike(one: Figures, other: Figures) -> bool:
    """Whether two evaluations are finished and differ in the network alone."""
    ours, theirs = (
        figures.settings.model_dump(exclude={"model", "model_digest", "library"}) for figures in (one, other)
    )
    return ours == theirs and one.finished and other.finished
