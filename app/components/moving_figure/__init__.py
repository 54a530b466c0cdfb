"""A figure that moves in the browser: frames of lines, dots and areas with a slider and a Play button."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import streamlit as st

_HERE = Path(__file__).parent

_mount = st.components.v2.component(
    "tpc_moving_figure",
    html='<div class="tpc-moving"></div>',
    css=(_HERE / "moving_figure.css").read_text(),
    js=(_HERE / "moving_figure.js").read_text(),
    isolate_styles=False,
)


@dataclass(frozen=True)
class Line:
    """Points joined by a line, or the border of an area."""

    points: list[tuple[float, float]]
    kind: str
    """Its look: right, wrong, open, plain or faint."""
    area: bool = False
    dashed: bool = False


@dataclass(frozen=True)
class Frame:
    """One position of the slider, and the sentence that belongs to it."""

    words: str
    lines: list[Line]
    dots: list[tuple[float, float]] = field(default_factory=list)


@dataclass(frozen=True)
class Moving:
    """A whole figure."""

    name: str
    slider: str
    x: tuple[float, float]
    y: tuple[float, float]
    x_title: str
    y_title: str
    frames: Sequence[Frame]
    marks: list[tuple[float, str]] = field(default_factory=list)
    """Heights with words beside them."""
    square: bool = False


def moving_figure(figure: Moving, *, key: str) -> None:
    """Show it; all of its frames are in the browser, and nothing is asked of the server while it moves."""
    _mount(key=key, data=asdict(figure))
