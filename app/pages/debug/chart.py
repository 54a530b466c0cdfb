"""The map of the certificate, whichever kind it is; a click chooses a cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from app.components.plot import PNG, SVG, plot
from app.components.style import theme
from app.figures.axes import parameter_axes
from app.figures.cameras import step_back
from app.figures.cloud import certified_parts_figure
from app.figures.debug_gap import gap_figure, points_figure
from app.figures.debug_map import curve, heatmap, volume
from app.figures.region_map.cell_colours import MODES, Mode
from app.figures.single import convergence_figure, group_figure
from app.pages.debug.case_surface import surface_of_case
from app.pages.debug.choice import choose
from app.pages.debug.opened_case import Opened
from app.server.jobs import Count
from tpc_core.proofs import CellStanding, Standing

HEIGHT = 300


def certificate_map(case: Opened, facts: CellStanding | None) -> None:
    """A curve, a heatmap, slices or a volume; the one estimate of other certificates."""
    view = case.view
    if not any(leaf.n for leaf in view.leaves) and not view.is_cover:
        st.caption("No vote was cast.")
    elif view.proof.kind == "points":
        _points(case)
    elif view.proof.kind == "group":
        votes = group_figure(view.votes_of(view.leaves[0]), view.class_name or "", theme())
        votes["layout"]["margin"]["t"] = 38  # the buttons stand above the bars
        _draw(votes, case, "debug_group")
    elif not view.is_cover:
        place = view.leaves[0]
        _draw(convergence_figure(Count.readings(place), place.needed, theme()), case, "debug_single")
    elif view.region is None or not view.leaves:
        st.caption("No vote was cast in any cell.")
    elif view.region.dim == 1:
        figure = curve(view, None if facts is None else facts.path, theme())
        _clicked(case, _draw(figure, case, "debug_map", clicks=True))
    else:
        _several(case, facts)


def _points(case: Opened) -> None:
    points = standing_of(case).points
    assert points is not None
    figure = certified_parts_figure(
        case.view.cloud.points.numpy(),
        np.asarray(points.predictions),
        np.asarray(points.certified),
        dict(enumerate(case.case.certificate.model.classes)),
        theme(),
        mesh=surface_of_case(case),
    )
    step_back(figure)
    _draw(figure, case, "debug_points", zoom=True)


def standing_of(case: Opened) -> Standing:
    """What the votes show of the whole claim."""
    return case.view.proof.standing(case.view.ledger)


def tested(case: Opened) -> bool:
    """Whether any cell has votes: a run that met an attack at once has none."""
    return any(facts.n for facts in case.view.leaves)


def _several(case: Opened, facts: CellStanding | None) -> None:
    view = case.view
    assert view.region is not None
    dim = view.region.dim
    if dim > 3:
        st.caption(f"{dim} parameters cannot be drawn; step through the cells with the buttons.")
        return
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    mode: Mode = (
        left.segmented_control(
            "Colour", list(MODES), format_func=MODES.__getitem__, key="debug_mode", default="state",
            required=True, label_visibility="collapsed",
        )
        or "state"
    )  # fmt: skip
    chosen = None if facts is None else facts.path
    if dim == 2:
        _clicked(case, _draw(heatmap(view, chosen, mode, theme()), case, "debug_map", clicks=True))
        return
    shapes = ["volume"] if view.is_polar else ["slice", "volume"]
    shape = right.segmented_control(
        "View", shapes, key="debug_shape", default=shapes[0], required=True, label_visibility="collapsed"
    )
    if shape == "volume" or view.is_polar:
        result = _draw(volume(view, chosen, mode, theme()), case, "debug_volume", clicks=True, zoom=True)
        _clicked(case, result)
        return
    _slice(case, facts, mode)


def _slice(case: Opened, facts: CellStanding | None, mode: Mode) -> None:
    """A cut across one parameter, at the chosen cell unless the slider says otherwise."""
    view = case.view
    assert view.region is not None
    half, axes = view.region.half_widths, parameter_axes(view.transform)
    names = [axis.title for axis in axes]
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    across = names.index(
        left.selectbox("Slice across", names, index=2, key="debug_across", label_visibility="collapsed")
        or names[2]
    )
    edge = float(axes[across].shown(half[across]))
    key = f"debug_at_{case.key}_{across}"
    follow = st.session_state.pop("debug_follow", None)
    if facts is not None and facts.tested and (key not in st.session_state or follow == facts.path):
        st.session_state[key] = float(np.clip(axes[across].shown(facts.tested[across]), -edge, edge))
    at = right.slider("at", -edge, edge, step=edge / 64, key=key, format="%.3g", label_visibility="collapsed")
    inside = float(np.clip(at / axes[across].factor, -half[across], half[across]))
    first, second = (side for side in range(3) if side != across)
    chosen = None if facts is None else facts.path
    figure = heatmap(view, chosen, mode, theme(), sides=(first, second), at=inside)
    _clicked(case, _draw(figure, case, "debug_map", clicks=True, height=HEIGHT - 44))


def gap(case: Opened, attack: float | None) -> None:
    """Certified, open and broken, on one axis of sizes; the points of a segmentation on one of numbers."""
    points = standing_of(case).points if case.view.proof.kind == "points" else None
    if points is not None:
        figure = points_figure(sum(points.certified), sum(points.jointly), len(points.certified), theme())
    else:
        figure = gap_figure(case.view, case.certified, attack, theme())
    plot(figure, key="debug_gap", height=76, stamp=f"{case.key}|{attack}")


def _draw(
    figure: dict[str, Any],
    case: Opened,
    key: str,
    *,
    clicks: bool = False,
    zoom: bool = False,
    height: int = HEIGHT,
) -> Any:
    return plot(
        figure,
        key=key,
        height=height,
        stamp=case.key,
        camera_of=case.key,
        actions=(PNG, SVG),
        filename=f"debug-{case.case.certificate.cloud.name}",
        clicks=clicks,
        zoom=zoom,
    )


def _clicked(case: Opened, result: Any) -> None:
    click = result.click
    path = None if not click else click.get("custom")
    if isinstance(path, str) and path in case.view.by_path:
        choose(case, path)
        st.rerun()
