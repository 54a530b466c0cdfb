"""Colours that hold for colour-blind readers, in light and dark, and the layout that all figures share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Figure = dict[str, Any]

RIGHT, WRONG, OPEN, UNKNOWN = "#0072B2", "#D55E00", "#E69F00", "#b4bcc8"
"""One meaning for each colour in the whole app, which `app.components.colour_key` says: the true class, or proved;
another class, an attack or a failure; not settled; not known. Told apart under every common colour vision deficiency.
"""

KINDS = ("#CC79A7", "#009E73", "#8A6FC0", "#C8B100", "#7A5230", "#4B8F8C")
"""Things that need only be told apart: parts, rival classes, methods. None of these colours means anything else."""

GREY = "#8C8C8C"

SEQUENTIAL = "Cividis"
"""Perceptually even, and the same to readers with and without colour vision deficiency."""

DIVERGING = [
    [0.0, "#8c3f04"],
    [0.5, "#fdc38d"],
    [0.5, "#c3dcf0"],
    [1.0, "#08478a"],
]
"""Orange falls short, blue is beyond; the step between them is the threshold, however narrow the margin."""

STATES = {
    "waiting": UNKNOWN,
    "refining": "#8d99ab",
    "testing": OPEN,
    "failed": WRONG,
    "passed": RIGHT,
}
"""What is known of a cell that stands."""


@dataclass(frozen=True)
class Theme:
    """The few colours in which the light and the dark theme differ."""

    text: str
    muted: str
    grid: str
    ghost: str
    paper: str
    accent: str
    agree: str
    differ: str
    open: str
    on_primary: str
    """Text on a button or a tag in the theme's main colour."""


LIGHT = Theme(
    "#1b2433",
    "#5c6779",
    "#e3e8ef",
    "#9aa5b5",
    "#ffffff",
    "#2f5fb3",
    "#0072B2",
    "#B84C00",
    OPEN,
    "#ffffff",
)
DARK = Theme(
    "#e6eaf1",
    "#9aa6b8",
    "#2c3542",
    "#5d6a7d",
    "#12161d",
    "#7fa8f0",
    "#56B4E9",
    "#F2903D",
    OPEN,
    "#12161d",
)


def theme_of(kind: str | None) -> Theme:
    """The theme of a name that Streamlit gives; anything unknown is light."""
    return DARK if kind == "dark" else LIGHT


def base_layout(theme: Theme, **more: Any) -> Figure:
    """Transparent paper, the app's font, small margins."""
    layout: Figure = {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "Source Sans, sans-serif", "size": 13, "color": theme.text},
        "margin": {"l": 52, "r": 12, "t": 10, "b": 42},
        "showlegend": False,
        "uirevision": "keep",
        "hoverlabel": {
            "font": {"family": "Source Sans, sans-serif", "size": 13, "color": theme.text},
            "bgcolor": theme.paper,
            "bordercolor": theme.muted,
        },
    }
    layout.update(more)
    return layout


def axis(theme: Theme, title: str = "", **more: Any) -> Figure:
    """A quiet axis: thin grid, no zero line."""
    settings: Figure = {
        "title": {"text": title, "font": {"color": theme.muted, "size": 13}, "standoff": 8},
        "gridcolor": theme.grid,
        "linecolor": theme.grid,
        "tickfont": {"color": theme.muted, "size": 12},
        "zeroline": False,
        "automargin": True,
    }
    settings.update(more)
    return settings


def colour_bar(theme: Theme, title: str, **more: Any) -> Figure:
    """A slim colour bar."""
    settings: Figure = {
        "title": {"text": title, "side": "right", "font": {"color": theme.muted, "size": 12}},
        "tickfont": {"color": theme.muted, "size": 11},
        "thickness": 10,
        "outlinewidth": 0,
        "len": 0.8,
        "y": 0.44,
    }
    settings.update(more)
    return settings
