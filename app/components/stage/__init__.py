"""The stage: one object in 3D, posed in the browser by the transform's own shader.

The numbers of an object go to the browser once, under their digest; a pose, a colour or a switch never sends them
again. Other components of the page talk to a stage by events on `document`, without the server:

    // Pose it, at the next frame: `values` as a person sets them (degrees), or `z` as formulas have it (radians).
    document.dispatchEvent(new CustomEvent("tpc-pose", {detail: {stage: "cloud", transform: "z-twist", values: [20]}}));
    document.dispatchEvent(new CustomEvent("tpc-pose", {detail: {stage: "cloud", transform: "z-twist", z: [0.35]}}));
    // Back to where the sliders are: the pointer left the map.
    document.dispatchEvent(new CustomEvent("tpc-pose", {detail: {stage: "cloud"}}));
    // The stage says where it came to rest: {stage, transform, values}. A map draws its cursor there.
    document.addEventListener("tpc-posed", ({detail}) => ...);

Without `stage` a pose is for every stage on the page; a stage that shows another transform does not listen. A slider
panel sends its poses with `by: "sliders"`, which also makes them the pose to go back to. A "tpc-frame" event brings
what only the server knows of a pose: under the key of the stage, `weights` of the points or `served` positions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from tpc_core import Transform
from tpc_core.transforms import shader

_HERE = Path(__file__).parent
BUNDLE = _HERE / "stage.bundle.js"
"""three.js and source/ in one file, made by scripts/build_stage.py."""
RECORD = _HERE / "stage.bundle.json"
"""What the bundle was made of, and its digest."""

_HTML = """
<div class="tpc-stage"><div class="tpc-stage-canvas"><div class="tpc-stage-wait"></div></div>
<div class="tpc-stage-note" role="status"></div></div>
"""

Action = tuple[str, str, str]
"""id, label and tooltip; "home" and "png" act in the browser, any other is sent to Python with the camera."""

HOME: Action = ("home", "⌂", "Back to the first view (Home)")
PNG: Action = ("png", "PNG", "Save this picture as PNG")

_mount = st.components.v2.component(
    "tpc_stage",
    html=_HTML,
    css=(_HERE / "stage.css").read_text(),
    js=(_HERE / "stage.js").read_text(),
    isolate_styles=False,
)
_hold = st.components.v2.component(
    "tpc_scene", html="<i hidden></i>", js=(_HERE / "scene.js").read_text(), isolate_styles=False
)


@cache
def bundle_name() -> str:
    """The bundle's name for the browser: another bundle has another name, so that no old one is kept."""
    return f"stage-{json.loads(RECORD.read_text())['sha256'][:12]}.js"


def transform_data(transform: Transform) -> dict[str, Any]:
    """What a stage needs to know of a transform: its shader, and how the values of its sliders become a pose."""
    parameters = transform.parameters
    return {
        "name": transform.name,
        "shader": shader(transform),
        "units": [parameter.to_internal(1.0) for parameter in parameters],
        "labels": [parameter.name for parameter in parameters],
        "marks": ["°" if parameter.unit == "deg" else "" for parameter in parameters],
    }


def hold_scene(scene: Mapping[str, Any], *, key: str) -> None:
    """Send the numbers of an object (`app.figures.scene`); sending the same ones again costs next to nothing."""
    _hold(key=key, data=dict(scene))


def stage(
    scene: Mapping[str, Any],
    transform: Transform,
    values: Sequence[float],
    *,
    key: str,
    height: str,
    look: Mapping[str, Any],
    settings: Mapping[str, Any],
    epoch: int | str = 0,
    stamp: int = 0,
    seen: int = 0,
    parts: Mapping[str, Any] | None = None,
    farthest: float = 0.0,
    camera_of: str = "",
    title: str = "An object",
    colourings: Sequence[tuple[str, str, str]] = (),
    switches: Sequence[Mapping[str, Any]] = (),
    actions: Sequence[Action] = (HOME,),
    filename: str = "tpc-explorer",
    poster: str = "",
    on_set: Callable[[], None] = lambda: None,
    on_action: Callable[[], None] = lambda: None,
) -> Any:
    """Show an object; the result has `.set`, `.action` (each for one rerun) and `.flat` where there is no WebGL.

    `settings` are colouring, surface, ghost, side_by_side and point_size: a visitor changes them in the browser at
    once, and `.set` tells. `epoch` changes whenever Python sets the pose; until then the page's sliders have the last
    word. `parts` is what the server knows of the pose: `weights` of the points, or `served` positions, which then take
    the place of the shader's. `seen` points of the cloud, the first ones, are those that the model is shown.
    `farthest` is the displacement at the end of the colours, where it is known. `camera_of` names what is looked at:
    the visitor's camera is kept until it changes. `poster` is a picture in static/ that is shown until the first one
    is drawn.
    """
    hold_scene(scene, key=f"{key}_scene")
    data = {
        "key": key,
        "bundle": bundle_name(),
        "scene": scene["digest"],
        "transform": transform_data(transform) | ({"shader": None} if parts and "served" in parts else {}),
        "pose": {"values": list(values), "epoch": epoch},
        "height": height,
        "look": dict(look),
        "settings": dict(settings),
        "stamp": stamp,
        "seen": seen,
        "farthest": farthest,
        "camera_of": camera_of,
        "title": title,
        "colourings": [{"id": name, "label": label, "title": tip} for name, label, tip in colourings],
        "switches": [dict(switch) for switch in switches],
        "actions": [{"id": name, "label": label, "title": tip} for name, label, tip in actions],
        "filename": filename,
        "poster": poster,
        **(parts or {}),
    }
    return _mount(
        key=key,
        data=data,
        default={"flat": ""},
        on_set_change=on_set,
        on_action_change=on_action,
        on_flat_change=lambda: None,
    )
