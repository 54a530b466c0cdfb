"""Small pictures and boxes for notebooks, as HTML text: whatever comes from a file is escaped here, once for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIDE = 220
_NEAR, _FAR = (86, 156, 240), (28, 52, 120)
_TURN, _TILT = np.radians(35.0), np.radians(18.0)
_COLOURS = {"certified": "#0072B2", "refuted": "#D55E00", "undecided": "#E69F00"}
_STATES = {"passed": "#0072B2", "open": "#E69F00", "untested": "#c9ced8"}
_BOX = "border-left:6px solid {colour};border-radius:8px;padding:.5rem .9rem;background:rgba(127,127,127,.10)"


def seen_from_the_front(
    points: NDArray[np.floating],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Across, up and depth of points (N, 3), z-up, looked at a little from above."""
    x, y, z = np.asarray(points, dtype=np.float64).T
    across = np.cos(_TURN) * x + np.sin(_TURN) * y
    depth = -np.sin(_TURN) * x + np.cos(_TURN) * y
    return across, np.cos(_TILT) * z + np.sin(_TILT) * depth, np.cos(_TILT) * depth - np.sin(_TILT) * z


def cloud_svg(points: NDArray[np.floating]) -> str:
    """A cloud in the unit ball as an SVG, the near points lighter and over the others."""
    across, up, depth = seen_from_the_front(points)
    dots = []
    for place in np.argsort(-depth):
        near = float(np.clip((1 - depth[place]) / 2, 0, 1))
        colour = ",".join(str(round(f + (n - f) * near)) for f, n in zip(_FAR, _NEAR, strict=True))
        left, top = (0.5 + 0.47 * across[place]) * SIDE, (0.5 - 0.47 * up[place]) * SIDE
        dots.append(f'<circle cx="{left:.1f}" cy="{top:.1f}" r="2" fill="rgb({colour})"/>')
    return f'<svg width="{SIDE}" height="{SIDE}" role="img">{"".join(dots)}</svg>'


def verdict_box(verdict: str, sentence: str) -> str:
    """The verdict and its sentence."""
    style = _BOX.format(colour=_COLOURS.get(verdict, "#57606a"))
    return f'<div style="{style}"><b>{escape(verdict.upper())}</b> {escape(sentence)}</div>'


def fact_table(facts: Mapping[str, Any]) -> str:
    """Names and values, one row each."""
    rows = "".join(
        f'<tr><td style="opacity:.7;padding-right:1rem">{escape(str(name))}</td><td>{escape(str(value))}</td></tr>'
        for name, value in facts.items()
        if value not in (None, "")
    )
    return f'<table style="font-size:.9em;margin:.4rem 0">{rows}</table>'


def map_svg(
    boxes: Sequence[tuple[tuple[float, ...], tuple[float, ...], str, str]], axes: Sequence[str]
) -> str:
    """Cells (low, high, state, words) of one or two parameters as an SVG; each says its words under the pointer."""
    width, height = 520, 120 if len(axes) == 1 else 360
    lows = [min(box[0][i] for box in boxes) for i in range(len(axes))]
    highs = [max(box[1][i] for box in boxes) for i in range(len(axes))]
    spans = [max(high - low, 1e-12) for low, high in zip(lows, highs, strict=True)]
    shapes = []
    for low, high, state, words in boxes:
        left, right = ((end[0] - lows[0]) / spans[0] * width for end in (low, high))
        top, bottom = 0.0, float(height)
        if len(axes) == 2:
            top, bottom = ((highs[1] - end[1]) / spans[1] * height for end in (high, low))
        fill, title = _STATES.get(state, "#c9ced8"), escape(words)
        shapes.append(
            f'<rect x="{left:.2f}" y="{top:.2f}" width="{right - left:.2f}" height="{bottom - top:.2f}" '
            f'fill="{fill}" stroke="#fff" stroke-width=".6"><title>{title}</title></rect>'
        )
    ends = "".join(
        f'<div style="font-size:.85em;opacity:.8">{escape(name)}: {low:.4g} to {high:.4g}</div>'
        for name, low, high in zip(axes, lows, highs, strict=True)
    )
    legend = " ".join(
        f'<span style="color:{colour}">&#9632;</span> {state}' for state, colour in _STATES.items()
    )
    return (
        f'<svg width="{width}" height="{height}" role="img">{"".join(shapes)}</svg>{ends}'
        f'<div style="font-size:.85em">{legend}</div>'
    )
