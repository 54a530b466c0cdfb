"""What the Explore page shows of a pose: the picture, the votes and the draws. A slider movement is one frame.

The stage poses the object by itself, in the browser; a frame brings it what only the server knows of the new pose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from app.figures.arrays import packed
from app.figures.cloud import CloudView, Colouring, MeshView, cloud_figure
from app.figures.scene import Scene, scene_of
from app.figures.surface import surface_of
from app.figures.theme import LIGHT, Figure, Theme
from app.figures.votes import Strip, Tally, strip, tally
from app.pages.explore.ballot import Look, look, votes_that_fit
from app.session.pose import moved
from tpc_core import Model, Transform
from tpc_core.data import Shape
from tpc_core.models import critical_counts
from tpc_core.transforms import CoordinateNoise, shader

Part = dict[str, Any]
"""What one component shows, apart from its place on the page."""

STAGE, PLOTLY = "cloud", "cloud_plotly"
"""The keys of the two views of the object."""


@dataclass(frozen=True)
class Setting:
    """All that a visitor has set on the page, but for the pose."""

    shape: Shape
    count: int
    """Points that the visitor asked for."""
    seen: int
    """Points that the model is shown."""
    model: Model | None = None
    classifier: Callable[[Tensor], Tensor] | None = None
    part_names: Mapping[int, str] | None = None
    colouring: Colouring = "height"
    surface: bool = True
    ghost: bool = True
    side_by_side: bool = False
    size: float = 2.5
    theme: Theme = LIGHT
    plotly: bool = False
    """Whether Plotly draws the scene, in place of the stage."""

    @property
    def drawn(self) -> int:
        """Points in the picture: all that the model sees are among them."""
        return max(self.count, self.seen)

    @property
    def mesh(self) -> MeshView | None:
        """The mesh in the frame of the drawn points."""
        mesh = self.shape.mesh_around(self.drawn)
        return None if mesh is None else MeshView(np.asarray(mesh.vertices), np.asarray(mesh.faces))


@dataclass(frozen=True)
class Frame:
    """One pose, looked at and voted on."""

    ballot: Look | None
    votes: Tally | None
    draws: Strip | None


def scene(setting: Setting) -> Scene:
    """The numbers of the object for the stage."""
    cloud = setting.shape.cloud(setting.drawn)
    parts = None if cloud.part_labels is None else cloud.part_labels.numpy()
    return scene_of(cloud.points.numpy(), setting.mesh, parts, setting.part_names)


def stage_parts(setting: Setting, transform: Transform, values: Sequence[float]) -> Part:
    """What the stage cannot know of a pose: which points decide, and where noise takes them."""
    parts: Part = {}
    if setting.colouring == "critical" and (weights := _critical(setting, transform, values)) is not None:
        parts["weights"] = packed(weights)
    if shader(transform) is None:
        parts["served"] = packed(
            moved(transform, values, setting.shape.cloud(setting.drawn).points).numpy().ravel()
        )
    return parts


def changes(setting: Setting, transform: Transform, values: Sequence[float]) -> dict[str, Part]:
    """By the key of its component, what a moving slider changes; the original stays as it was drawn."""
    if setting.plotly:
        drawn = picture(setting, transform, values)
        still = int(setting.ghost or setting.side_by_side)
        parts: dict[str, Part] = {
            PLOTLY: {"data": [None] * still + drawn["data"][still:], "layout": drawn["layout"]}
        }
    else:
        parts = {STAGE: stage_parts(setting, transform, values)}
    now = frame(setting, transform, values, moving=True)
    if now.votes is not None and now.draws is not None:
        parts |= {"votes": now.votes, "draws": now.draws}
    return parts


def frame(setting: Setting, transform: Transform, values: Sequence[float], *, moving: bool) -> Frame:
    """What the model says at one pose; fewer votes are cast while a slider moves."""
    model = setting.model
    if model is None or setting.classifier is None:
        return Frame(None, None, None)
    points = moved(transform, values, setting.shape.cloud(setting.seen).points)
    ballot = look(
        setting.classifier,
        model.smoothing,
        points,
        votes=votes_that_fit(setting.seen, moving=moving),
    )
    truth = setting.shape.label
    shown = strip(
        ballot.draws,
        ballot.answers,
        model.classes,
        truth,
        _surface(setting, transform, values),
        with_faces=not moving,
    )
    return Frame(ballot, tally(ballot.base, ballot.votes, model.classes, truth), shown)


def _surface(setting: Setting, transform: Transform, values: Sequence[float]) -> MeshView | None:
    """The object's surface in the pose and frame of the points that the model is shown."""
    mesh = setting.shape.mesh_around(setting.seen)
    if mesh is None or isinstance(transform, CoordinateNoise):
        return None
    vertices = torch.from_numpy(np.asarray(mesh.vertices, dtype=np.float32))
    return MeshView(moved(transform, values, vertices).numpy(), np.asarray(mesh.faces))


def picture(setting: Setting, transform: Transform, values: Sequence[float]) -> Figure:
    """The same scene as a Plotly figure."""
    return cloud_figure(
        view_of(setting, transform, values),
        setting.theme,
        colouring=setting.colouring,
        ghost=setting.ghost,
        side_by_side=setting.side_by_side,
        size=setting.size * (1.8 if setting.drawn <= 128 else 1.0),
    )


def view_of(setting: Setting, transform: Transform, values: Sequence[float]) -> CloudView:
    """The object before and after, with all that colours it."""
    cloud = setting.shape.cloud(setting.drawn)
    mesh = setting.mesh if setting.surface and not isinstance(transform, CoordinateNoise) else None
    fine = None if mesh is None else surface_of(mesh)  # with faces small enough to bend
    before = after = None
    if fine is not None:
        before = MeshView(fine.vertices, fine.faces)
        after = MeshView(moved(transform, values, torch.from_numpy(before.vertices)).numpy(), before.faces)
    return CloudView(
        original=cloud.points.numpy(),
        moved=moved(transform, values, cloud.points).numpy(),
        parts=None if cloud.part_labels is None else cloud.part_labels.numpy(),
        part_names=setting.part_names,
        critical=_critical(setting, transform, values) if setting.colouring == "critical" else None,
        mesh=after,
        original_mesh=before,
    )


def _critical(setting: Setting, transform: Transform, values: Sequence[float]) -> np.ndarray | None:
    """How many features of the max pool each drawn point decides: those that the model is not shown decide none."""
    if setting.model is None:
        return None
    points = moved(transform, values, setting.shape.cloud(setting.seen).points)
    counts = critical_counts(setting.model.module, points)
    if counts is None:
        return None
    return np.concatenate(
        [np.asarray(counts, dtype=np.float32), np.zeros(setting.drawn - setting.seen, np.float32)]
    )
