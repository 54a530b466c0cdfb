"""An object on a stage, with its surface and the points that a model sees: the one call for any page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from app.components.plot import plot
from app.components.stage import HOME, Action, stage
from app.components.style import theme
from app.figures.arrays import packed
from app.figures.cloud import CloudView, MeshView, cloud_figure
from app.figures.looks import stage_look
from app.figures.point_groups import PointGroups
from app.figures.scene import scene_of
from app.session.pose import identity_values, moved
from tpc_core import Transform
from tpc_core.data import Shape
from tpc_core.transforms import CoordinateNoise, shader

SETTINGS: Mapping[str, Any] = {
    "colouring": "height",
    "surface": True,
    "ghost": True,
    "side_by_side": False,
    "point_size": 2.5,
}


def object_stage(
    shape: Shape,
    points: int,
    transform: Transform,
    values: Sequence[float] | None = None,
    *,
    key: str,
    height: str,
    title: str,
    epoch: int | str = 0,
    settings: Mapping[str, Any] | None = None,
    weights: NDArray[np.floating] | None = None,
    swept: Sequence[Sequence[float]] = (),
    groups: PointGroups | None = None,
    actions: Sequence[Action] = (HOME,),
) -> Any:
    """Show an object under a transform at slider `values` (the identity by default); Plotly where there is no WebGL.

    `points` of it are drawn, those that the model is shown. `weights` colour them, with the colouring "votes" or
    "critical"; `groups` colour them by their group. `swept` are parameters z at which the points are drawn as a haze
    besides. The browser poses it from then on: by a slider panel or a map of the same transform, or by a "tpc-pose"
    event (`app.components.stage`). A new `epoch` sets it to `values` again.
    """
    cloud = shape.cloud(points)
    at = tuple(values) if values is not None else identity_values(transform.parameters)
    mesh = shape.mesh_around(points)
    view = None if mesh is None else MeshView(np.asarray(mesh.vertices), np.asarray(mesh.faces))
    if st.session_state.get(f"{key}_flat"):
        place = moved(transform, at, cloud.points).numpy()
        flat = CloudView(cloud.points.numpy(), place)
        if groups is not None:
            flat = replace(flat, parts=groups.of_point, part_names=dict(enumerate(groups.names)))
        figure = cloud_figure(flat, theme(), colouring="height" if groups is None else "parts")
        return plot(figure, key=f"{key}_plotly", height=height, zoom=True, camera_of=title)
    parts: dict[str, Any] = {"swept": [list(z) for z in swept]}
    if weights is not None:
        parts["weights"] = packed(weights)
    if shader(transform) is None:
        parts["served"] = packed(moved(transform, at, cloud.points).numpy().ravel())
    look, chosen = stage_look(theme()), {**SETTINGS, **(settings or {})}
    if groups is not None:
        look, chosen = {**look, "palette": list(groups.colours)}, {**chosen, "colouring": "parts"}
    surface = None if isinstance(transform, CoordinateNoise) else view
    result = stage(
        scene_of(cloud.points.numpy(), surface, groups=groups),
        transform,
        at,
        key=key,
        height=height,
        look=look,
        settings=chosen,
        epoch=epoch,
        seen=points,
        parts=parts,
        camera_of=f"{shape.name}|{title}",
        title=title,
        actions=actions,
        filename=shape.name,
    )
    if result.flat:
        st.session_state[f"{key}_flat"] = True
        st.rerun()
    return result
