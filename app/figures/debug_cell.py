"""One cell up close: the interval of p_A against what was needed, and the votes by class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.figures.arrays import packed, xyz
from app.figures.cloud import CloudView, cloud_figure
from app.figures.debug_compare import DIFFERENCE
from app.figures.debug_map import cell_colour
from app.figures.theme import KINDS, RIGHT, WRONG, Figure, Theme, axis, base_layout, colour_bar
from tpc_core.explain import CriticalChange, probability
from tpc_core.proofs import CellStanding


def interval_figure(facts: CellStanding, theme: Theme) -> Figure:
    """p_A on one axis: the share of votes, the interval around it, and the threshold."""
    low, high = facts.lower_bound, facts.upper_bound
    # As close as the numbers are to one, so that a thin interval is still seen beside its threshold.
    lowest = min(low, facts.needed, facts.share if facts.n else 1.0)
    left = max(0.0, lowest - 0.4 * (1 - lowest))
    colour = cell_colour(facts)
    bar: Figure = {
        "type": "scatter",
        "mode": "lines",
        "x": [low, high],
        "y": [0, 0],
        "line": {"color": colour, "width": 9},
        "hovertemplate": f"p<sub>A</sub> from {low:.4f} to {high:.4f}<extra></extra>",
    }
    dot: Figure = {
        "type": "scatter",
        "mode": "markers",
        "x": [facts.share] if facts.n else [],
        "y": [0] if facts.n else [],
        "marker": {"size": 12, "color": theme.text, "line": {"color": theme.paper, "width": 2}},
        "hovertemplate": f"{facts.n_a:,} of {facts.n:,} votes<extra></extra>",
    }
    layout = base_layout(theme, hovermode="closest")
    layout["margin"] = {"l": 30, "r": 14, "t": 22, "b": 22}
    layout["xaxis"] = axis(theme, range=[left, 1 + 0.03 * (1 - left)], fixedrange=True, nticks=5)
    layout["yaxis"] = {"visible": False, "range": [-1, 1], "fixedrange": True}
    near_right = facts.needed > (left + 1.0) / 2
    layout["shapes"] = [
        {
            "type": "line",
            "x0": facts.needed,
            "x1": facts.needed,
            "y0": -1,
            "y1": 1,
            "line": {"color": theme.text, "width": 2, "dash": "dot"},
        }
    ]
    layout["annotations"] = [
        {
            "x": facts.needed,
            "y": 1.0,
            "yanchor": "bottom",
            "xanchor": "right" if near_right else "left",
            "text": f"needed {probability(facts.needed)}",
            "showarrow": False,
            "font": {"size": 12, "color": theme.muted},
        },
        {
            "xref": "paper",
            "x": -0.02,
            "y": 0,
            "xanchor": "right",
            "text": "p<sub>A</sub>",
            "showarrow": False,
            "font": {"size": 13, "color": theme.muted},
        },
    ]
    return {"data": [bar, dot], "layout": layout}


def votes_figure(votes: dict[str, int], target: str, theme: Theme, shown: int = 5) -> Figure:
    """The histogram of a cell's votes by class; the class that was claimed in blue."""
    ranked = sorted(votes.items(), key=lambda item: -item[1])[:shown]
    if target not in dict(ranked):
        ranked = [*ranked[: shown - 1], (target, votes.get(target, 0))]
    total = max(1, sum(votes.values()))
    trace: Figure = {
        "type": "bar",
        "orientation": "h",
        "y": [name.replace("_", " ") for name, _ in ranked],
        "x": [100 * count / total for _, count in ranked],
        "text": [f"{count:,}" for _, count in ranked],
        "textposition": "outside",
        "textfont": {"size": 12, "color": theme.text},
        "cliponaxis": False,
        "hovertemplate": "%{y}: %{text} votes<extra></extra>",
        "marker": {"color": [RIGHT if name == target else WRONG for name, _ in ranked]},
    }
    layout = base_layout(theme, bargap=0.25)
    layout["margin"] = {"l": 8, "r": 44, "t": 4, "b": 26}
    layout["xaxis"] = axis(
        theme, range=[0, 100], fixedrange=True, tickvals=[0, 50, 100], ticktext=["0", "50", "100 % of votes"]
    )
    layout["yaxis"] = axis(
        theme, autorange="reversed", fixedrange=True, tickfont={"size": 13, "color": theme.text}
    )
    return {"data": [trace], "layout": layout}


def critical_figure(view: CloudView, change: CriticalChange, theme: Theme, *, size: float = 5.0) -> Figure:
    """The cloud at the second place: critical points kept (coloured by what they gained), lost and new."""
    figure = cloud_figure(view, theme, ghost=True, size=size)
    figure["data"] = [trace for trace in figure["data"] if trace.get("name") in ("original", "surface")]
    reach = max(1.0, float(np.abs(change.second - change.first).max(initial=0.0)))
    shift: Figure = {
        "color": packed((change.second - change.first)[change.kept]),
        "colorscale": DIFFERENCE,
        "cmin": -reach,
        "cmax": reach,
        "showscale": True,
        "colorbar": colour_bar(theme, "features more or fewer than before", x=0.99, len=0.7),
    }
    groups: tuple[tuple[str, NDArray[np.bool_], Figure], ...] = (
        ("kept", change.kept, {**shift, "size": size, "line": {"color": theme.muted, "width": 1}}),
        ("lost", change.lost, {"size": size, "color": KINDS[0], "symbol": "x"}),
        ("new", change.gained, {"size": size, "color": KINDS[1], "symbol": "diamond"}),
        (
            "other points",
            ~(change.kept | change.lost | change.gained),
            {"size": 0.6 * size, "color": theme.ghost, "opacity": 0.5},
        ),
    )
    for name, mask, marker in groups:
        figure["data"].append(
            {
                "type": "scatter3d",
                "mode": "markers",
                "scene": "scene",
                "name": f"{name} ({int(np.sum(mask))})",
                **xyz(view.moved[mask]),
                "customdata": np.stack([change.first[mask], change.second[mask]], axis=1).tolist(),
                "hovertemplate": f"{name}: decides %{{customdata[0]}} features before, %{{customdata[1]}} here"
                "<extra></extra>",
                "marker": marker,
            }
        )
    figure["layout"]["showlegend"] = True
    return figure
