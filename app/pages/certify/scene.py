"""One linked scene: the object on the left, the map of its transforms on the right.

Moving over the map poses the object in the browser, without the server; its sliders move a cursor in the map.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import streamlit as st

from app.components.plot import PNG, SVG, MapPosing, plot
from app.components.sliders import Band, Posing, sliders
from app.components.style import theme
from app.components.terms import explained
from app.figures.point_groups import PointGroups
from app.figures.region_map import MapLook, MapScene, plane_map, region_map, space_map
from app.figures.theme import Figure
from app.pages.certify.landscapes import LandscapeView
from app.server.jobs import JobView, Request
from app.widgets.object_stage import object_stage
from tpc_core.data import Shape
from tpc_core.landscape import Chart, Landscape, extent
from tpc_core.transforms import CoordinateNoise, Parameter

STAGE = "cloud"
SLIDERS = "scene_sliders"
HEIGHT = "clamp(300px, calc(100vh - 395px), 680px)"
_SWEPT = 14
"""Certified poses that are drawn as a haze."""


Redraw = Callable[[], MapScene]
"""The scene as it stands, for a slice that moves with its slider."""


def show_stage(
    shape: Shape,
    request: Request,
    title: str,
    certified: float,
    redraw: Redraw,
    groups: PointGroups | None = None,
) -> None:
    """The object, with all certified positions of its points as a haze, and the sliders that move it.

    `groups` colour the points by what is proved of each.
    """
    transform = request.transform
    object_stage(
        shape,
        len(request.cloud),
        transform,
        key=STAGE,
        height=HEIGHT,
        title=title,
        epoch=f"{shape.name}|{transform.name}",
        swept=swept_poses(request, certified),
        groups=groups,
    )
    if certified > 0 and not isinstance(transform, CoordinateNoise):
        st.caption("The blue haze: some of the positions for which the class is certified.")
    _sliders(request, certified, redraw)


def swept_poses(request: Request, certified: float) -> Sequence[Sequence[float]]:
    """Parameters z inside of the certified part of the region, from its centre to its border."""
    transform = request.transform
    if certified <= 0 or isinstance(transform, CoordinateNoise):
        return ()
    region = transform.region(request.question.radii).scaled(certified)
    corners = region.extremes()
    if region.dim == 1:
        steps = np.linspace(-1, 1, _SWEPT)[:, None] * region.half_widths
        return [[float(v) for v in z] for z in steps]
    rng = np.random.default_rng(0)
    inside = region.sample(max(_SWEPT - len(corners), 4), rng)
    return [[float(v) for v in z] for z in np.concatenate([corners, inside])[:_SWEPT]]


@st.fragment
def _sliders(request: Request, certified: float, redraw: Redraw) -> None:
    """One slider for each axis of the map; the browser poses the object, and the server moves the slice."""
    if st.session_state.pop("scene_rests", False):
        st.rerun()  # the map takes its slice from where the slider came to rest
    chart = Chart.of(request.transform, len(request.cloud))
    half, region = extent(chart, request.question.radii), chart.half_widths(request.question.radii)
    rows, bands = [], {}
    for axis, wide, edge in zip(chart.axes, half, region, strict=True):
        end = float(f"{axis.shown(float(wide)):.4g}")
        unit: Literal["deg", ""] = "deg" if axis.unit else ""
        rows.append(Parameter(axis.name, unit, -end, end, float(f"{end / 200:.1g}"), end))
        if certified > 0:
            proved = axis.shown(float(edge)) * certified
            bands[axis.name] = [
                Band(-proved, proved, "certified", f"certified up to {proved:.4g}{axis.unit}")
            ]
    moving = st.session_state.pop("scene_moves", False)
    sliders(
        rows,
        _places(chart),
        key=SLIDERS,
        shape=f"{request.transform.name}|{[row.high for row in rows]}",
        epoch=0,
        stamp=int(st.session_state.get("scene_stamp", 0)),
        on_move=_moved,
        poses=Posing(
            request.transform.name,
            vectors=[(axis.direction / axis.factor).tolist() for axis in chart.axes],
        ),
        bands=bands,
        parts=_slice(request, redraw()) if moving and len(chart.axes) == 3 else None,
    )


def _slice(request: Request, scene: MapScene) -> dict[str, Any]:
    """The map at the place of the slider, sent ahead of the page."""
    if st.session_state.get("map_kind") == "3D":
        return {}
    figure, _ = _plane(scene, request, _look())
    return {"run_map": {"data": figure["data"], "layout": figure["layout"] | {"dragmode": False}}}


def _moved() -> None:
    told = st.session_state[SLIDERS].move
    if told:
        values = [float(value) for value in told.get("values", [])]
        st.session_state["scene_stamp"] = int(told.get("stamp", 0))
        st.session_state["scene_places"] = values
        st.session_state["scene_moves"] = not told.get("final")
        st.session_state["scene_rests"] = bool(told.get("final")) and len(values) == 3


def _places(chart: Chart) -> list[float]:
    places = st.session_state.get("scene_places") or []
    return places if len(places) == len(chart.axes) else [0.0] * len(chart.axes)


def show_map(scene: MapScene, request: Request, view: JobView | None, seen: LandscapeView) -> None:
    """The map, in one, two or three parameters, with what it leaves out in words."""
    if len(scene.chart.axes) == 3:
        _space(scene, request, view)
    else:
        _plot(region_map(scene, theme(), _look()), request, view, "map", _posing(scene, request))
    _legend(scene, seen)


def _look() -> MapLook:
    return "print" if st.session_state.get("map_look") == "print" else "colour"


def _space(scene: MapScene, request: Request, view: JobView | None) -> None:
    """Three parameters: a slice that moves with its slider, or all of them at once."""
    which, across_of = st.columns([1.2, 1], vertical_alignment="center")
    kind = which.segmented_control(
        "Map", ["Slice", "3D"], key="map_kind", required=True, label_visibility="collapsed"
    )
    across_of.selectbox(
        "Slice across",
        [axis.name for axis in scene.chart.axes],
        index=2,
        key=_across_key(request),
        label_visibility="collapsed",
    )
    if kind == "3D":
        across, at = _cut(scene, request)
        figure = space_map(scene, theme(), _look(), across, at)
        _plot(figure, request, view, "volume", _posing(scene, request), zoom=True)
        return
    figure, poses = _plane(scene, request, _look())
    _plot(figure, request, view, "map", poses)


def _across_key(request: Request) -> str:
    return f"slice_across_{request.transform.name}"


def _cut(scene: MapScene, request: Request) -> tuple[int, float]:
    """Across which axis the slice goes, and where (internal units)."""
    names = [axis.name for axis in scene.chart.axes]
    across = names.index(str(st.session_state.get(_across_key(request)) or names[2]))
    axis = scene.chart.axes[across]
    at = _places(scene.chart)[across] / axis.factor
    return across, float(np.clip(at, -scene.half[across], scene.half[across]))


def _plane(scene: MapScene, request: Request, look: MapLook) -> tuple[Figure, MapPosing]:
    across, at = _cut(scene, request)
    first, second = (side for side in range(3) if side != across)
    figure = plane_map(scene, theme(), look, (first, second), at)
    axis = scene.chart.axes[across]
    figure["layout"]["annotations"] = [
        {
            "text": f"slice at {axis.name} {axis.shown(at):.3g}{axis.unit}",
            "xref": "paper",
            "yref": "paper",
            "x": 0.01,
            "y": 0.01,
            "xanchor": "left",
            "yanchor": "bottom",
            "showarrow": False,
            "font": {"size": 12, "color": theme().text},
            "bgcolor": theme().paper,
        }
    ]
    return figure, _posing(scene, request, (first, second), across, at)


def _posing(
    scene: MapScene,
    request: Request,
    sides: tuple[int, ...] | None = None,
    across: int | None = None,
    at: float = 0.0,
) -> MapPosing:
    axes = scene.chart.axes
    shown = tuple(range(len(axes))) if sides is None else sides
    vectors = {
        letter: (axes[side].direction / axes[side].factor).tolist()
        for letter, side in zip("xyz", shown, strict=False)
    }
    origin = None if across is None else (axes[across].direction * at).tolist()
    return MapPosing(STAGE, request.transform.name, vectors, origin)


def _legend(scene: MapScene, seen: LandscapeView) -> None:
    landscape = seen.landscape
    words = []
    if landscape is None:
        words.append("The map is being computed.")
    else:
        words.append(_sampled_words(landscape, seen.live))
    if scene.pieces:
        words.append(
            "Outlines are cells of the proof."
            if scene.drawn
            else "The cells of the proof cannot be drawn here."
        )
    if scene.chart.left_out:
        words.append(scene.chart.left_out)
    explained(" ".join(words))


def _sampled_words(landscape: Landscape, live: bool) -> str:
    asked = int(landscape.asked.sum())
    more = ", more to come" if live else ""
    if not landscape.by_votes:
        return f"Colours: the confidence of the base model at {asked:,} places{more}."
    return f"Colours: p_A as {landscape.votes:,} votes at {asked:,} places show it{more}. They prove nothing."


def _plot(
    figure: Figure,
    request: Request,
    view: JobView | None,
    key: str,
    poses: MapPosing,
    *,
    zoom: bool = False,
) -> None:
    figure["layout"]["dragmode"] = "orbit" if zoom else False
    plot(
        figure,
        key=f"run_{key}",
        height=HEIGHT,
        stamp=0 if view is None else view.revision,
        camera_of=request.title,
        actions=(PNG, SVG),
        filename=f"map-{request.cloud.name}-{request.transform.name}",
        zoom=zoom,
        poses=poses,
    )
