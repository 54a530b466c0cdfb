"""Explore: load an object, move it, look at it, and watch what the model says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from app.components.draws import draws
from app.components.plot import HOME as PLOT_HOME
from app.components.plot import PNG as PLOT_PNG
from app.components.plot import plot
from app.components.stage import HOME, PNG, stage
from app.components.style import theme
from app.components.terms import explained
from app.components.votes import votes
from app.figures.cameras import plotly_camera
from app.figures.cloud import Colouring
from app.figures.looks import stage_look
from app.pages.explore.frames import (
    PLOTLY,
    STAGE,
    Frame,
    Setting,
    changes,
    frame,
    picture,
    scene,
    stage_parts,
    view_of,
)
from app.pages.explore.safe_band import bands_of, say_bands, slider_bands
from app.server import cache
from app.server.stills import prewarm
from app.session import links
from app.session.pose import Poser
from app.session.uploads import is_upload
from app.widgets.objects import (
    NOT_SHARED,
    OBJECT,
    current_shape,
    current_spec,
    object_button,
    part_names,
    poster_of,
    title_of,
)
from app.widgets.poses import POSE, pose_controls, pose_sliders
from app.widgets.stills import renderer, show_still
from app.widgets.untrained import untrained_note
from tpc_core import Model
from tpc_core.data import Shape
from tpc_core.transforms import CoordinateNoise, Transform

SIZES = [16, 32, 64, 128, 256, 512, 1024, 2048]
COLOURINGS: dict[Colouring, tuple[str, str]] = {
    "height": ("Height", "How high each point lies"),
    "displacement": ("Displacement", "How far each point has moved"),
    "parts": ("Parts", "Which part each point belongs to"),
    "critical": (
        "Critical points",
        "The points that the model uses most",
    ),
}
FIRST_MODEL = "pointnet64-noise"
HEIGHT = "clamp(400px, calc(100vh - 262px), 980px)"
STILL = ("still", "Still", "A shaded picture of this view, by Open3D")


def _model_names() -> list[str]:
    return [card.name for card in cache.model_cards() if card.task == "classification"]


LINKED = (
    OBJECT,
    *POSE,
    links.choice("points", "points", {str(size): size for size in SIZES}, "1024"),
    links.choice("model", "model", _model_names, FIRST_MODEL),
    links.switch("all-points", "all_points", False),
    links.choice("colour", "colouring", list(COLOURINGS), "height"),
    links.switch("surface", "surface", True),
    links.switch("side-by-side", "side_by_side", False),
    links.switch("ghost", "ghost", True),
    links.number("size", "point_size", 1.0, 8.0, 2.5),
    links.choice("view", "view", ["stage", "plotly"], "stage"),
    links.choice("look", "look", ["page", "projector"], "page"),
)


def page() -> None:
    """Controls on the left, the object in the middle, the answers on the right; the object moves in the browser."""
    links.restore(LINKED)
    shape = current_shape()
    left, middle, right = st.columns([3.1, 6.4, 3.3], gap="medium")
    with left:
        object_button(shape)
        count = _point_count(shape)
        poser, place = pose_controls()
    with right:
        model, seen = _model_choice(shape, count, poser.transform)
    setting = _setting(shape, count, seen, model)
    with middle:  # at once: the votes take longer, and come after it
        asked = _plotly(setting, poser) if setting.plotly else _stage(setting, poser)
        under = st.container()
    if model is not None:
        setting = replace(setting, classifier=cache.classifier(model.name))

    def moving(now: Poser) -> Mapping[str, Any]:
        return changes(setting, now.transform, now.pose.values)

    def known() -> tuple[Mapping[str, Any], bool, Callable[[], None]]:
        bands = bands_of(setting, poser.transform)
        transform = poser.transform
        return slider_bands(bands, transform), bands.live, lambda: say_bands(bands, transform)

    with place:
        pose_sliders(poser, moving, known if st.session_state["pose_kinds"] else None)
    now = frame(setting, poser.transform, poser.pose.values, moving=False)
    with under:
        _draws(now, poser)
    with right:
        _prediction(now, setting, poser)
    links.share(LINKED, note=NOT_SHARED if is_upload(current_spec()) else "")
    if asked is not None:
        view = view_of(setting, poser.transform, poser.pose.values)
        show_still(view, asked, setting.colouring, shape.name)
    prewarm(renderer())


def _point_count(shape: Shape) -> int:
    """As many points as the visitor wants; as many as the object has, where that is less, which is then said."""
    state = st.session_state
    sizes = [size for size in SIZES if size <= shape.max_points]
    wished = int(state.setdefault("points_wished", state["points"]))
    state["points"] = max((size for size in sizes if size <= wished), default=sizes[0])

    def wish() -> None:
        state["points_wished"] = state["points"]

    count = int(st.select_slider("Number of points", sizes, key="points", on_change=wish))
    if count < wished:
        st.caption(
            f"This object has {shape.max_points:,} points, so {count:,} are shown in place of {wished:,}."
        )
    return count


def _model_choice(shape: Shape, count: int, transform: Transform) -> tuple[Model | None, int]:
    """The model and the number of points that it is shown."""
    names = _model_names()
    if not names:
        st.info("No checkpoint is in checkpoints/ yet; train one with `tpc train`.")
        return None, count
    if st.session_state.get("model") not in names:
        st.session_state["model"] = FIRST_MODEL if FIRST_MODEL in names else names[0]
    model = cache.model(str(st.selectbox("Model", names, key="model")))
    untrained_note(model.name, transform)
    trained = model.num_points
    if trained is None or trained > shape.max_points:
        return model, count
    if model.card.brought is not None and model.card.brought.frame.points is not None:
        return model, trained  # a program of one size
    if count == trained or not st.toggle(
        f"Let the model see all {count:,} points",
        key="all_points",
        help=f"The model was trained on {trained} points. It sees {trained} points that are spread evenly over the "
        "object, unless you switch this on.",
    ):
        return model, trained
    return model, count


def _setting(shape: Shape, count: int, seen: int, model: Model | None) -> Setting:
    """How the object is looked at."""
    state = st.session_state
    if state["colouring"] not in COLOURINGS or (state["colouring"] == "parts" and not shape.has_parts):
        state["colouring"] = "height"
    return Setting(
        shape=shape,
        count=count,
        seen=seen,
        model=model,
        part_names=part_names(current_spec()),
        colouring=state["colouring"],
        surface=bool(state["surface"]),
        ghost=bool(state["ghost"]),
        side_by_side=bool(state["side_by_side"]),
        size=float(state["point_size"]),
        theme=theme(),
        plotly=state["view"] == "plotly",
    )


def _stage(setting: Setting, poser: Poser) -> dict[str, Any] | None:
    """The stage; the camera, where a still of it was asked for."""
    shape, values = setting.shape, poser.pose.values
    parts = stage_parts(setting, poser.transform, values)
    colourings = [(name, *words) for name, words in COLOURINGS.items() if name != "parts" or shape.has_parts]
    switches: list[dict[str, Any]] = [
        {"id": "ghost", "label": "Original as a ghost", "kind": "checkbox"},
        {"id": "side_by_side", "label": "Side by side", "kind": "checkbox"},
        {"id": "point_size", "label": "Point size", "kind": "range", "low": 1, "high": 8, "step": 0.5},
        {"id": "projector", "label": "For a projector", "kind": "checkbox"},
    ]
    if shape.mesh is not None:
        switches.insert(0, {"id": "surface", "label": "Surface", "kind": "checkbox"})
    result = stage(
        scene(setting),
        poser.transform,
        values,
        key=STAGE,
        height=HEIGHT,
        look=stage_look(setting.theme, st.session_state["look"]),
        settings={
            "colouring": setting.colouring,
            "surface": setting.surface,
            "ghost": setting.ghost,
            "side_by_side": setting.side_by_side,
            "point_size": setting.size,
            "projector": st.session_state["look"] == "projector",
        },
        epoch=poser.epoch,
        stamp=poser.stamp,
        seen=setting.seen,
        parts=parts,
        camera_of=current_spec(),
        title=title_of(current_spec(), shape),
        colourings=colourings,
        switches=switches,
        actions=(HOME, PNG, STILL, ("plotly", "Plotly", "The same scene by Plotly, with its own tools")),
        filename=shape.name,
        poster=poster_of(current_spec()),
        on_set=_set,
        on_action=_acted,
    )
    if result.flat:  # no WebGL in this browser
        st.session_state["view"] = "plotly"
        st.rerun()
    _remark(setting, poser, parts)
    return _still_camera(result)


def _plotly(setting: Setting, poser: Poser) -> dict[str, Any] | None:
    """The same scene by Plotly; the camera, where a still of it was asked for."""
    drawn = picture(setting, poser.transform, poser.pose.values)
    if camera := st.session_state.get("stage_camera"):
        for name in ("scene", "scene2"):
            if name in drawn["layout"]:
                drawn["layout"][name]["camera"] = camera
    result = plot(
        drawn,
        key=PLOTLY,
        height=HEIGHT,
        stamp=poser.stamp,
        camera_of=f"{current_spec()}|{setting.side_by_side}",
        zoom=True,
        filename=setting.shape.name,
        actions=(PLOT_HOME, PLOT_PNG, STILL, ("stage", "Stage", "Back to the stage")),
        on_action=_acted,
    )
    return _still_camera(result)


def _still_camera(result: Any) -> dict[str, Any] | None:
    asked = result.action if result.action and result.action.get("id") == "still" else None
    return None if asked is None else asked.get("camera") or {}


def _remark(setting: Setting, poser: Poser, parts: Mapping[str, Any]) -> None:
    if setting.colouring == "critical" and "weights" not in parts:
        st.caption("This model has no max pool over points, so no point is critical.")
    if setting.surface and setting.shape.mesh is not None and isinstance(poser.transform, CoordinateNoise):
        st.caption("Noise moves single points. The surface stays where it was.")


def _set() -> None:
    """The visitor changed something on the stage, which shows it already."""
    told = st.session_state[STAGE].set or {}
    kinds: dict[str, type] = {"surface": bool, "ghost": bool, "side_by_side": bool}
    for name, kind in kinds.items():
        if isinstance(told.get(name), kind):
            st.session_state[name] = told[name]
    if told.get("colouring") in COLOURINGS:
        st.session_state["colouring"] = told["colouring"]
    if isinstance(told.get("point_size"), int | float) and 1 <= told["point_size"] <= 8:
        st.session_state["point_size"] = float(told["point_size"])
    if isinstance(told.get("projector"), bool):
        st.session_state["look"] = "projector" if told["projector"] else "page"


def _acted() -> None:
    """One view or the other, seen from the same place."""
    for key in (STAGE, PLOTLY):
        told = st.session_state.get(key)
        action = told.action if told is not None and "action" in told else None
        if action and action.get("id") == "plotly":
            st.session_state["view"] = "plotly"
            st.session_state["stage_camera"] = plotly_camera(action.get("camera"))
        elif action and action.get("id") == "stage":
            st.session_state["view"] = "stage"


def _draws(now: Frame, poser: Poser) -> None:
    if now.draws is not None:
        explained("Random draws of the smoothing. The model votes on each of them.")
        draws(now.draws, key="draws", height=104, stamp=poser.stamp)


def _prediction(now: Frame, setting: Setting, poser: Poser) -> None:
    if now.votes is None or now.ballot is None or setting.model is None:
        return
    votes(now.votes, key="votes", stamp=poser.stamp)
    explained(
        f"★ the true class. Smoothing: {setting.model.smoothing.describe()}. {int(now.ballot.votes.sum())} votes on "
        f"{setting.seen} points. These votes are a quick check and prove nothing."
    )
    if st.button(
        "Certify this object", width="stretch", type="primary", icon=":material/verified:", key="to_certify"
    ):
        st.session_state["certify_transform"] = poser.pose.transform
        st.switch_page(st.session_state["pages"]["certify"])
