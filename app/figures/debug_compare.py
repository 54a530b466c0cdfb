"""Two runs on one map: where the second is surer than the first, and where it is less so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from app.figures.arrays import packed
from app.figures.axes import parameter_axes
from app.figures.debug_map import cell_colour
from app.figures.theme import KINDS, Figure, Theme, axis, base_layout, colour_bar
from tpc_core.case_view import CaseView
from tpc_core.explain import difference_map, shared_half_widths
from tpc_core.proofs import CellStanding

Measure = Literal["share", "bound", "passed"]
MEASURES: dict[Measure, str] = {
    "share": "Votes for the class",
    "bound": "Lower bound of p_A",
    "passed": "Certified cells",
}
_STEPS = {1: 401, 2: 81}
DIFFERENCE = [[0.0, "#8c3f04"], [0.35, "#f0a868"], [0.5, "#d5d8de"], [0.65, "#7fb2dd"], [1.0, "#08478a"]]
"""Orange is less, blue is more, grey is the same: no step at zero, which is no threshold here."""


def measure(name: Measure) -> Callable[[CellStanding], float]:
    """The number that is compared; NaN where no vote was cast."""
    if name == "passed":
        return lambda facts: float(facts.state == "passed")
    if name == "bound":
        return lambda facts: facts.lower_bound if facts.n else float("nan")
    return lambda facts: facts.share


def difference_figure(
    first: CaseView,
    second: CaseView,
    name: Measure,
    theme: Theme,
    *,
    sides: tuple[int, int] = (0, 1),
    at: float = 0.0,
) -> Figure:
    """1-D: both curves; 2-D or a slice of 3-D: the second minus the first."""
    half = shared_half_widths(first, second)
    if len(half) == 1:
        return _curves(first, second, name, float(half[0]), theme)
    axes = parameter_axes(first.transform)
    sides_at = [np.linspace(-half[side], half[side], _STEPS[2]) for side in sides]
    grid = np.stack([piece.ravel() for piece in np.meshgrid(*sides_at, indexing="xy")], axis=1)
    places = np.full((len(grid), len(half)), at)
    places[:, list(sides)] = grid
    found = difference_map(first, second, places, measure(name))
    shape = (_STEPS[2], _STEPS[2])
    reach = 1.0 if name == "passed" else max(0.05, float(np.nanmax(np.abs(found.difference), initial=0.0)))
    heat: Figure = {
        "type": "heatmap",
        "x": packed(sides_at[0] * axes[sides[0]].factor, "f8"),
        "y": packed(sides_at[1] * axes[sides[1]].factor, "f8"),
        "z": packed(found.difference.reshape(shape), "f8"),
        "zmin": -reach,
        "zmax": reach,
        "colorscale": DIFFERENCE,
        "colorbar": colour_bar(theme, "second minus first"),
        "text": _texts(found.first, found.second, shape),
        "hovertemplate": "%{text}<extra></extra>",
        "hoverongaps": False,
    }
    layout = base_layout(theme, hovermode="closest")
    layout["margin"] = {"l": 56, "r": 12, "t": 10, "b": 44}
    for letter, side in zip("xy", sides, strict=True):
        edge = 1.02 * axes[side].shown(half[side])
        layout[f"{letter}axis"] = axis(theme, axes[side].title, range=[-edge, edge], showgrid=False)
    return {"data": [heat], "layout": layout}


def _texts(first: np.ndarray, second: np.ndarray, shape: tuple[int, int]) -> list[list[str]]:
    """What hovering says; JSON has no NaN, so values that are not there stay unsaid."""
    words = [
        f"first {a:.3f}, second {b:.3f}" if np.isfinite(a) and np.isfinite(b) else ""
        for a, b in zip(first, second, strict=True)
    ]
    return np.array(words, dtype=object).reshape(shape).tolist()


def _curves(first: CaseView, second: CaseView, name: Measure, half: float, theme: Theme) -> Figure:
    (along,) = parameter_axes(first.transform)
    x = np.linspace(-half, half, _STEPS[1])
    found = difference_map(first, second, x[:, None], measure(name))
    shown = x * along.factor
    traces: list[Figure] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": label,
            "x": packed(shown, "f8"),
            "y": packed(values, "f8"),
            "line": {"color": colour, "width": 2.5, "dash": dash},
        }
        for label, values, colour, dash in (
            ("first", found.first, KINDS[1], "dash"),
            ("second", found.second, KINDS[0], "solid"),
        )
    ]
    traces.append(
        {
            "type": "scatter",
            "mode": "lines",
            "name": "second minus first",
            "x": packed(shown, "f8"),
            "y": packed(found.difference, "f8"),
            "yaxis": "y2",
            "fill": "tozeroy",
            "line": {"color": theme.muted, "width": 1.5},
            "fillcolor": "rgba(128,128,128,0.18)",
        }
    )
    layout = base_layout(theme, showlegend=True, hovermode="x unified")
    layout["margin"] = {"l": 56, "r": 16, "t": 30, "b": 44}
    layout["legend"] = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}}
    layout["xaxis"] = axis(theme, along.title, anchor="y2")
    layout["yaxis"] = axis(theme, MEASURES[name].lower(), domain=[0.42, 1.0])
    layout["yaxis2"] = axis(theme, "difference", domain=[0.0, 0.32])
    return {"data": traces, "layout": layout}


def intervals_figure(first: CellStanding, second: CellStanding, theme: Theme) -> Figure:
    """Two runs that rest on one probability: their intervals, each with what it needed."""
    traces: list[Figure] = []
    for row, facts in enumerate((first, second)):
        colour = cell_colour(facts)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": [facts.lower_bound, facts.upper_bound],
                "y": [row, row],
                "line": {"color": colour, "width": 10},
                "hovertemplate": f"{facts.lower_bound:.4f} to {facts.upper_bound:.4f}<extra></extra>",
            }
        )
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [facts.needed],
                "y": [row],
                "marker": {"symbol": "line-ns-open", "size": 26, "line": {"width": 3, "color": theme.text}},
                "hovertemplate": f"needed {facts.needed:.4f}<extra></extra>",
            }
        )
    layout = base_layout(theme, hovermode="closest")
    layout["margin"] = {"l": 70, "r": 16, "t": 8, "b": 42}
    layout["xaxis"] = axis(theme, "p<sub>A</sub>, and what was needed")
    layout["yaxis"] = axis(theme, range=[1.6, -0.6], tickvals=[0, 1], ticktext=["first", "second"])
    return {"data": traces, "layout": layout}
