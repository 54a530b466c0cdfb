"""The dotted line at what a bound needs."""

from __future__ import annotations

from typing import Literal

from app.figures.theme import Figure, Theme


def threshold(needed: float, words: str, side: Literal["left", "right"], theme: Theme) -> Figure:
    """The parts of a layout that draw the line across the plot, with its words at one side."""
    line = {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": needed,
        "y1": needed,
        "line": {"color": theme.text, "width": 2, "dash": "dot"},
    }
    label = {
        "xref": "paper",
        "x": 0.01 if side == "left" else 1,
        "y": needed,
        "xanchor": side,
        "yanchor": "bottom",
        "showarrow": False,
        "text": words,
        "font": {"color": theme.muted, "size": 12},
    }
    return {"shapes": [line], "annotations": [label]}
