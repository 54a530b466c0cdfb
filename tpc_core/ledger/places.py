"""The names of places, which are the names of their noise: streams of different names are independent."""

from __future__ import annotations

from collections.abc import Sequence

SELECT = "select"
"""Chooses y_A, and nothing else."""

WHOLE = "whole"
"""The cloud itself, for certificates that rest on one probability or on the top class."""


def cell_place(family: int, path: str) -> str:
    """A cell of the canonical tree; families of other proportions have noise of their own, by their number."""
    return f"cell|{family}|{path}"


def grid_place(resolution: int, radii: Sequence[float], number: int) -> str:
    """A cell of the paper's grid, whose tested points depend on the region."""
    region = ",".join(f"{r:.17g}" for r in radii)
    return f"grid|{resolution}|{region}|{number}"


def stream_of(place: str) -> str:
    """The name of a place's noise: its own, but for the paper's grids.

    A cell of a grid has the noise of its number, whatever the region and M are: or a radius larger by a hair would buy
    fresh noise, and with it a second chance.
    """
    return f"grid|{place.rpartition('|')[2]}" if place.startswith("grid|") else place


def rival_place(number: int) -> str:
    """Votes that pick the class which the number-th attack might lead to."""
    return f"rival|{number}"


def refutation_place(number: int) -> str:
    """Votes that put the number-th attack to the test."""
    return f"refutation|{number}"


def look_stream(what: str) -> str:
    """Votes that show or explain, and prove nothing; they are no place of a ledger."""
    return f"look|{what}"
