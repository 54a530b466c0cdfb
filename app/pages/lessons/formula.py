"""Formulas twice: once with their symbols, once with the values on the page, each pair in one colour."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.figures.theme import LIGHT, Theme

_ROLES = {
    "attack": ("#C44F00", "#F2903D"),
    "sigma": ("#007D5C", "#35C79B"),
    "p": ("#0069A6", "#5BB8EE"),
    "radius": ("#A3327E", "#E58CC4"),
    "count": ("#7A5B00", "#DDB84C"),
}
"""What a symbol stands for -> its colour on light and on dark; the same in formulas, sliders and figures."""


@dataclass(frozen=True)
class Symbol:
    """A letter, the value it has now (both LaTeX), and what it stands for."""

    letter: str
    value: str
    role: str


def colour(role: str, theme: Theme) -> str:
    """The colour of a role in a theme; plain text where the role has none."""
    light, dark = _ROLES.get(role, (theme.text, theme.text))
    return light if theme.paper == LIGHT.paper else dark


def twofold(lines: Sequence[str], symbols: Mapping[str, Symbol], theme: Theme, statement: str = "") -> str:
    """LaTeX of each line with its letters, and under it the same line with their values.

    The statement comes first, with letters only.
    A line names its symbols as @name and marks its first relation with &, as in "@r &= @sigma x".
    """
    pieces = [_fill(statement, symbols, theme, values=False)] if statement else []
    for line in lines:
        pieces += [_fill(line, symbols, theme, values=False), _fill(line, symbols, theme, values=True)]
    return r"\begin{aligned}" + r" \\[0.25em] ".join(pieces) + r"\end{aligned}"


def _fill(line: str, symbols: Mapping[str, Symbol], theme: Theme, *, values: bool) -> str:
    def put(match: re.Match[str]) -> str:
        symbol = symbols[match[1]]
        return rf"\textcolor{{{colour(symbol.role, theme)}}}{{{symbol.value if values else symbol.letter}}}"

    return re.sub(r"@(\w+)", put, line)


def degrees(value: float, digits: int = 0) -> str:
    """An angle as LaTeX."""
    return rf"{value:.{digits}f}^\circ"


def word(text: str) -> str:
    """A word inside a formula."""
    return rf"\text{{{text.replace('_', ' ')}}}"
