"""Explore: load an object, move it, look at it, and watch what the model says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from app import cache, links
from app.components.draws import draws
from app.components.plot import HOME, PNG, plot
from app.components.votes import votes
from app.figures.cloud import Colouring, MeshView
from app.frames import Frame, Setting, frame
from app.look import theme
from app.state import Poser
from app.uploads import is_upload
from app.widgets.objects import (
    NOT_SHARED,
    OBJECT,
    current_shape,
    current_spec,
    object_button,
    part_names,
)
from app.widgets.poses import POSE, pose_controls, pose_sliders
from app.widgets.stills import show_still
from tpc_core import Model
from tpc_core.data import Shape
from tpc_core.transforms import CoordinateNoise

SIZES = [16, 32, 64, 128, 256, 512, 1024, 2048]
COLOURINGS: dict[Colouring, str] = {
    "displacement": "Displacement",
    "height": "Height",
    "parts": "Parts",
    "critical": "Critical points",
}
FIRST_MODEL = "pointnet64-noise"


def _model_names() -> list[str]:
    return [card.name for card in cache.model_cards() if card.task == "classification"]


LINKED = (
    OBJECT,
    *POSE,
    links.choice("points", "points", {str(size): size for size in SIZES}, "1024"),
    links.choice("model", "model", _model_names, FIRST_MODEL),
    links.switch("all-points", "all_points", False),
    links.choice("colour", "colouring", list(COLOURINGS), "height"),
    links.switch("mesh", "as_mesh", False),
    links.switch("side-by-side", "side_by_side", False),
    links.switch("ghost", "ghost", True),
    links.number("size", "point_size", 1.0, 8.0, 2.5),
)


def page() -> None:
    """Controls on the left, the object in the middle, the answers on the right; sliders redraw without the page."""
    links.restore(LINKED)
    shape = current_shape()
    left, middle, right = st.columns([3.1, 6, 3.4], gap="medium")
    with left:
        object_button(shape)
        count = _point_count(shape)
        poser, place = pose_controls()
    with right:
        model, seen = _model_choice(shape, count)
    with middle:
        setting = _setting(shape, count, seen, model, poser)
    now = frame(setting, poser.transform, poser.pose.values, moving=False)

    def changes(moving: Poser) -> Mapping[str, Any]:
        return frame(setting, moving.transform, moving.pose.values, moving=True).changes(setting)

    with place:
        pose_sliders(poser, changes)
    with middle:
        camera = _picture(now, setting, poser)
        _draws(now, poser)
    with right:
        _prediction(now, setting, poser)
    links.share(LINKED, note=NOT_SHARED if is_upload(current_spec()) else "")
    if camera is not None:
        show_still(now.view, camera, setting.colouring, shape.name)


def _point_count(shape: Shape) -> int:
    sizes = [size for size in SIZES if size <= shape.max_points]
    if st.session_state["points"] not in sizes:
        st.session_state["points"] = sizes[-1]
    return int(st.select_slider("Points, by farthest-point sampling", sizes, key="points"))


def _model_choice(shape: Shape, count: int) -> tuple[Model | None, int]:
    """The model and the number of points that it is shown."""
    names = _model_names()
    if not names:
        st.info("No checkpoint is in checkpoints/ yet; train one with `tpc train`.")
        return None, count
    if st.session_state.get("model") not in names:
        st.session_state["model"] = FIRST_MODEL if FIRST_MODEL in names else names[0]
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


def _setting(shape: Shape, count: int, seen: int, model: Model | None, poser: Poser) -> Setting:
    """How the object is looked at."""
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
    drawn = seen if colouring == "critical" else count
    mesh = shape.mesh_around(drawn) if as_mesh else None
    return Setting(
        shape=shape,
        count=count,
        seen=seen,
        model=model,
        classifier=None if model is None else cache.classifier(model.name),
        part_names=part_names(current_spec()),
        colouring=colouring,
        surface=None if mesh is None else MeshView(np.asarray(mesh.vertices), np.asarray(mesh.faces)),
        ghost=ghost,
        side_by_side=side_by_side,
        size=size,
        theme=theme(),
    )


def _picture(now: Frame, setting: Setting, poser: Poser) -> dict[str, Any] | None:
    """The 3D view; the camera, where a still of it was asked for."""
    if setting.colouring == "critical" and now.view.critical is None:
        st.caption("This network has no max pool over points, so no point is critical in this sense.")
    result = plot(
        now.picture,
        key="cloud",
        height="clamp(400px, calc(100vh - 292px), 900px)",
        stamp=poser.stamp,
        camera_of=f"{current_spec()}|{setting.side_by_side}",
        zoom=True,
        filename=setting.shape.name,
        actions=(HOME, PNG, ("still", "Shaded still", "A shaded picture of this view, by Open3D")),
    )
    asked = result.action if result.action and result.action.get("id") == "still" else None
    return None if asked is None else asked.get("camera") or {}


def _draws(now: Frame, poser: Poser) -> None:
    if now.draws is not None:
        st.caption("Random draws that the smoothed model votes on; blue ones vote for the winner.")
        draws(now.draws, key="draws", height=112, stamp=poser.stamp)


def _prediction(now: Frame, setting: Setting, poser: Poser) -> None:
    if now.votes is None or now.ballot is None or setting.model is None:
        return
    votes(now.votes, key="votes", stamp=poser.stamp)
    st.caption(
        f"★ the true class. Smoothing: {setting.model.smoothing.describe()}; {int(now.ballot.votes.sum())} votes on "
        f"{setting.seen} points: a look, not a certificate."
    )
    if st.button(
        "Certify this object", width="stretch", type="primary", icon=":material/verified:", key="to_certify"
    ):
        st.session_state["certify_transform"] = poser.pose.transform
        st.switch_page(st.session_state["pages"]["certify"])
