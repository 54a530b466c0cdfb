"""What the maps of one, two and three parameters share: the scene that they draw, its colours and its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from app.figures.theme import DARK, KINDS, OPEN, WRONG, Figure, Theme, axis, base_layout, colour_bar
from tpc_core.landscape import Chart, Landscape

Array = NDArray[np.float64]
MapLook = Literal["colour", "print"]
LOOKS: dict[MapLook, str] = {"colour": "Colour", "print": "Grey, for print"}

PieceState = Literal["passed", "open", "failed", "waiting"]

SAMPLED = "sampled p<sub>A</sub>, a picture"
PROVED = "proved"


@dataclass(frozen=True)
class Piece:
    """A cell of a proof: a box [low, high] of z, how it stands, and what hovering over it says."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    state: PieceState
    text: str
    bound: float | None = None
    """What its votes prove p_A to exceed; None before the first vote, and for proofs without votes."""
    needed: float | None = None
    share: float | None = None
    """Of its votes, those for the class."""
    path: str = ""
    """Its name, which a click tells."""
    value: float = float("nan")
    """The number that its own colour shows, where the map has a `Scale`."""

    @property
    def is_short(self) -> bool:
        """Whether it has votes that do not prove what it needs."""
        if self.state == "passed" or self.bound is None or self.needed is None:
            return False
        return self.bound <= self.needed


@dataclass(frozen=True)
class Scale:
    """How a cell's number becomes its colour: the range is fixed, so a colour means the same all through a run."""

    low: float
    high: float | None
    """None: as far as the numbers go."""
    colours: str | list[list[Any]]
    title: str
    ticks: tuple[tuple[float, str], ...] = ()
    of_bounds: bool = False
    """Whether cells that fall short of what they need are to be outlined."""

    def bar(self, theme: Theme) -> Figure:
        more = {}
        if self.ticks:
            more = {"tickvals": [t for t, _ in self.ticks], "ticktext": [name for _, name in self.ticks]}
        return colour_bar(theme, self.title, **more)

    def end(self, values: Sequence[float]) -> float:
        """The upper end of the range."""
        return max([self.low + 1e-9, *values]) if self.high is None else self.high


@dataclass(frozen=True)
class MapScene:
    """All that a map shows, in internal units."""

    chart: Chart
    half: Array
    """How far the map reaches (k,)."""
    region: Array
    """How far the region of the question reaches (k,)."""
    landscape: Landscape | None = None
    pieces: Sequence[Piece] = ()
    certified: float = 0.0
    """The part of the region, from the identity outwards, that is proved."""
    attack: tuple[float, ...] | None = None
    """z of a proven attack."""
    worst: tuple[float, ...] | None = None
    """z of the weakest cell."""
    needed: float = 0.5
    scale: Scale | None = None
    """How the cells are coloured, each by its own number; None where they are outlines over a landscape."""

    @property
    def drawn(self) -> list[Piece]:
        """The cells in the coordinates of the map; none where the map is a slice that cells cannot be drawn in."""
        dim = len(self.chart.axes)
        return [piece for piece in self.pieces if len(piece.low) == dim]

    @property
    def by_votes(self) -> bool:
        return self.landscape is None or self.landscape.by_votes

    @property
    def ordinate(self) -> str:
        """What the colours mean."""
        if self.by_votes:
            return "p<sub>A</sub>"
        return "confidence"


def p_scale(needed: float, theme: Theme, look: MapLook) -> list[list[Any]]:
    """p_A from one half to one: orange below what is needed, blue beyond, and a step between them."""
    middle = float(np.clip((needed - 0.5) / 0.5, 0.0, 0.97))
    if look == "print":
        low, below, above, high = "#3a3a3a", "#8d8d8d", "#cfcfcf", "#ffffff"
    elif theme == DARK:
        low, below, above, high = "#f2903d", "#6b4a30", "#223a4f", "#3f86b8"
    else:
        low, below, above, high = "#c75c0b", "#fbe0c8", "#e3eef8", "#5ba4dc"
    if middle <= 0.02:
        return [[0.0, above], [1.0, high]]
    return [[0.0, low], [middle, below], [middle, above], [1.0, high]]


_RIVALS_PRINT = ("#000000", "#1c1c1c", "#2e2e2e", "#101010", "#242424")


def rival_colours(landscape: Landscape | None, look: MapLook = "colour") -> dict[int, str]:
    """A colour for each class that wins somewhere on the map; none of them is that of right or wrong."""
    if landscape is None:
        return {}
    colours = _RIVALS_PRINT if look == "print" else KINDS
    return {index: colours[place % len(colours)] for place, index in enumerate(landscape.rivals)}


