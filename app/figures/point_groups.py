"""Points of a cloud in named groups, each with a colour of its own: how the stage shows what is proved of parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.figures.theme import KINDS, Theme

PALETTE = 8
"""Colours that the stage can hold."""


@dataclass(frozen=True)
class PointGroups:
    """The group (N,) of each point; the name and the colour of each group."""

    of_point: NDArray[np.integer]
    names: tuple[str, ...]
    colours: tuple[str, ...]


def part_colour(number: int) -> str:
    """The colour of a part, by its place among the parts of the object."""
    return KINDS[number % len(KINDS)]


def part_groups(parts: NDArray[np.integer], names: Mapping[int, str]) -> PointGroups:
    """Points by their part."""
    known, numbers = np.unique(parts, return_inverse=True)
    named = tuple(names.get(int(part), f"part {int(part)}") for part in known)
    return PointGroups(numbers, named, tuple(part_colour(number) for number in range(len(known))))


def certified_groups(
    predictions: NDArray[np.integer], certified: NDArray[np.bool_], names: Mapping[int, str], theme: Theme
) -> PointGroups:
    """Certified points by their part, and all others in one grey group."""
    parts = part_groups(predictions, names)
    others = min(len(parts.names), PALETTE - 1)
    return PointGroups(
        np.where(certified, np.minimum(parts.of_point, PALETTE - 2), others),
        (*parts.names[:others], "not certified"),
        (*parts.colours[:others], theme.ghost),
    )
