"""Explore: load an object, move it, look at it, and watch what the model says."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import streamlit as st
import torch

from app import cache
from app.ballot import Look, look, votes_that_fit
from app.components.plot import HOME, PNG, plot
from app.figures.cloud import CloudView, Colouring, MeshView, cloud_figure
from app.figures.votes import BASE_COLOUR, SMOOTHED_COLOUR, draw_strip, vote_bars
from app.look import theme
from app.state import Poser, moved
from app.widgets.objects import current_shape, current_spec, object_button, part_names
from app.widgets.poses import pose_controls
from app.widgets.stills import show_still
from tpc_core import Model
from tpc_core.data import Shape
from tpc_core.models.critical import critical_counts
from tpc_core.transforms import CoordinateNoise

SIZES = [16, 32, 64, 128, 256, 512, 1024, 2048]
COLOURINGS: dict[Colouring, str] = {
    "displacement": "Displacement",
    "height": "Height",
    "parts": "Parts",
    "critical": "Critical points",
}


def page() -> None:
    """The whole page is one fragment: a slider redraws it without touching the rest of the app."""
    _workbench()


@st.fragment
def _workbench() -> None:
    shape = current_shape()
    left, middle, right = st.columns([3.1, 6, 3.4], gap="medium")
    with left:
        object_button(shape)
        count = _point_count(shape)
        poser = pose_controls()
    with right:
        model, seen = _model_choice(shape, count)
    ballot = _ask(model, shape, seen, poser)
    with middle:
        view, still = _picture(shape, count, poser, model, seen)
    with right:
        _prediction(ballot, model, shape, poser, seen)
    with middle:
        _draws(ballot, model, poser)
    if still is not None:
        show_still(view, still.get("camera"), shape.name)


def _point_count(shape: Shape) -> int:
    sizes = [size for size in SIZES if size <= shape.max_points]
    if st.session_state["points"] not in sizes:
        st.session_state["points"] = sizes[-1]
    return int(st.select_slider("Points, by farthest-point sampling", sizes, key="points"))


def _model_choice(shape: Shape, count: int) -> tuple[Model | None, int]:
    """The model and the number of points that it is shown."""
    cards = [card for card in cache.model_cards() if card.task == "classification"]
    if not cards:
        st.info("No checkpoint is in checkpoints/ yet; train one with `tpc train`.")
        return None, count
    names = [card.name for card in cards]
    if st.session_state.get("model") not in names:
        st.session_state["model"] = names[0] if "pointnet64-noise" not in names else "pointnet64-noise"
    model = cache.model(str(st.selectbox("Model", names, key="model")))
    trained = model.num_points
    if trained is None or trained > shape.max_points:
        return model, count
    if count == trained or not st.toggle(
        f"Show it all {count:,} points",
        key="all_points",
        help=f"It was trained on {trained} points, and is shown the first {trained} of the farthest-point order "
        "unless you ask for more.",
    ):
        return model, trained
    return model, count


def _ask(model: Model | None, shape: Shape, seen: int, poser: Poser) -> Look | None:
    if model is None:
        return None
    points = moved(poser.transform, poser.pose.values, shape.cloud(seen).points)
    return look(
        cache.classifier(model.name), model.smoothing, points, votes=votes_that_fit(seen, moving=poser.moving)
    )


def _picture(
    shape: Shape, count: int, poser: Poser, model: Model | None, seen: int
) -> tuple[CloudView, dict[str, Any] | None]:
    """The 3D view; what it shows, and the camera where a still of it was asked for."""
    choices = [c for c in COLOURINGS if c != "parts" or shape.has_parts]
    colour, options = st.columns([4, 1], vertical_alignment="bottom")
    if st.session_state.get("colouring") not in choices:
        st.session_state["colouring"] = "height"
    colouring: Colouring = (
        colour.segmented_control(
            "Colour by",
            choices,
            format_func=COLOURINGS.__getitem__,
            key="colouring",
            required=True,
            label_visibility="collapsed",
        )
        or "height"
    )
    with options.popover("View", width="stretch", icon=":material/visibility:"):
        as_mesh = shape.mesh is not None and st.toggle("Mesh", key="as_mesh")
        side_by_side = st.toggle("Side by side", key="side_by_side")
        ghost = st.toggle("Original as a ghost", key="ghost", disabled=side_by_side)
        size = st.slider("Point size", 1.0, 8.0, step=0.5, key="point_size")
    if as_mesh and isinstance(poser.transform, CoordinateNoise):
        st.caption("Coordinate noise moves points, not a surface: the points are shown.")
        as_mesh = False
    drawn = seen if colouring == "critical" else count
    view = _view(shape, drawn, poser, model, colouring, mesh=as_mesh)
    figure = cloud_figure(
        view,
        theme(),
        colouring=colouring,
        ghost=ghost,
        side_by_side=side_by_side,
        size=size * (1.8 if drawn <= 128 else 1.0),
    )
    result = plot(
        figure,
        key="cloud",
        height="clamp(400px, calc(100vh - 292px), 900px)",
        stamp=poser.stamp,
        camera_of=f"{current_spec()}|{side_by_side}",
        zoom=True,
        filename=shape.name,
        actions=(HOME, PNG, ("still", "Shaded still", "A shaded picture of this view, by Open3D")),
    )
    return view, result.action if result.action and result.action.get("id") == "still" else None


def _view(
    shape: Shape, count: int, poser: Poser, model: Model | None, colouring: Colouring, *, mesh: bool
) -> CloudView:
    cloud = shape.cloud(count)
    after = moved(poser.transform, poser.pose.values, cloud.points)
    critical = None
    if colouring == "critical" and model is not None:
        critical = critical_counts(model.module, after)
        if critical is None:
            st.caption("This network has no max pool over points, so no point is critical in this sense.")
    surface = shape.mesh_around(count) if mesh else None
    original_mesh = moved_mesh = None
    if surface is not None:
        vertices = torch.from_numpy(np.asarray(surface.vertices))
        faces = np.asarray(surface.faces)
        original_mesh = MeshView(np.asarray(surface.vertices), faces)
        moved_mesh = MeshView(moved(poser.transform, poser.pose.values, vertices).numpy(), faces)
    return CloudView(
        original=cloud.points.numpy(),
        moved=after.numpy(),
        parts=None if cloud.part_labels is None else cloud.part_labels.numpy(),
        part_names=part_names(current_spec()),
        critical=critical,
        mesh=moved_mesh,
        original_mesh=original_mesh,
    )


def _prediction(ballot: Look | None, model: Model | None, shape: Shape, poser: Poser, seen: int) -> None:
    if ballot is None or model is None:
        return
    base, smoothed = model.classes[int(np.argmax(ballot.base))], model.classes[ballot.winner]
    won, cast = int(ballot.votes.max()), int(ballot.votes.sum())
    st.html(
        f'<div class="tpc-answers"><i style="background:{BASE_COLOUR}"></i>Base says '
        f"<b>{_words(base)}</b>{_mark(base, shape.label)}<br>"
        f'<i style="background:{SMOOTHED_COLOUR}"></i>Smoothed says <b>{_words(smoothed)}</b>'
        f"{_mark(smoothed, shape.label)}, {won} of {cast} votes</div>"
    )
    bars = vote_bars(ballot.base, ballot.votes, model.classes, shape.label, theme())
    plot(bars, key="bars", height=230, stamp=poser.stamp)
    st.caption(
        f"★ the true class. Smoothing: {model.smoothing.describe()}; {cast} votes on {seen} points: "
        "a look, not a certificate."
    )
    if st.button(
        "Certify this object", width="stretch", type="primary", icon=":material/verified:", key="to_certify"
    ):
        st.session_state["certify_transform"] = poser.pose.transform
        st.switch_page(st.session_state["pages"]["certify"])


def _words(name: str) -> str:
    return html.escape(name.replace("_", " "))


def _mark(name: str, truth: str | None) -> str:
    if truth is None:
        return ""
    return " ✓" if name == truth else " ✗"


def _draws(ballot: Look | None, model: Model | None, poser: Poser) -> None:
    if ballot is None or model is None:
        return
    st.caption("Random draws that the smoothed model votes on; blue ones vote for the winner.")
    strip = draw_strip(ballot.draws, ballot.answers, model.classes, ballot.winner, theme())
    plot(strip, key="strip", height=112, stamp=poser.stamp)