def outline_style(state: PieceState, theme: Theme, look: MapLook) -> Figure:
    """The border of a cell: heavy where it is proved, dashed where it failed, faint where it waits."""
    if look == "print":
        dark = theme.text
        grey: dict[PieceState, Figure] = {
            "passed": {"color": dark, "width": 2.2},
            "open": {"color": dark, "width": 1.2, "dash": "dot"},
            "failed": {"color": dark, "width": 2.2, "dash": "dash"},
            "waiting": {"color": theme.muted, "width": 0.8},
        }
        return grey[state]
    coloured: dict[PieceState, Figure] = {
        "passed": {"color": "#08306b" if theme != DARK else "#d9ecff", "width": 1.8},
        "open": {"color": OPEN, "width": 1.6},
        "failed": {"color": theme.differ, "width": 2.4, "dash": "dash"},
        "waiting": {"color": theme.muted, "width": 0.8},
    }
    return coloured[state]


STATE_WORDS: dict[PieceState, str] = {
    "passed": "cell proved",
    "open": "cell being tested",
    "failed": "cell not proved",
    "waiting": "cell waits",
}


def scale_bar(scene: MapScene, theme: Theme) -> Figure:
    """The colour bar of p_A, with what is needed marked on it."""
    ticks = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    text = [f"{tick:.1f}" for tick in ticks]
    text[0] = "≤ 0.5"
    if scene.needed > 0.5:
        keep = [i for i, tick in enumerate(ticks) if abs(tick - scene.needed) > 0.055]
        ticks = [ticks[i] for i in keep] + [scene.needed]
        text = [text[i] for i in keep] + [f"<b>{scene.needed:.3g}</b>"]
    bar = colour_bar(theme, scene.ordinate, tickvals=ticks, ticktext=text)
    bar["title"]["side"] = "top"
    return bar


def node_texts(landscape: Landscape) -> list[str]:
    """What hovering over each node says: where it is, its counts, its bound and who wins there."""
    axes = landscape.chart.axes
    bound = landscape.bound
    texts = []
    for number, place in enumerate(landscape.nodes.places):
        if not landscape.asked[number]:
            texts.append("")
            continue
        where = ", ".join(f"{a.name} {a.shown(v):.3g}{a.unit}" for a, v in zip(axes, place, strict=True))
        share, n = landscape.share[number], int(landscape.n[number])
        if n:
            what = (
                f"p<sub>A</sub> about {share:.3f}: {int(landscape.n_a[number]):,} of {n:,} votes<br>"
                f"these votes alone: p<sub>A</sub> at least {bound[number]:.3f}"
            )
        else:
            what = f"confidence {share:.3f}"
        texts.append(f"{where}<br>{what}<br>wins: {landscape.name(int(landscape.winner[number]))}")
    return texts


def marker(x: float, y: float, symbol: str, colour: str, words: str, theme: Theme, size: int = 12) -> Figure:
    """One place that is marked, with its words in the legend."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [x],
        "y": [y],
        "name": words,
        "cliponaxis": False,
        "hovertemplate": f"{words}<extra></extra>",
        "marker": {
            "symbol": symbol,
            "size": size,
            "color": colour,
            "line": {"color": theme.paper, "width": 1.5},
        },
    }


ATTACK, WEAKEST = WRONG, OPEN


def plane_layout(theme: Theme, x: Figure, y: Figure, *, with_legend: bool = True) -> Figure:
    """The frame of a map that is no space: its axes, given by title and range, and room for the legend above it."""
    layout = base_layout(theme, showlegend=with_legend, hovermode="closest", bargap=0)
    layout["margin"] = {"l": 56, "r": 12, "t": 34 if with_legend else 38, "b": 44}
    layout["legend"] = legend(theme)
    layout["xaxis"], layout["yaxis"] = axis(theme, **x), axis(theme, **y)
    return layout


def legend(theme: Theme) -> Figure:
    """Above the plot, as wide as the figure, in one or two lines."""
    return {
        "orientation": "h",
        "xref": "container",
        "x": 0.01,
        "yref": "container",
        "y": 0.995,
        "yanchor": "top",
        "font": {"size": 12, "color": theme.text},
        "itemclick": False,
        "itemdoubleclick": False,
    }


def legend_box(name: str, colour: str, theme: Theme) -> Figure:
    """A square of a colour in the legend, and nothing on the map."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [None],
        "y": [None],
        "name": name,
        "hoverinfo": "skip",
        "marker": {
            "symbol": "square",
            "size": 11,
            "color": colour,
            "line": {"color": theme.muted, "width": 0.5},
        },
    }
