"""A Plotly chart that keeps its place, its camera and its clicks through every update."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent
_HTML = """
<div class="tpc-plot"><div class="tpc-canvas"></div><div class="tpc-actions"></div><div class="tpc-note"></div></div>
"""

Action = tuple[str, str, str]
"""id, label and tooltip; "png", "svg" and "home" act in the browser, any other is sent to Python."""

HOME: Action = ("home", "⌂", "Back to the first view")
PNG: Action = ("png", "PNG", "Save this figure as PNG")
SVG: Action = ("svg", "SVG", "Save this figure as SVG")


@dataclass(frozen=True)
class MapPosing:
    """How a place of a plot poses a stage: z = origin + x * vectors["x"] + y * vectors["y"] (+ z * vectors["z"]).

    Moving over the plot poses the object at once, in the browser, and a click keeps that pose. What the sliders of the
    same stage do moves a cursor in the plot.
    """

    stage: str
    transform: str
    vectors: Mapping[str, Sequence[float]]
    origin: Sequence[float] | None = None

    def linked(self) -> dict[str, Any]:
        """The link as the browser reads it."""
        return {
            "stage": self.stage,
            "transform": self.transform,
            "vectors": {letter: list(vector) for letter, vector in self.vectors.items()},
            "origin": None if self.origin is None else list(self.origin),
        }


_mount = st.components.v2.component(
    "tpc_plot",
    html=_HTML,
    css=(_HERE / "plot.css").read_text(),
    js=(_HERE / "plot.js").read_text(),
    isolate_styles=False,
)


def plot(
    figure: dict[str, Any],
    *,
    key: str,
    height: int | str,
    stamp: int | str = 0,
    camera_of: str = "",
    actions: Sequence[Action] = (),
    filename: str = "tpc-explorer",
    clicks: bool = False,
    zoom: bool = False,
    poses: MapPosing | None = None,
    on_click: Callable[[], None] = lambda: None,
    on_action: Callable[[], None] = lambda: None,
) -> Any:
    """Show a figure; the result has `.click` and `.action`, each for one rerun.

    `height` is a number of pixels or a CSS length. `camera_of` names what is looked at: the user's camera is
    kept until it changes. `stamp` is written into the page once the figure is drawn, so that the time from a
    slider to its picture can be measured. While a slider moves, frames bring newer figures under the same key.
    `poses` links the plot to a stage on the same page.
    """
    data = {
        "key": key,
        "figure": figure,
        "height": f"{height}px" if isinstance(height, int) else height,
        "stamp": stamp,
        "camera_of": camera_of,
        "actions": [{"id": name, "label": label, "title": title} for name, label, title in actions],
        "filename": filename,
        "clicks": clicks,
        "zoom": zoom,
        "poses": None if poses is None else poses.linked(),
    }
    return _mount(key=key, data=data, on_click_change=on_click, on_action_change=on_action)
