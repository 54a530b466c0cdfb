"""The names of the noise streams. Streams of different names are independent, whatever they are used for."""

from __future__ import annotations

from collections.abc import Iterable

SELECT = "select"
"""Chooses y_A, and nothing else."""

SINGLE = "single"
"""The cell key of certificates that rest on one probability."""


def cell(key: str) -> str:
    """The votes of one cell; the root of a tree has an empty path."""
    return f"cell|{key or 'root'}"


def shell(number: int, path: str) -> str:
    """The key of a cell in the tree that a region grew by for the number-th time: noise of its own."""
    return f"shell {number}|{path or 'root'}" if number else path


def probe(index: int) -> str:
    """A handful of votes at an extreme of the region; they order the search and prove nothing."""
    return f"probe|{index}"


def rival(z: Iterable[float]) -> str:
    """Votes that pick the class which an attack might lead to."""
    return f"rival|{_place(z)}"


def attack(z: Iterable[float]) -> str:
    """Votes that prove an attack."""
    return f"attack|{_place(z)}"


def diagnosis(what: str) -> str:
    """Votes that explain and prove nothing; no certificate rests on them."""
    return f"diagnosis|{what}"


def _place(z: Iterable[float]) -> str:
    return ",".join(f"{float(v):.17g}" for v in z)
