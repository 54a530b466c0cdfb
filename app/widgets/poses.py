"""Choosing a transform and moving its sliders, with presets, reset, undo and redo."""

from __future__ import annotations

import streamlit as st

from app.components.sliders import sliders
from app.state import (
    Pose,
    Poser,
    has_axis,
    kinds,
    kinds_and_axis,
    order_in_words,
    parsed,
    preset_values,
    transform_name,
)
from tpc_core import Transform
from tpc_core.errors import TpcError

KEY = "pose_sliders"


def poser() -> Poser:
    """This visitor's pose."""
    found: Poser = st.session_state.setdefault("poser", Poser())
    return found


def pose_controls() -> Poser:
    """The transform, its sliders, and the buttons below them; returns the pose as it now is."""
    mine = poser()
    _choice(mine)
    transform = mine.transform
    sliders(
        transform.parameters,
        mine.pose.values,
        key=KEY,
        shape=transform.name,
        epoch=mine.epoch,
        stamp=mine.stamp,
        on_move=_moved,
    )
    _buttons(mine, transform)
    return mine


def _choice(mine: Poser) -> None:
    chosen, axis = kinds_and_axis(mine.pose.transform)
    follow = (mine.epoch, mine.pose.transform)
    if st.session_state.get("pose_follows") != follow:
        st.session_state["pose_kinds"], st.session_state["pose_axis"] = chosen, axis
        st.session_state["pose_follows"] = follow
    st.multiselect(
        "Transform",
        kinds(),
        key="pose_kinds",
        on_change=_chosen,
        max_selections=3,
        help="Several make a composition, written as in the paper: the last one acts first.",
    )
    if any(has_axis(kind) for kind in st.session_state["pose_kinds"]):
        st.segmented_control(
            "Axis",
            ["x", "y", "z"],
            key="pose_axis",
            on_change=_chosen,
            required=True,
            label_visibility="collapsed",
        )
    if st.session_state.get("pose_error"):
        st.warning(st.session_state["pose_error"])
    words = order_in_words(mine.transform)
    if words:
        st.caption(words)


def _chosen() -> None:
    """The list or the axis changed; what does not fit together is said, and the pose stays."""
    mine = poser()
    picked = st.session_state["pose_kinds"]
    st.session_state["pose_error"] = ""
    if not picked:
        return
    name = transform_name(picked, st.session_state.get("pose_axis") or "z")
    transform = parsed(name)
    if isinstance(transform, TpcError):
        st.session_state["pose_error"] = str(transform)
        return
    mine.choose(name)
    st.session_state["pose_follows"] = (mine.epoch, mine.pose.transform)


def _moved() -> None:
    """A slider moved in the browser."""
    report = st.session_state[KEY].move
    mine = poser()
    if not report or report.get("shape") != mine.pose.transform:
        return
    values = report.get("values", [])
    mine.stamp = int(report.get("stamp", 0))
    if len(values) == len(mine.pose.values):
        mine.drag([float(value) for value in values], final=bool(report.get("final")))


def _buttons(mine: Poser, transform: Transform) -> None:
    undo, redo, reset = st.columns([1, 1, 2], gap="small")
    undo.button("↶", key="undo", help="Undo", on_click=mine.undo, disabled=not mine.past, width="stretch")
    redo.button("↷", key="redo", help="Redo", on_click=mine.redo, disabled=not mine.future, width="stretch")
    reset.button("Reset", key="reset", on_click=mine.reset, width="stretch")
    presets = {describe_preset(transform, radius): radius for radius in transform.paper_radii}
    if presets:
        st.pills(
            "The paper's radii",
            list(presets),
            key=f"preset_{transform.name}",
            on_change=_preset,
            args=(mine, transform, f"preset_{transform.name}"),
        )


def describe_preset(transform: Transform, radius: tuple[float, ...]) -> str:
    """A paper radius as a label: "20°", "20°, 0.2, 1°"."""
    return ", ".join(p.describe(value) for p, value in zip(transform.radii, radius, strict=True))


def _preset(mine: Poser, transform: Transform, key: str) -> None:
    label = st.session_state.get(key)
    radii = {describe_preset(transform, radius): radius for radius in transform.paper_radii}
    if label in radii:
        mine.set(Pose(transform.name, preset_values(transform, radii[label])))
    st.session_state[key] = None
