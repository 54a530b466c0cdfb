"""Choosing a transform and moving its sliders, with presets, reset, undo and redo."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.components.sliders import Band, Posing, sliders
from app.session.links import Piece, as_number, written
from app.session.pose import (
    Pose,
    Poser,
    has_axis,
    kinds,
    kinds_and_axis,
    order_in_words,
    parsed,
    preset_values,
    transform_name,
    within,
)
from app.widgets.objects import draw_again
from tpc_core import Transform
from tpc_core.errors import TpcError
from tpc_core.transforms import CoordinateNoise

KEY = "pose_sliders"


def poser() -> Poser:
    """This visitor's pose."""
    found: Poser = st.session_state.setdefault("poser", Poser())
    return found


def _read_transform(name: str) -> None:
    poser().start(Pose.identity(name.replace(" ", "+")))  # a plus that was not escaped arrives as a space


def _write_transform() -> str:
    name = poser().pose.transform
    return "" if name == Pose().transform else name


def _read_values(text: str) -> None:
    mine = poser()
    values = [as_number(value) for value in text.split(",")]
    if len(values) != len(mine.pose.values):
        raise ValueError(f"{mine.pose.transform} has {len(mine.pose.values)} values")
    mine.start(Pose(mine.pose.transform, within(mine.transform.parameters, values)))


def _write_values() -> str:
    values = poser().pose.values
    return ",".join(written(value) for value in values) if any(values) else ""


POSE = (
    Piece(
        "transform",
        lambda: "" if poser().pose.transform == Pose().transform else poser().pose.transform,
        _read_transform,
    ),
    Piece("at", _write_values, _read_values),
)
"""The pose in the address of a page: the transform, and the values of its sliders."""


def pose_controls() -> tuple[Poser, DeltaGenerator]:
    """The transform and the buttons below its sliders; the pose as it now is, and the place of the sliders."""
    mine = poser()
    mine.rest()
    st.session_state["pose_rests"] = False
    _choice(mine)
    place = st.container()
    _buttons(mine, mine.transform)
    return mine, place


Known = Callable[[], tuple[Mapping[str, Sequence[Band]], bool, Callable[[], None]]]
"""What is known along the tracks of the sliders, whether more comes, and what to say of it below them."""
POLL = 0.8


def pose_sliders(
    mine: Poser, changes: Callable[[Poser], Mapping[str, Any]], known: Known | None = None
) -> None:
    """The sliders. While they move, this is all that runs: `changes` says what the page shows of the new pose."""
    live = known is not None and known()[1]
    st.fragment(_sliders, run_every=POLL if live else None)(mine, changes, known, live)


def _sliders(
    mine: Poser, changes: Callable[[Poser], Mapping[str, Any]], known: Known | None, live: bool
) -> None:
    if st.session_state.pop("pose_rests", False):
        st.rerun()  # undo, the address and a closer look at the votes follow
    if not st.session_state["pose_kinds"]:
        st.caption("No transform is chosen: this is the object itself.")
        return
    transform = mine.transform
    bands, more, say = known() if known is not None else ({}, False, lambda: None)
    sliders(
        transform.parameters,
        mine.pose.values,
        key=KEY,
        shape=transform.name,
        epoch=mine.epoch,
        stamp=mine.stamp,
        on_move=_moved,
        parts=changes(mine) if mine.moving else None,
        poses=Posing.all_of(transform),
        bands=bands,
        on_history=_stepped,
    )
    say()
    if live and not more and not mine.moving:
        draw_again()  # nothing more comes: the timer stops


def _choice(mine: Poser) -> None:
    chosen, axis = kinds_and_axis(mine.pose.transform)
    follow = (mine.epoch, mine.pose.transform)
    # Streamlit forgets the lists while another page is shown.
    if st.session_state.get("pose_follows") != follow or "pose_kinds" not in st.session_state:
        st.session_state["pose_kinds"], st.session_state["pose_axis"] = chosen, axis
        st.session_state["pose_follows"] = follow
    st.multiselect(
        "Transform",
        kinds(),
        format_func=kind_in_words,
        key="pose_kinds",
        on_change=_chosen,
        max_selections=3,
        select_all=False,
        help="Choose up to three. They are applied from the last to the first, as in the paper.",
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


def kind_in_words(kind: str) -> str:
    """The name of a kind, as the command line has it; of noise, also that it is noise."""
    return f"noise, {kind}" if isinstance(parsed(kind), CoordinateNoise) else kind


def _chosen() -> None:
    """The list or the axis changed; what does not fit together is said, and the pose stays."""
    mine = poser()
    picked = st.session_state["pose_kinds"]
    st.session_state["pose_error"] = ""
    if not picked:
        mine.reset()  # nothing is chosen, so nothing moves
        st.session_state["pose_follows"] = (mine.epoch, mine.pose.transform)
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
        mine.drag([float(value) for value in values])
        st.session_state["pose_rests"] = bool(report.get("final"))


def _stepped() -> None:
    """Ctrl+Z or Ctrl+Y was pressed."""
    report = st.session_state[KEY].history
    if not report:
        return
    poser().undo() if report.get("step") == "undo" else poser().redo()
    st.session_state["pose_rests"] = True


def _buttons(mine: Poser, transform: Transform) -> None:
    undo, redo, reset = st.columns([1, 1, 2], gap="small")
    undo.button("↶", key="undo", help="Undo", on_click=mine.undo, disabled=not mine.past, width="stretch")
    redo.button("↷", key="redo", help="Redo", on_click=mine.redo, disabled=not mine.future, width="stretch")
    reset.button("Reset", key="reset", on_click=mine.reset, width="stretch")
    presets = {describe_preset(transform, radius): radius for radius in transform.paper_radii}
    if presets:
        st.pills(
            "Radii in the TPC paper",
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
