"""The Results page: one line for each row of a table, with our interval beside the published figures."""

from __future__ import annotations

from collections.abc import Sequence

from app.figures.theme import GREY, KINDS, Figure, Theme, axis, base_layout
from tpc_core.evaluation import Standing, spoken_radius

ROW = 27
"""Pixels for each row."""

PAPER_COLOUR, DEEPG3D_COLOUR, CERTAIN_COLOUR = KINDS[2], GREY, KINDS[0]


def row_name(standing: Standing, *, points: bool) -> str:
    """The question of a row in a few words."""
    size = f", {standing.row.points} points" if points else ""
    return f"{standing.claim.transform.name} {spoken_radius(standing.claim)}{size}"


def standing_figure(rows: Sequence[Standing], theme: Theme) -> Figure:
    """Our figures with their 95 % intervals, blue above and orange below the paper's; rows as in the paper."""
    points = len({standing.row.points for standing in rows}) > 1
    names = [row_name(standing, points=points) for standing in rows]
    places = list(range(len(rows)))
    traces: list[Figure] = []
    for title, values, colour, symbol in (
        ("paper", [s.row.tpc for s in rows], PAPER_COLOUR, "diamond"),
        ("DeepG3D", [s.row.deepg3d for s in rows], DEEPG3D_COLOUR, "triangle-up"),
        ("ours, exact proof", [s.certain and s.certain.share.value for s in rows], CERTAIN_COLOUR, "square"),
    ):
        known = [(value, place) for value, place in zip(values, places, strict=True) if value is not None]
        traces.append(
            {
                "type": "scatter", "mode": "markers", "name": title, "x": [v for v, _ in known],
                "y": [p for _, p in known], "marker": {"size": 11, "color": colour, "symbol": symbol},
                "hovertemplate": "%{x:.1f} %<extra>" + title + "</extra>",
            }
        )  # fmt: skip
    for below, title, colour in ((False, "ours", theme.agree), (True, "ours, below the paper", theme.differ)):
        mine = [
            (place, s.share)
            for place, s in zip(places, rows, strict=True)
            if s.share is not None and (s.verdict == "below") == below
        ]
        traces.append(
            {
                "type": "scatter", "mode": "markers", "name": title, "showlegend": bool(mine),
                "x": [share.value for _, share in mine], "y": [place for place, _ in mine],
                "error_x": {
                    "type": "data", "symmetric": False, "thickness": 2, "width": 4, "color": colour,
                    "array": [share.high - share.value for _, share in mine],
                    "arrayminus": [share.value - share.low for _, share in mine],
                },
                "marker": {"size": 10, "color": colour, "line": {"color": theme.paper, "width": 1}},
                "text": [f"{share.low:.1f} to {share.high:.1f}" for _, share in mine],
                "hovertemplate": "%{x:.1f} % (%{text})<extra>" + title + "</extra>",
            }
        )  # fmt: skip
    layout = base_layout(theme, showlegend=True, hovermode="closest")
    # The legend stands beside the button above the plot, not under it.
    layout["margin"] = {"l": 10, "r": 16, "t": 58, "b": 40}
    layout["legend"] = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "font": {"size": 13}}
    layout["xaxis"] = axis(theme, "percent of objects", range=[0, 101], fixedrange=True)
    layout["yaxis"] = axis(
        theme, range=[len(rows) - 0.4, -0.6], tickvals=places, ticktext=names, fixedrange=True,
        tickfont={"size": 12, "color": theme.text},
    )  # fmt: skip
    return {"data": traces, "layout": layout}
