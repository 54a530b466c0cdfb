"""The cells of a proof in colours of their own: what a colour says of a cell, and what hovering over it says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from app.figures.region_map.layers import Piece, PieceState, Scale
from app.figures.theme import DIVERGING, SEQUENTIAL, STATES
from app.server.jobs import CellView
from tpc_core.landscape import ChartAxis

Mode = Literal["bound", "margin", "samples", "state"]
MODES: dict[Mode, str] = {"state": "State", "margin": "Margin", "bound": "Bound", "samples": "Votes"}

_WORDS = {
    "waiting": "no votes",
    "refining": "in two halves",
    "testing": "open",
    "failed": "failed",
    "passed": "passed",
}
"""The states of a cell, in the order of their colours."""

_STATES: dict[str, PieceState] = {
    "waiting": "waiting",
    "refining": "waiting",
    "testing": "open",
    "failed": "failed",
    "passed": "passed",
}


def scale_of(mode: Mode) -> Scale:
    """The fixed colour scale of a mode."""
    if mode == "margin":
        return Scale(-0.1, 0.1, DIVERGING, "bound minus needed", of_bounds=True)
    if mode == "samples":
        ticks = tuple((float(np.log10(n)), f"{n:,}") for n in (32, 128, 512, 2048, 8192))
        return Scale(np.log10(32), np.log10(8192), SEQUENTIAL, "votes", ticks)
    if mode == "state":
        ticks = tuple((float(i), name) for i, name in enumerate(_WORDS.values()))
        return Scale(-0.5, len(_WORDS) - 0.5, _steps([STATES[name] for name in _WORDS]), "", ticks)
    return Scale(0.5, 1.0, SEQUENTIAL, "p<sub>A</sub> at least", of_bounds=True)


def _steps(colours: Sequence[str]) -> list[list[Any]]:
    edges = np.linspace(0, 1, len(colours) + 1)
    pairs = zip(edges[:-1], edges[1:], colours, strict=True)
    return [[float(edge), colour] for low, high, colour in pairs for edge in (low, high)]


def value_of(view: CellView, mode: Mode) -> float:
    """The number that a mode shows of a cell; NaN where it is not known yet."""
    if mode == "state":
        return float(list(_WORDS).index(view.state))
    if mode == "samples":
        return float(np.log10(view.n)) if view.n else float("nan")
    value = view.lower_bound if mode == "bound" else view.margin
    return float("nan") if value is None else value


def cell_text(view: CellView, axes: Sequence[ChartAxis]) -> str:
    """All that hovering over a cell says."""
    spans = [
        f"{a.name} {a.shown(low):.3g} to {a.shown(high):.3g}{a.unit}"
        for a, low, high in zip(axes, view.cell.low, view.cell.high, strict=True)
    ]
    votes = f"n<sub>A</sub> / n = {view.n_a:,} / {view.n:,}" if view.n else "no votes yet"
    bound = "" if view.lower_bound is None else f"p<sub>A</sub> at least {view.lower_bound:.4f}, "
    return "<br>".join([*spans, votes, f"{bound}needed {view.cell.needed:.4f}", f"<b>{view.state}</b>"])


def piece_of(view: CellView, axes: Sequence[ChartAxis], mode: Mode | None = None) -> Piece:
    """A cell as the maps draw it, with the number that a mode shows of it."""
    return Piece(
        view.cell.low,
        view.cell.high,
        _STATES[view.state],
        cell_text(view, axes),
        view.lower_bound,
        view.cell.needed,
        view.n_a / view.n if view.n else None,
        path=view.cell.path,
        value=float("nan") if mode is None else value_of(view, mode),
    )
