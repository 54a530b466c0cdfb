"""What would it take: the certified radius against votes and against sigma, with what the votes leave open."""

from __future__ import annotations

import math
from collections.abc import Sequence

from app.figures.debug_gap import size_axis
from app.figures.theme import KINDS, RIGHT, Figure, Theme, axis, base_layout
from tpc_core.case_view import CaseView
from tpc_core.forecast import RadiusForecast, SigmaLook

Band = tuple[float, float, float]


def votes_curve(view: CaseView, forecasts: Sequence[RadiusForecast], theme: Theme) -> Figure:
    """Radius against votes; the run so far as a vertical line."""
    figure = _curve(
        view,
        [p.votes for p in forecasts],
        [p.radius for p in forecasts],
        "votes in all",
        RIGHT,
        theme,
    )
    figure["layout"]["xaxis"] |= {"type": "log", "tickformat": "~s", "dtick": 1}
    cast = max(view.certificate.samples, 1)
    figure["layout"]["shapes"].append(
        {
            "type": "line",
            "x0": cast,
            "x1": cast,
            "yref": "paper",
            "y0": 0,
            "y1": 1,
            "line": {"color": theme.muted, "width": 1.5, "dash": "dash"},
        }
    )
    figure["layout"]["annotations"].append(
        {
            "x": math.log10(cast),
            "yref": "paper",
            "y": 0.04,
            "xanchor": "left",
            "yanchor": "bottom",
            "text": "cast so far",
            "textangle": -90,
            "showarrow": False,
            "font": {"size": 12, "color": theme.muted},
        }
    )
    return figure


def sigma_curve(view: CaseView, looks: Sequence[SigmaLook], theme: Theme) -> Figure:
    """Radius against sigma; the present sigma as a vertical line."""
    ordered = sorted(looks, key=lambda look: look.factor)
    figure = _curve(
        view,
        [look.sigma[0] for look in ordered],
        [look.radius for look in ordered],
        "sigma" if len(ordered[0].sigma) == 1 else "sigma of the first parameter",
        KINDS[0],
        theme,
    )
    figure["data"][-1]["text"] = [_words(look) for look in ordered]
    figure["data"][-1]["hovertemplate"] = "%{text}<extra></extra>"
    now = next((look.sigma[0] for look in ordered if look.factor == 1.0), None)
    if now is not None:
        line = {"color": theme.muted, "width": 1.5, "dash": "dash"}
        figure["layout"]["shapes"].append(
            {"type": "line", "x0": now, "x1": now, "yref": "paper", "y0": 0, "y1": 1, "line": line}
        )
        figure["layout"]["annotations"].append(
            {
                "x": now,
                "yref": "paper",
                "y": 0.04,
                "xanchor": "left",
                "text": " now",
                "showarrow": False,
                "font": {"size": 12, "color": theme.muted},
            }
        )
    return figure


def _words(look: SigmaLook) -> str:
    votes = f"{look.votes:,.0f} votes" if math.isfinite(look.votes) else "more votes would not help"
    return (
        f"{look.at_identity:.0%} of votes without an attack<br>{look.weakest:.0%} at the weakest place<br>"
        f"whole region: {votes}"
    )


def _curve(
    view: CaseView, x: Sequence[float], bands: Sequence[Band], title: str, colour: str, theme: Theme
) -> Figure:
    name, factor = size_axis(view)
    low, middle, high = ([band[i] * factor for band in bands] for i in range(3))
    edge: Figure = {
        "type": "scatter",
        "mode": "lines",
        "x": list(x),
        "hoverinfo": "skip",
        "line": {"width": 0},
    }
    traces = [
        {**edge, "y": low},
        {**edge, "y": high, "fill": "tonexty", "fillcolor": _pale(colour)},
        {
            "type": "scatter",
            "mode": "lines+markers",
            "x": list(x),
            "y": middle,
            "line": {"color": colour, "width": 3},
            "marker": {"size": 6},
            "customdata": [[lo, hi] for lo, hi in zip(low, high, strict=True)],
            "hovertemplate": "%{y:.4g} (%{customdata[0]:.4g} to %{customdata[1]:.4g})<extra></extra>",
        },
    ]
    layout = base_layout(theme, hovermode="closest")
    layout["margin"] = {"l": 56, "r": 16, "t": 14, "b": 44}
    layout["xaxis"] = axis(theme, title)
    top = max([*high, factor]) * 1.06
    layout["yaxis"] = axis(theme, f"certified {name}", range=[-0.02 * top, top])
    layout["shapes"] = [
        {
            "type": "line",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": factor,
            "y1": factor,
            "line": {"color": theme.text, "width": 1.5, "dash": "dot"},
        }
    ]
    layout["annotations"] = [
        {
            "xref": "paper",
            "x": 0.99,
            "y": factor,
            "xanchor": "right",
            "yanchor": "top",
            "text": "asked for",
            "showarrow": False,
            "font": {"size": 12, "color": theme.muted},
        }
    ]
    return {"data": traces, "layout": layout}


def _pale(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.2)"
